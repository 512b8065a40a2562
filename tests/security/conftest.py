"""A sandbox on this host, and orders to run on it."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from looked_image import looked
from sandbox_harness import TIGHT, open_folder
from views import data_in

from worker.sandbox import parts
from worker.sandbox.core.images import HostImage
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import Audience, SandboxUnavailable, SlotOrder
from worker.sandbox.supervised import SupervisedSandbox


@pytest.fixture(scope="session")
def image() -> HostImage:
    try:
        return looked()
    except SandboxUnavailable:  # an old distribution: then with the Python that runs the tests
        return describe(Path(sys.prefix))


@pytest.fixture(scope="session")
def order(image):
    """An order for one script, changed as a test needs it."""

    def make(script: str, **changes) -> SlotOrder:
        base = SlotOrder(
            image=image,
            code={"main.py": script.encode()},
            command=("python3", "-I", "-S", "/pipeline/main.py"),
            levels=("participant",),
            outputs=("verdict",),
            limits=TIGHT,
            audience=Audience.TWIN,
        )
        return replace(base, **changes)

    return make


@pytest.fixture
def supervised(image: HostImage) -> Iterator[SupervisedSandbox]:
    with (
        open_folder() as root,
        SupervisedSandbox(image, scratch_root=root / "scratch", allow_disk_scratch=True) as it,
    ):
        yield it


@pytest.fixture
def data(monkeypatch):
    """Whatever its size, a view is composed of its parts."""
    monkeypatch.setattr(parts, "VIEW_ABOVE_BYTES", -1)
    with open_folder() as folder:
        yield data_in(folder)


@pytest.fixture(params=["in place", "copied"])
def in_place(request) -> bool:
    return request.param == "in place"
