"""The platform as its operators see it, read in one moment: states, counts, names and classes of size."""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import store.maintenance
import store.stuck
from domain.maintenance import Maintenance
from domain.messages import WhyDropped
from domain.notice import NoticeState
from domain.operation import Stuck, WorkerState, size_class
from domain.states import JobState
from gateway.readiness import Readiness
from store import history, images, notices, operation, releases, sweeps, workers
from store.clock import ahead_s, database_time
from store.database import Database
from store.operation import RefusedLogins
from store.schema import Schema, schema
from store.workers import Worker


@dataclass(frozen=True)
class Overview:
    """All of it. `now` is the database's clock, `skew_s` how far the gateway's is ahead of it."""

    now: datetime
    skew_s: float
    version: str
    python: str
    schema: Schema
    readiness: Readiness
    database_size: str
    has_key: bool
    jobs: Mapping[JobState, int]
    workers: tuple[Worker, ...]
    stuck: tuple[Stuck, ...]
    images_waiting: int
    notices_dead: int
    maintenance: Maintenance | None
    logins: RefusedLogins
    # to the minute, as what lies on disks: how long anything takes on a worker is not shown
    last_sweep_at: datetime | None
    last_sweep_by: str | None

    @property
    def live(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.state is WorkerState.LIVE]

    @property
    def lost(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.state is WorkerState.LOST]

    @property
    def off_clocks(self) -> list[Worker]:
        """Workers whose clock and the gateway's differ too much."""
        return [worker for worker in self.workers if worker.is_there and worker.is_off(self.skew_s)]

    @property
    def dropped(self) -> Counter[WhyDropped]:
        """Messages that were none of ours, of all workers that are there, each since its start."""
        return sum((Counter(one.dropped) for one in self.workers if one.is_there), Counter())

    @property
    def other_versions(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.is_there and worker.version != self.version]


def overview(database: Database, readiness: Readiness) -> Overview:
    """All that can be read: of tables in another form only that they are in another form."""
    with database.reading() as connection:
        form = schema(connection)
        now = database_time(connection)
        return Overview(
            now=now,
            skew_s=ahead_s(connection, datetime.now(UTC)),
            version=version("dpgate"),
            python=platform.python_version(),
            schema=form,
            readiness=readiness,
            database_size=size_class(operation.database_size(connection)),
            **(_read(connection, now) if form.fits else _UNREAD),
        )


_UNREAD: dict[str, Any] = {
    "has_key": False,
    "jobs": {},
    "workers": (),
    "stuck": (),
    "images_waiting": 0,
    "notices_dead": 0,
    "maintenance": None,
    "logins": RefusedLogins(0, (), 0),
    "last_sweep_at": None,
    "last_sweep_by": None,
}


def _read(connection: Any, now: datetime) -> dict[str, Any]:
    swept = sweeps.last(connection)
    ended_at = swept and swept.ended_at
    dead = (part.count for part in notices.standing(connection) if part.state is NoticeState.DEAD)
    return {
        "has_key": releases.public_key(connection) is not None,
        "jobs": history.jobs_by_state(connection),
        "workers": tuple(workers.listed(connection, now=now)),
        "stuck": tuple(store.stuck.stuck(connection, now=now)),
        "images_waiting": sum(image.approved_at is None for image in images.listed(connection)),
        "notices_dead": sum(dead),
        "maintenance": store.maintenance.current(connection),
        "logins": operation.refused_logins(connection, now=now),
        "last_sweep_at": ended_at and ended_at.replace(second=0, microsecond=0),
        "last_sweep_by": swept and swept.ended_by,
    }
