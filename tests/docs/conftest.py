"""One platform for all pages."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from page_platform import Rewound, begun
from warm_stack import WarmStack
from zones import own_scratch_root

from dpgate.embedded.home import Home
from dpgate.embedded.stack import Stack

# the worker is called as on the page for operators; a busy host must not turn a late release into a long wait
# and padded runs wait nearly all of their time: more of them at once. With one scratch folder it would take
# turns with platforms of other processes
SLOTS = 4
SETTINGS = {"DPGATE_WORKER_NAME": "analysis-1", "DPGATE_LATE_TICK_S": "5"}


@pytest.fixture(scope="session")
def running() -> Iterator[Rewound]:
    """In a folder that users of slots can pass, for the page on images: pytest's own is closed to them."""
    folder = Path(tempfile.mkdtemp(prefix="dpgate-docs-"))
    folder.chmod(0o711)
    try:
        settings = SETTINGS | {"DPGATE_SCRATCH_FOLDER": str(own_scratch_root("docs"))}
        with WarmStack(Home(folder / "home"), slots=SLOTS, settings=settings) as stack:
            yield begun(stack, folder / "begun")
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def stack(running: Rewound) -> Stack:
    return running.rewind()
