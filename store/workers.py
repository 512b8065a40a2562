"""Workers on record: each announces itself, says every half minute that it is there, and may be drained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import sqlalchemy as sa

from domain.dataset import DatasetState
from domain.errors import Conflict, NotFound
from domain.messages import WhyDropped
from domain.operation import FORGOTTEN_AFTER, LOST_AFTER, MOST_SKEW_S, WorkerState, WorkKind
from domain.profile_request import ProfileState
from domain.states import JobState
from store import audit
from store.database import insert_once
from store.operation_tables import workers
from store.profiles import profiles
from store.spoilt import readable, reads
from store.tables import datasets, jobs

TAKEN = (JobState.PREPARING, JobState.RUNNING, JobState.AGGREGATING)
PUBLIC: Mapping[WorkKind, tuple[sa.Table, tuple[str, ...]]] = {
    WorkKind.JOBS: (jobs, TAKEN),
    WorkKind.IMPORTS: (datasets, (DatasetState.IMPORTING,)),
    WorkKind.PROFILES: (profiles, (ProfileState.READING,)),
}
"""Work on data: the public states in which it is with workers. A rehearsal has seen no data."""
Subjects = dict[WorkKind, set[str]]
"""By kind, the ids of what a worker took a message about."""
_SAME_WORDS = "`dpgate worker list` shows those that are on record."


@dataclass(frozen=True)
class Presence:
    """What a worker says of itself at its start. `start` tells one start from another."""

    name: str
    start: str
    version: str
    python: str
    profile: str
    sandbox: str
    slots: int
    features: Mapping[str, bool]
    host: str | None = None
    door: str | None = None


@dataclass(frozen=True)
class Worker:
    """A worker on record, and its state at the moment that it was read."""

    name: str
    state: WorkerState
    version: str
    python: str
    profile: str
    sandbox: str
    slots: int
    features: dict[str, bool]
    storage: dict[str, str]
    kinds: tuple[WorkKind, ...]
    dropped: dict[WhyDropped, int]
    started_at: datetime
    seen_at: datetime
    skew_s: float
    drain_asked_at: datetime | None
    drain_asked_by: str | None
    drain_ends: bool
    drained_at: datetime | None
    ended_at: datetime | None
    host: str | None
    door: str | None

    @property
    def missing(self) -> list[str]:
        """Features of isolation that its host lacks."""
        return sorted(name for name, present in self.features.items() if not present)

    @property
    def is_there(self) -> bool:
        return self.state in (WorkerState.LIVE, WorkerState.DRAINING)

    def takes_turns_apart(self, other: Worker) -> bool:
        """Whether both are on one host and there, and runs of one do not wait for those of the other."""
        is_here = self.host is not None and self.host == other.host
        return is_here and self.door != other.door and self.is_there and other.is_there

    def is_off(self, gateway_skew_s: float) -> bool:
        """Whether its clock and the gateway's differ too much. Both are measured against the database's."""
        return abs(self.skew_s - gateway_skew_s) > MOST_SKEW_S


def announce(connection: sa.Connection, presence: Presence, *, now: datetime, skew_s: float) -> None:
    """A worker has started. A drain that was asked of its name before goes on.

    An earlier start of that name which may still make runs, behind another door of this host, stays on record
    under a name of its own: the two must see each other.
    """
    values = {
        **{name: getattr(presence, name) for name in Presence.__dataclass_fields__},
        "features": dict(presence.features),
        "storage": {},
        "kinds": [],
        "dropped": None,
        "started_at": now,
        "seen_at": now,
        "skew_s": skew_s,
        "drained_at": None,
        "ended_at": None,
    }
    if not insert_once(connection, workers, {**values, "drain_ends": False}):
        _set_aside(connection, presence, now)
        connection.execute(sa.update(workers).where(workers.c.name == presence.name).values(values))
    is_old = ~workers.c.seen_at.between(now - FORGOTTEN_AFTER, now + FORGOTTEN_AFTER)
    connection.execute(sa.delete(workers).where(is_old, workers.c.drain_asked_at.is_(None)))


def beat(
    connection: sa.Connection,
    *,
    name: str,
    start: str,
    kinds: Iterable[WorkKind],
    now: datetime,
    skew_s: float,
    dropped: Mapping[WhyDropped, int],
) -> bool:
    """The worker is there. False when a later start took its name."""
    told = {"seen_at": now, "skew_s": skew_s, "kinds": sorted(kinds), "dropped": dict(dropped)}
    return connection.execute(_mine(name, start).values(**told, ended_at=None)).rowcount == 1


def note_storage(connection: sa.Connection, *, name: str, classes: Mapping[str, str], now: datetime) -> None:
    """What lies in the worker's folders, in classes of size."""
    kept = {**classes, "at": now.isoformat(timespec="minutes")}
    connection.execute(sa.update(workers).where(workers.c.name == name).values(storage=kept))


