"""Which of several platforms with one host may charge a job: none whose runs would wait for another's.

Turns are taken chunk by chunk, once a job is charged. So before it charges a platform takes a lease of the
host: two whose runs may go side by side hold theirs together, and whose runs must be alone holds it for
itself. Whoever is refused is next, in the order of asking. A lease is a file in the scratch folder that
counts for as long as it is kept fresh: that of a dead platform is over by itself. It decides when a job is
charged, and nothing about isolation, for which there are turns.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from domain.dataset import Dataset
from domain.job import AnyRequest, JobRequest
from domain.surroundings import Isolation
from store import coming
from store.database import Database, place_of
from worker.config import WorkerSettings

_DOOR, _LEASE, _WAITS = "lease-door", "lease", "waits"
FRESH_S = 30.0
_CHARGING_S = 3.0
"""From a lease until its job is on record as one that is being prepared."""
_LOOKS = 3
"""So often a platform that waits may ask late before others go past it."""


@dataclass(frozen=True)
class HostLeases:
    """`root` is the same for all platforms of a host, `platform` for all workers of one."""

    root: Path
    platform: str
    asks_again_s: float

    def take(self, isolation: Isolation) -> bool:
        """False: another platform has the host, or asked before."""
        door = os.open(self.root / _DOOR, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(door, fcntl.LOCK_EX)
            kinds = Isolation if isolation is Isolation.EXCLUSIVE else (Isolation.EXCLUSIVE,)
            if self._others(kinds) or self._is_behind():
                self._keep(_WAITS)
                return False
            self._path(_WAITS).unlink(missing_ok=True)
            self._keep(isolation.value)
            return True
        finally:
            os.close(door)

    def is_lent_alone(self) -> bool:
        """Whether another platform has the host for itself."""
        return self._others((Isolation.EXCLUSIVE,))

    def renew(self, kinds: Iterable[Isolation]) -> None:
        """Of the jobs that are under way now. Any other lease ends, unless its job is being charged."""
        for kind in Isolation:
            path = self._path(kind.value)
            if kind in kinds:
                self._keep(kind.value)
            elif not _is_fresh(path, _CHARGING_S):
                path.unlink(missing_ok=True)

    def _others(self, kinds: Iterable[Isolation]) -> bool:
        return any(
            _is_fresh(path, FRESH_S)
            for kind in kinds
            for path in self.root.glob(f"{_LEASE}-{kind.value}-*")
            if path != self._path(kind.value)
        )

    def _is_behind(self) -> bool:
        mine, for_s = self._path(_WAITS), _LOOKS * self.asks_again_s
        since = _waits_since(mine) if _is_fresh(mine, for_s) else time.time_ns()
        others = (path for path in self.root.glob(f"{_LEASE}-{_WAITS}-*") if path != mine)
        return any(_is_fresh(path, for_s) and _waits_since(path) < since for path in others)

    def _keep(self, kind: str) -> None:
        path = self._path(kind)
        if kind == _WAITS and _is_fresh(path, _LOOKS * self.asks_again_s):
            os.utime(path)
        else:
            path.write_text(str(time.time_ns()))

    def _path(self, kind: str) -> Path:
        return self.root / f"{_LEASE}-{kind}-{self.platform}"


def leases_of(settings: WorkerSettings) -> HostLeases:
    """A platform is its database, whoever opens it."""
    platform = hashlib.sha256(place_of(settings.database_url).encode()).hexdigest()[:32]
    return HostLeases(settings.scratch_folder, platform, settings.resend_after_s)


def isolation_of(request: AnyRequest, dataset: Dataset) -> Isolation:
    """All but a pipeline is our own code, in which nobody listens."""
    return dataset.declaration.policy.isolation if isinstance(request, JobRequest) else Isolation.SHARED


def renew(leases: HostLeases, database: Database, *, now: datetime) -> None:
    """By each worker of a platform, on its own host."""
    with database.reading() as connection:
        found = {
            isolation_of(job.request, dataset) for job, dataset in coming.with_runs_left(connection, now=now)
        }
    leases.renew(found)


def _is_fresh(path: Path, for_s: float) -> bool:
    """Also where a clock was set back: it is over soon."""
    with suppress(FileNotFoundError):
        return abs(time.time() - path.stat().st_mtime) < for_s
    return False


def _waits_since(path: Path) -> int:
    with suppress(FileNotFoundError, ValueError):
        return int(path.read_text())
    return time.time_ns()
