"""Folders for servers: of short paths, in memory if need be, and gone some time after a killed process.

The path of a socket has at most 107 bytes, so pytest's own temporary folders are too deep.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PREFIX, _LOCK = "dpg-", "in-use"
_MEMORY, _ROOM_BYTES = Path("/dev/shm"), 2 << 30
_STARTING_S = 60


@contextmanager
def short_folder(*, owner: str | None = None, in_memory: bool = False) -> Iterator[Path]:
    """`in_memory`: a database is some 300 files, and to make so many on a disk takes as long as ten tests."""
    place = _MEMORY if in_memory and _has_room(_MEMORY) else Path(tempfile.gettempdir())
    _remove_orphans(place)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
    with (folder / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            if owner is not None:
                shutil.chown(folder, owner)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _has_room(place: Path) -> bool:
    return place.is_dir() and shutil.disk_usage(place).free > _ROOM_BYTES


def _remove_orphans(place: Path) -> None:
    """Folders whose process was killed: nobody holds their lock any more."""
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            if time.time() - folder.stat().st_mtime < _STARTING_S:
                continue
            with (folder / _LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # in use, somebody else's, or gone meanwhile
