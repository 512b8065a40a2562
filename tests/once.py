"""What costs much and is the same for all processes of a session: done once, by the first that asks.

What is given out may be read and copied, and not changed.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

COMPILED = Path(__file__).parent / "unit" / "privacy" / "__pycache__"
_IS_ONE_OF_SEVERAL = "PYTEST_XDIST_WORKER" in os.environ


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A file or folder of this name; `make` makes it where it is told."""
    made = _shared_folder(factory) / "once" / name
    made.parent.mkdir(exist_ok=True)
    with made.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            with tempfile.TemporaryDirectory(dir=made.parent) as begun:  # of one that fails nothing stays
                make(Path(begun, name))
                Path(begun, name).rename(made)
    return made


@contextmanager
def one_compiles(config: pytest.Config) -> Iterator[None]:
    """Where no test has been compiled yet, the first of several processes reads and so compiles them all, and
    the others wait: or else each would compile all."""
    if not _IS_ONE_OF_SEVERAL:
        yield
        return
    turn = _shared_folder(config._tmp_path_factory) / "reading"  # type: ignore[attr-defined]
    if not turn.exists() and next(COMPILED.glob("*-pytest-*.pyc"), None):
        yield
        return
    with turn.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            fcntl.flock(lock, fcntl.LOCK_SH)  # when the first has ended
            fcntl.flock(lock, fcntl.LOCK_UN)
        yield


def _shared_folder(factory: pytest.TempPathFactory) -> Path:
    folder = factory.getbasetemp()
    return folder.parent if _IS_ONE_OF_SEVERAL else folder
