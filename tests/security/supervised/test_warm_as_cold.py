"""A warm run is a fork of a supervisor; its script must find and do what `python3 script` would."""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from sandbox_harness import SLOT, TIGHT, open_folder
from warm_scripts import LIBRARY, PACKAGE, SCRIPTS

from worker.sandbox.protocol import RunResult
from worker.sandbox.supervised import SupervisedSandbox, SupervisedSlot

# what no two interpreters agree on; and a warm script starts a few calls deeper
CHANCE = r"0x[0-9a-f]+|(?<=refcount : )\d+|(?<=repeated )\d+(?= more times)"


@pytest.fixture(scope="module")
def both(image, order) -> Iterator[Callable[[bytes], tuple[RunResult, RunResult]]]:
    """The same order warm and cold. A slot's sources are the same in all its runs: here the script is changed
    where it lies on the host, so that two slots run all of them.
    """
    asked = order(
        "",
        code={"main.py": b"", "lib.py": LIBRARY, **PACKAGE},
        command=("python3", "/pipeline/main.py", "first argument"),
        environment={"OWN": "value"},
        limits=replace(TIGHT, wall_s=20),
    )
    with (
        open_folder() as root,
        SupervisedSandbox(image, scratch_root=root / "scratch", allow_disk_scratch=True) as sandbox,
        sandbox.open_slot(replace(asked, warm=()), slot=SLOT) as warm,
        sandbox.open_slot(asked, slot=SLOT + 1) as cold,
    ):

        def run(script: bytes) -> tuple[RunResult, RunResult]:
            for slot in (warm, cold):
                put(slot, script)
            return warm.run({}), cold.run({})

        yield run


def put(slot: SupervisedSlot, script: bytes) -> None:
    path = slot._places.code / "main.py"
    facts = path.stat()
    path.chmod(0o700)
    path.write_bytes(script)
    path.chmod(facts.st_mode)
    os.utime(path, (facts.st_atime, facts.st_mtime))


def seen(result: RunResult) -> tuple[object, ...]:
    """(cause, exit code, text, output). A script that leaves no verdict has ended with Cause.OUTPUT."""
    detail = result.detail
    return (detail.cause.name, detail.exit_code, re.sub(CHANCE, "...", detail.tail), result.outputs)


def test_warm_is_as_cold(both, subtests):
    for name, script in SCRIPTS.items():
        with subtests.test(msg=name):
            warm, cold = map(seen, both(script if isinstance(script, bytes) else script.encode()))
            assert warm == cold
            assert warm[0] in ("COMPLETED", "EXIT", "OUTPUT")
