"""Orders for a supervised sandbox in both of its ways, and a supervisor that a test can make dirty.

To open a slot takes ten times as long as a run in it: tests that look at neither its start nor its end make
their runs in one that others use, too. Cold is the second mode here: tests/rings.py says which tests of it
every change is asked.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from sandbox_harness import SLOT, open_folder, packages_in

from worker.sandbox.core import slot
from worker.sandbox.core.images import HostImage
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import NOTHING, RunResult, SandboxUnavailable, SlotOrder
from worker.sandbox.supervised import SupervisedSandbox, SupervisedSlot

COMMAND = ("python3", "/pipeline/main.py")
BLOCK = {"sub-01/a.csv": b"1,2\n"}
GIVEN_SCRIPT = "exec(compile(open('/in/script.py').read(), '/in/script.py', 'exec'))"
_MOST_OPEN = 12


@pytest.fixture(params=["warm", "cold"])
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def ask(order, mode: str) -> Callable[..., SlotOrder]:
    """An order for one script in this test's mode."""
    warm = () if mode == "warm" else None

    def make(script: str, **changes) -> SlotOrder:
        return order(script, **{"command": COMMAND, "warm": warm, **changes})

    return make


class OpenSlots:
    """Slots by what was ordered, each of which runs the script that a block brings along."""

    def __init__(self, sandbox: SupervisedSandbox) -> None:
        self._sandbox = sandbox
        self._open: list[tuple[SlotOrder, SupervisedSlot, ExitStack]] = []
        self._opened = 0

    def __call__(self, order: SlotOrder) -> SupervisedSlot:
        for known, opened, _ in self._open:
            if known == order:
                return opened
        if len(self._open) == _MOST_OPEN:
            self._open.pop(0)[2].close()
        undo = ExitStack()
        number = SLOT + 10 + self._opened % (_MOST_OPEN + 1)  # no two that are open are one host user
        opened = undo.enter_context(self._sandbox.open_slot(order, slot=number))
        self._opened += 1
        self._open.append((order, opened, undo))
        return opened

    def close(self) -> None:
        for _, _, undo in self._open:
            undo.close()


@pytest.fixture(scope="module")
def open_slots(image: HostImage) -> Iterator[OpenSlots]:
    with (
        open_folder() as root,
        SupervisedSandbox(image, scratch_root=root / "scratch", allow_disk_scratch=True) as sandbox,
    ):
        slots = OpenSlots(sandbox)
        yield slots
        slots.close()


@pytest.fixture
def run(open_slots, ask) -> Callable[..., RunResult]:
    """The script on one block, beside which it lies, in a slot that others of this file may have used."""

    def once(script: str, block=BLOCK, *, before=NOTHING, **changes) -> RunResult:
        opened = open_slots(ask(GIVEN_SCRIPT, **changes))
        return opened.run({**block, "script.py": script.encode()}, before=before)

    return once


@pytest.fixture
def run_alone(supervised, ask) -> Callable[..., RunResult]:
    """The script on one block, in a slot of its own."""

    def once(script: str, block=BLOCK, **changes) -> RunResult:
        with supervised.open_slot(ask(script, **changes), slot=SLOT) as it:
            return it.run(block)

    return once


@pytest.fixture
def doctored(monkeypatch) -> Callable[..., None]:
    """Gives supervisors another source: the product's own, changed in one place."""
    library = slot._library

    def change(name: str, edit: Callable[[str], str]) -> None:
        path = f"sandbox_images/supervisor/{name}"
        source = slot._library()
        edited = edit(source[path].decode())
        assert edited != source[path].decode(), f"nothing to change in {name}"
        monkeypatch.setattr(slot, "_library", lambda: {**source, path: edited.encode()})

    yield change
    monkeypatch.setattr(slot, "_library", library)


@pytest.fixture(scope="session")
def numpy_image() -> Iterator[HostImage]:
    """The tests' own environment; where slots cannot see that, its packages for the system's Python."""
    try:
        yield describe(Path(sys.prefix))
        return
    except SandboxUnavailable:
        pass
    with open_folder() as folder:
        env = folder / "env"
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", env], check=True)
        own = next((env / "lib").glob("python3*")) / "site-packages"
        packages_in(own, "numpy", "scipy", "sklearn", "joblib", "threadpoolctl")
        yield describe(env)