def note_drained(connection: sa.Connection, *, name: str, start: str, now: datetime) -> None:
    """It takes nothing and has nothing."""
    query = _mine(name, start).where(workers.c.drain_asked_at.is_not(None), workers.c.drained_at.is_(None))
    if connection.execute(query.values(drained_at=now, kinds=[])).rowcount == 1:
        audit.append(connection, at=now, actor="worker", action="worker.drained", subject=name)


def note_takes_again(connection: sa.Connection, *, name: str, start: str) -> None:
    """It had drained, and takes what nobody else would: before it does, it counts as there again."""
    query = _mine(name, start).where(workers.c.drained_at.is_not(None))
    connection.execute(query.values(drained_at=None))


def note_end(connection: sa.Connection, *, name: str, start: str, now: datetime) -> None:
    """It ends in order."""
    connection.execute(_mine(name, start).values(ended_at=now, seen_at=now, kinds=[]))


def drain(connection: sa.Connection, name: str, *, ends: bool, by: str, now: datetime) -> Worker:
    """Take no new job. Asked again it changes only whether the process ends. Raises NotFound."""
    present = get(connection, name, now=now)
    asked = {} if present.drain_asked_at else {"drain_asked_at": now, "drain_asked_by": by}
    if asked or present.drain_ends != ends:
        _change(connection, name, drain_ends=ends, **asked)
        audit.append(connection, at=now, actor=by, action="worker.drain", subject=name, ends=ends)
    return get(connection, name, now=now)


def resume(connection: sa.Connection, name: str, *, by: str, now: datetime) -> Worker:
    """Take jobs again. Once is as good as twice. Raises NotFound."""
    if get(connection, name, now=now).drain_asked_at is not None:
        nothing: dict[str, Any] = {"drain_asked_at": None, "drain_asked_by": None, "drained_at": None}
        _change(connection, name, drain_ends=False, **nothing)
        audit.append(connection, at=now, actor=by, action="worker.resume", subject=name)
    return get(connection, name, now=now)


def forget(connection: sa.Connection, name: str, *, by: str, now: datetime) -> None:
    """Remove the row of a worker that is gone. Raises NotFound, or Conflict while it is there."""
    if get(connection, name, now=now).state not in (WorkerState.LOST, WorkerState.ENDED):
        raise Conflict("worker", f"{name} is there.", "End its process first, then forget it.")
    connection.execute(sa.delete(workers).where(workers.c.name == name))
    audit.append(connection, at=now, actor=by, action="worker.forget", subject=name)


def drain_asked(connection: sa.Connection, name: str) -> tuple[datetime, bool] | None:
    """When this worker was asked to drain and whether its process then ends; None: it was not asked."""
    query = sa.select(workers.c.drain_asked_at, workers.c.drain_ends).where(workers.c.name == name)
    row = connection.execute(query).one_or_none()
    return None if row is None or row.drain_asked_at is None else (row.drain_asked_at, row.drain_ends)


def others_take_jobs(connection: sa.Connection, name: str | None, *, now: datetime) -> bool:
    """Whether a worker is there that is not asked to drain, beside this one."""
    return any(one.state is WorkerState.LIVE and one.name != name for one in listed(connection, now=now))


def behind_another_door(connection: sa.Connection, *, host: str, door: str, now: datetime) -> list[str]:
    """Names of workers that are there, on this host, and take their turns by another door."""
    return [
        one.name
        for one in listed(connection, now=now)
        if one.is_there and one.host == host and one.door != door
    ]


