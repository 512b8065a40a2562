"""A warm run is a fork of a supervisor; its script must find and do what `python3 script` would."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from sandbox_harness import SLOT, TIGHT, open_folder
from warm_scripts import LIBRARY, PACKAGE, SCRIPTS

from worker.sandbox.protocol import RunResult, SlotOrder
from worker.sandbox.supervised import SupervisedSandbox, SupervisedSlot

# All scripts are there, each in a folder of its own, so that one cold slot can run them all: its command
# becomes the interpreter that a cold order would name, with nothing added.
CHOOSE = "unset PWD OLDPWD; exec python3 /pipeline/$(cat /in/name)/main.py 'first argument' \"$@\""
# what no two interpreters agree on; and a warm script starts a few calls deeper
CHANCE = r"0x[0-9a-f]+|(?<=refcount : )\d+|(?<=repeated )\d+(?= more times)"


def folder_of(name: str) -> str:
    return re.sub(r"\W", "_", name)


def sources() -> dict[str, bytes]:
    found = {}
    for name, script in SCRIPTS.items():
        source = script if isinstance(script, bytes) else script.encode()
        for path, content in {"main.py": source, "lib.py": LIBRARY, **PACKAGE}.items():
            found[f"{folder_of(name)}/{path}"] = content
    return found


@pytest.fixture(scope="module")
def sandbox(image) -> Iterator[SupervisedSandbox]:
    with (
        open_folder() as root,
        SupervisedSandbox(image, scratch_root=root / "scratch", allow_disk_scratch=True) as it,
    ):
        yield it


@pytest.fixture(scope="module")
def asked(order) -> Callable[..., SlotOrder]:
    environment, limits = {"OWN": "value"}, replace(TIGHT, wall_s=20)

    def make(**changes) -> SlotOrder:
        return order("", environment=environment, limits=limits, **{"outputs": ("verdict",), **changes})

    return make


@pytest.fixture(scope="module")
def cold(sandbox, asked) -> Iterator[SupervisedSlot]:
    command = ("sh", "-c", CHOOSE, "sh")
    with sandbox.open_slot(asked(code=sources(), command=command), slot=SLOT) as slot:
        yield slot


def seen(result: RunResult) -> tuple[object, ...]:
    """(cause, exit code, text, output). A script that leaves no verdict has ended with Cause.OUTPUT."""
    detail = result.detail
    return (detail.cause.name, detail.exit_code, re.sub(CHANCE, "...", detail.tail), result.outputs)


@pytest.mark.parametrize("name", SCRIPTS)
def test_warm_is_as_cold(name, sandbox, asked, cold):
    block = {"name": folder_of(name).encode()}
    here = f"{folder_of(name)}/"
    code = {path: content for path, content in sources().items() if path.startswith(here)}
    command = ("python3", f"/pipeline/{here}main.py", "first argument")
    with sandbox.open_slot(asked(code=code, command=command, warm=()), slot=SLOT + 1) as slot:
        warm = seen(slot.run(block))
    assert warm == seen(cold.run(block))
    assert warm[0] in ("COMPLETED", "EXIT", "OUTPUT")
