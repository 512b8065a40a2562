"""The temporary folder of one build, gone however the build ends.

A build that is killed by SIGKILL cannot tidy up: its folder is recognised by its lock, which died with it,
and removed by the next build on this host.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from sandbox_images.bases.command import CannotBuild

PREFIX = "dpgate-base-"
LOCK = "lock"
STARTING_S = 60  # a younger folder may belong to a build that has not locked it yet
DYING_S = 5  # for commands that were killed and have not ended yet


@contextmanager
def workplace(room_mb: int = 0) -> Iterator[Path]:
    """An empty folder for a build. SIGTERM and SIGHUP end the build as Ctrl-C does: by tidying up.

    Args:
        room_mb: megabytes that the build will need.

    Raises:
        CannotBuild: there is less room than that.
    """
    remove_orphans()
    _require_room(room_mb)
    previous = {number: signal.signal(number, _stop) for number in (signal.SIGTERM, signal.SIGHUP)}
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        with (folder / LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder
    finally:
        _remove(folder)
        for number, handler in previous.items():
            signal.signal(number, handler)


def _require_room(room_mb: int) -> None:
    """Refuse before anything is fetched: no tool of a build says reliably that the disk has filled up."""
    place = tempfile.gettempdir()
    free_mb = shutil.disk_usage(place).free >> 20
    if free_mb < room_mb:
        raise CannotBuild(
            f"The temporary folder {place} has {free_mb} MB free, and this build needs {room_mb}: "
            "make room, or name another folder in TMPDIR."
        )


def _remove(folder: Path) -> None:
    """A killed command may finish its last write while its folder is being emptied: look again."""
    give_up = time.monotonic() + DYING_S
    shutil.rmtree(folder, ignore_errors=True)
    while folder.exists() and time.monotonic() < give_up:
        time.sleep(0.01)
        shutil.rmtree(folder, ignore_errors=True)


def remove_orphans() -> int:
    """Remove folders of this user's builds that no longer live; how many they were."""
    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if folder.is_symlink() or not folder.is_dir() or folder.stat().st_uid != os.getuid():
            continue
        if _age_s(folder) > STARTING_S and not _is_locked(folder / LOCK):
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    return removed


def _age_s(folder: Path) -> float:
    return time.time() - folder.stat().st_mtime


def _is_locked(path: Path) -> bool:
    try:
        with path.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False
    return False


def _stop(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