def still_on(connection: sa.Connection, subjects: Subjects) -> Subjects:
    """Those whose public state says that workers are at it."""
    found: Subjects = {}
    for kind, (table, states) in PUBLIC.items():
        query = sa.select(table.c.id).where(table.c.id.in_(sorted(subjects[kind])), table.c.state.in_(states))
        found[kind] = set(connection.execute(query).scalars()) if subjects[kind] else set()
    return found


def any_job_taken(connection: sa.Connection) -> bool:
    """Whether any job is with the workers."""
    return (
        connection.execute(sa.select(jobs.c.id).where(jobs.c.state.in_(TAKEN)).limit(1)).first() is not None
    )


def is_on_record(connection: sa.Connection, name: str) -> bool:
    return connection.execute(sa.select(workers.c.name).where(workers.c.name == name)).first() is not None


def called(connection: sa.Connection, start: str) -> str | None:
    """The name under which this start is on record."""
    return connection.scalar(sa.select(workers.c.name).where(workers.c.start == start))


def is_from_apart(connection: sa.Connection, name: str, *, host: str | None, door: str | None) -> bool:
    """Whether who has this name on record takes turns on this host, by another door."""
    query = sa.select(workers.c.host, workers.c.door).where(workers.c.name == name)
    row = connection.execute(query).one_or_none()
    return row is not None and row.host is not None and row.host == host and row.door != door


def get(connection: sa.Connection, name: str, *, now: datetime) -> Worker:
    row = connection.execute(sa.select(workers).where(workers.c.name == name)).one_or_none()
    if row is None:
        raise NotFound("worker", f"there is no worker {name}.", _SAME_WORDS)
    return _worker(row, now)


def listed(connection: sa.Connection, *, now: datetime) -> list[Worker]:
    """All of them by name; `now` is the database's."""
    query = sa.select(workers).order_by(workers.c.name)
    return readable(partial(_worker, now=now), connection.execute(query))


def _mine(name: str, start: str) -> sa.Update:
    return sa.update(workers).where(workers.c.name == name, workers.c.start == start)


def name_aside(name: str, start: str) -> str:
    """Of a start whose name another one has."""
    return f"{name[:50].rstrip('-')}-{start[:12].rstrip('-')}"


def _set_aside(connection: sa.Connection, presence: Presence, now: datetime) -> None:
    mine = sa.select(workers).where(workers.c.name == presence.name).with_for_update()
    row = connection.execute(mine).one_or_none()
    if row is None or not is_from_apart(connection, row.name, host=presence.host, door=presence.door):
        return
    # one that is drained may yet take what nobody else would
    if _state(row, now - row.seen_at) in (WorkerState.ENDED, WorkerState.LOST):
        return
    # a drain that was asked of the name holds for both
    aside = {**row._mapping, "drained_at": None, "name": name_aside(row.name, row.start)}
    insert_once(connection, workers, aside)


def _change(connection: sa.Connection, name: str, **values: Any) -> None:
    connection.execute(sa.update(workers).where(workers.c.name == name).values(values))


@reads("worker", by="name")
def _worker(row: sa.Row[Any], now: datetime) -> Worker:
    fields = dict(row._mapping)
    del fields["start"]
    fields["kinds"] = tuple(map(WorkKind, fields["kinds"]))
    fields["dropped"] = {WhyDropped(why): int(count) for why, count in (fields["dropped"] or {}).items()}
    if not isinstance(fields["storage"], dict) or {*map(type, fields["features"].values())} - {bool}:
        raise TypeError(row.name)
    return Worker(**fields, state=_state(row, now - row.seen_at))


def _state(row: sa.Row[Any], unseen: timedelta) -> WorkerState:
    if row.ended_at is not None:
        return WorkerState.ENDED
    if abs(unseen) > LOST_AFTER:  # also of a clock that went back: its next beat is in time again
        return WorkerState.LOST
    if row.drain_asked_at is None:
        return WorkerState.LIVE
    return WorkerState.DRAINED if row.drained_at is not None else WorkerState.DRAINING
