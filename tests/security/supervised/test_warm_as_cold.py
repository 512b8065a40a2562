"""A warm run is a fork of a supervisor; its script must find and do what `python3 script` would."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest
from sandbox_harness import SLOT, TIGHT, open_folder
from warm_scripts import LIBRARY, PACKAGE, SCRIPTS

from worker.sandbox.core import slot
from worker.sandbox.protocol import RunResult
from worker.sandbox.supervised import SupervisedSandbox, SupervisedSlot

MAIN, COPIES = "sandbox_images/supervisor/main.py", b"    copy_pipeline()\n"
# what no two interpreters agree on; and a warm script starts a few calls deeper
CHANCE = r"0x[0-9a-f]+|(?<=refcount : )\d+|(?<=repeated )\d+(?= more times)"


@pytest.fixture(scope="module")
def both(image, order) -> Iterator[Callable[[bytes], tuple[RunResult, RunResult]]]:
    """The same order warm and cold. A slot's sources are the same in all its runs: here its supervisor makes
    no copy of them, and the script is changed where it lies on the host, so that two slots run all of them.
    """
    asked = order(
        "",
        code={"main.py": b"", "lib.py": LIBRARY, **PACKAGE},
        command=("python3", "/pipeline/main.py", "first argument"),
        environment={"OWN": "value"},
        limits=replace(TIGHT, wall_s=20),
    )
    library = dict(slot._library())
    assert COPIES in library[MAIN]
    library[MAIN] = library[MAIN].replace(COPIES, b"")
    with (
        pytest.MonkeyPatch.context() as patch,
        open_folder() as root,
        SupervisedSandbox(image, scratch_root=root / "scratch", allow_disk_scratch=True) as sandbox,
        ExitStack() as undo,
    ):
        patch.setattr(slot, "_library", lambda: library)
        warm = undo.enter_context(sandbox.open_slot(replace(asked, warm=()), slot=SLOT))
        cold = undo.enter_context(sandbox.open_slot(asked, slot=SLOT + 1))

        def run(script: bytes) -> tuple[RunResult, RunResult]:
            for each in (warm, cold):
                put(each, script)
            return warm.run({}), cold.run({})

        yield run


def put(opened: SupervisedSlot, script: bytes) -> None:
    path = opened._places.code / "main.py"
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
    outcomes = set()
    for name, script in SCRIPTS.items():
        with subtests.test(msg=name):
            warm, cold = map(seen, both(script if isinstance(script, bytes) else script.encode()))
            assert warm == cold
            assert warm[0] in ("COMPLETED", "EXIT", "OUTPUT")
            outcomes.add(warm[1:3])
    assert len(outcomes) > len(SCRIPTS) / 2  # each script has been run, not the one that the slots began with
