"""Whose container is it, and does that worker still live? Told by labels, which the daemon keeps.

A worker holds a locked file as long as it lives (see scratch.py), and puts that file's name on everything it
makes. Beside it stand the place (this host, user and folder of lock files) and the boot: a worker judges only
those of its own place, since it cannot see the locks of another host that uses the same daemon.
"""

import fcntl
import hashlib
import os
import platform
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from worker.sandbox.core.scratch import Scratch, default_scratch_root

PLACE, BOOT, WORKER, SLOT = "dpgate.place", "dpgate.boot", "dpgate.worker", "dpgate.slot"
LABELS = (PLACE, BOOT, WORKER, SLOT)


class Identity:
    """This worker process. Close it at the end; make it after forking."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root or default_scratch_root()
        self._lock = Scratch(self._root, allow_disk_scratch=True)  # for its lock: no block is staged here
        self.worker = self._lock.path.name
        self.place = _digest(f"{platform.node()} {os.getuid()} {self._root}")
        self._boot = _digest(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        self._open_slots: set[str] = set()

    def open_slot(self) -> dict[str, str]:
        """The labels of everything that one slot makes."""
        slot = secrets.token_hex(16)
        self._open_slots.add(slot)
        return {PLACE: self.place, BOOT: self._boot, WORKER: self.worker, SLOT: slot}

    def close_slot(self, labels: Mapping[str, str]) -> None:
        self._open_slots.discard(labels[SLOT])

    def is_leftover(self, labels: Mapping[str, str]) -> bool:
        """Nobody who lives uses the thing with these labels. Of other places: no, as nobody can tell here."""
        if labels.get(PLACE) != self.place or not all(name in labels for name in LABELS):
            return False
        if labels[WORKER] == self.worker:
            return labels[SLOT] not in self._open_slots
        return labels[BOOT] != self._boot or not self._lives(labels[WORKER])

    @staticmethod
    def owner(labels: Mapping[str, str]) -> str:
        return labels[WORKER]

    def close(self) -> None:
        self._lock.close()

    def _lives(self, worker: str) -> bool:
        with suppress(FileNotFoundError):
            lock = os.open(
                self._root / f"{_digest_only(worker)}.lock", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
            )
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            finally:
                os.close(lock)
        return False


def _digest(text: str) -> str:
    """The daemon's other users need not learn the names behind it."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _digest_only(worker: str) -> str:
    """A label is the daemon's word: it must not become a path to somewhere else."""
    return worker if len(worker) == 32 and worker.isalnum() else "nobody"
