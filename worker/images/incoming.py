"""Where an import takes place: a folder that is locked while its process lives, and removed after.

The kernel drops the lock when the process dies, however it dies; that is how the next one tells leftovers
from imports that go on. A process that forks shares its locks with its child.
"""

import fcntl
import os
import secrets
from pathlib import Path

from .walk import remove

_LOCK = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


class Incoming:
    """A new folder in `parent`, which others may pass through but not list. Close it."""

    def __init__(self, parent: Path) -> None:
        while True:
            self.path = parent / secrets.token_hex(16)
            self._lock_path = self.path.with_suffix(".lock")
            self._lock = os.open(self._lock_path, _LOCK | os.O_CREAT | os.O_EXCL, 0o600)
            if _taken(self._lock) and os.fstat(self._lock).st_nlink == 1:
                break
            os.close(self._lock)  # somebody tidied it up between the two calls
        self.path.mkdir(mode=0o700)
        self.path.chmod(0o711)

    def __enter__(self) -> "Incoming":
        return self

    def __exit__(self, *_: object) -> None:
        remove(self.path)
        self._lock_path.unlink()
        os.close(self._lock)


def remove_leftovers(parent: Path) -> int:
    """Of imports whose process no longer lives; how many."""
    removed = 0
    for lock_path in sorted(parent.glob("*.lock")):
        try:
            lock = os.open(lock_path, _LOCK)
        except FileNotFoundError:
            continue
        if _taken(lock):
            remove(lock_path.with_suffix(""))
            lock_path.unlink(missing_ok=True)
            removed += 1
        os.close(lock)
    return removed


def _taken(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
