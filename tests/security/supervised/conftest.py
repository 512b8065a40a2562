"""A supervised sandbox, orders for it in both of its ways, and a supervisor that a test can make dirty."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sandbox_harness import SLOT, open_folder, packages_in

from worker.sandbox.host_image import HostImage, describe
from worker.sandbox.protocol import RunResult, SandboxUnavailable, SlotOrder
from worker.sandbox.supervised import SupervisedSandbox, slot

COMMAND = ("python3", "/pipeline/main.py")
BLOCK = {"sub-01/a.csv": b"1,2\n"}


@pytest.fixture(params=["warm", "cold"])
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def supervised(image: HostImage) -> Iterator[SupervisedSandbox]:
    with (
        open_folder() as root,
        SupervisedSandbox(image, scratch_root=root / "scratch", allow_disk_scratch=True) as it,
    ):
        yield it


@pytest.fixture
def ask(order, mode: str) -> Callable[..., SlotOrder]:
    """An order for one script in this test's mode."""
    warm = () if mode == "warm" else None

    def make(script: str, **changes) -> SlotOrder:
        return order(script, **{"command": COMMAND, "warm": warm, **changes})

    return make


@pytest.fixture
def run(supervised, ask) -> Callable[..., RunResult]:
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
