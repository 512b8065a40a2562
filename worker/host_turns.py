"""Who may run on this host now: work that must be alone takes its turn, all other work goes on side by side.

Two files that all worker processes of a host have in common, in the scratch folder. Whoever wants a turn goes
through the door, one at a time, and waits behind it for the runs: alone for all others to end, side by side
for whoever is alone. So nobody new gets in past somebody who waits, and neither kind starves. The kernel
drops both locks when a process dies, however it dies. Its runs may outlive it for a moment: a mark that is
left says so, and the next turn begins when they are gone. A container outlives its worker for as long as it
likes, and only a worker with the same sandbox can end it: until one has, no other gets a turn.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from domain.surroundings import Isolation

log = logging.getLogger(__name__)
_DOOR, _RUNS, _MARK = "turn-door", "turn-runs", "turn-mark-"
# Through the door one goes in microseconds, unless somebody waits behind it: then better come back.
PATIENCE_S = 0.5
_PAUSE_S = 0.01
DYING_S = 1.0
"""What a dead worker had running is killed with it; a busy host gets so much time for it, twice."""


@dataclass(frozen=True)
class Place:
    """Where turns are taken. Two workers with one host and different doors do not see each other's."""

    host: str  # of the kernel's boot: containers of one host have one
    door: str


def place_of(root: Path) -> Place:
    """The door is made if it is not there. Raises OSError."""
    with _opened(root / _DOOR) as door:
        found = os.fstat(door)
    return Place(this_host(), f"{found.st_dev}:{found.st_ino}")


def this_host() -> str:
    """As workers name it on record."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_bytes().strip()
    return hashlib.sha256(b"dpgate host " + boot).hexdigest()


@dataclass(frozen=True)
class HostTurns:
    """`root` is the same for all workers of a host. `end_leftovers` kills what runs of dead workers go on, as
    far as `sandbox` made them."""

    root: Path
    sandbox: str
    end_leftovers: Callable[[], object]

    @contextmanager
    def taken(self, isolation: Isolation) -> Iterator[bool]:
        """A turn, for as long as the context lasts. False: somebody waits for one already, or a dead worker's
        runs may go on; come back later, so that no more than one process of a host stands idle.

        Whoever leaves it with an error may leave runs behind, like somebody who died in it.
        """
        with _opened(self.root / _DOOR) as door, _opened(self.root / _RUNS) as runs:
            if not _got_in(door):
                yield False
                return
            fcntl.flock(runs, fcntl.LOCK_EX if isolation is Isolation.EXCLUSIVE else fcntl.LOCK_SH)
            if not self._are_gone():
                yield False
                return
            with self._marked():
                fcntl.flock(door, fcntl.LOCK_UN)
                yield True

    def place(self) -> Place:
        return place_of(self.root)

    def _are_gone(self) -> bool:
        """The runs of the dead. Under the door's lock, so that no mark is seen half made."""
        dead = [mark for mark in self.root.glob(f"{_MARK}*") if _is_of_the_dead(mark)]
        if not dead:
            return True
        others = [mark for mark in dead if not mark.name.startswith(self._mark)]
        if others:
            log.error(
                "a worker of this host with another sandbox died or failed at work, and its runs may go on: "
                "start one with that sandbox, or end its runs and remove %s",
                ", ".join(map(str, others)),
            )
            return False
        log.warning("a worker of this host died at work or failed: waiting until its runs have ended")
        for _ in range(2):
            self.end_leftovers()
            time.sleep(DYING_S)
        for mark in dead:
            mark.unlink(missing_ok=True)
        return True

    @property
    def _mark(self) -> str:
        return f"{_MARK}{self.sandbox}-"

    @contextmanager
    def _marked(self) -> Iterator[None]:
        """A locked file for as long as this process is at work: one that nobody locks is a dead one's."""
        mark, name = tempfile.mkstemp(prefix=self._mark, dir=self.root)
        try:
            fcntl.flock(mark, fcntl.LOCK_EX)
            yield
            Path(name).unlink(missing_ok=True)
        finally:
            os.close(mark)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _got_in(door: int) -> bool:
    until = time.monotonic() + PATIENCE_S
    while not _locked(door):
        if time.monotonic() > until:
            return False
        time.sleep(_PAUSE_S)
    return True


def _is_of_the_dead(mark: Path) -> bool:
    with suppress(FileNotFoundError):  # its owner has just ended in order
        descriptor = os.open(mark, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            return _locked(descriptor)
        finally:
            os.close(descriptor)
    return False


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
