"""What costs much to make and stays as it was made: made once for all processes of a session, by the first
that asks. What is given out may be read and copied, and not changed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

_IS_ONE_OF_SEVERAL = "PYTEST_XDIST_WORKER" in os.environ


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A file or folder of this name; `make` makes it where it is told."""
    folder = factory.getbasetemp()
    if _IS_ONE_OF_SEVERAL:  # its folder is in that of them all
        folder = folder.parent
    made = folder / "once" / name
    made.parent.mkdir(exist_ok=True)
    with made.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            begun = made.with_name(f"{name}.begun")
            make(begun)
            begun.rename(made)
    return made
