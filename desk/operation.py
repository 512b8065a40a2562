"""The operator's side of the platform: workers, what is stuck, maintenance. Public facts only, never data."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from desk.audit import PLAIN
from desk.messages import Messages
from desk.rights import needs
from domain.job import WORKERS_MISSING
from domain.maintenance import Maintenance, PlannedMaintenance
from domain.messages import WhyDropped
from domain.model import Model, Slug
from domain.operation import Stuck, StuckKind, WorkerState, WorkKind
from domain.permissions import Permission, User
from store import maintenance, stuck, workers
from store.clock import database_time
from store.database import Database
from store.workers import Worker


class WorkerView(BaseModel):
    """A worker. `kinds` are said until the public state of that work ends; sizes are classes."""

    name: str
    state: WorkerState
    version: str
    python: str
    profile: str
    sandbox: str
    slots: int
    kinds: list[WorkKind] = Field(description="What it takes part in; never which job")
    dropped: dict[WhyDropped, int] = Field(
        description="Messages that were none of ours, since its start, by why"
    )
    features: dict[str, bool] = Field(description="Features of isolation, as it found them at its start")
    storage: dict[str, str]
    started_at: datetime
    seen_at: datetime
    skew_s: float = Field(description="How far its clock is ahead of the database's")
    drain_asked_at: datetime | None
    drain_asked_by: str | None
    drain_ends: bool
    drained_at: datetime | None
    ended_at: datetime | None

    @classmethod
    def of(cls, worker: Worker) -> WorkerView:
        return cls(**asdict(worker))


class StuckView(BaseModel):
    """Something that does not move, and what taking it up again does."""

    kind: StuckKind
    subject: str = Field(description="The id of a job, data set or rehearsal")
    name: str
    since: datetime
    sentence: str
    mends: str

    @classmethod
    def of(cls, found: Stuck) -> StuckView:
        return cls(**asdict(found), mends=found.kind.button)


class MaintenanceView(BaseModel):
    """Maintenance that goes on; `on` is false and the rest empty without."""

    on: bool
    reason: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    @classmethod
    def of(cls, found: Maintenance | None) -> MaintenanceView:
        if found is None:
            return cls(on=False)
        return cls(on=True, reason=found.reason, since=found.since, until=found.until)


class Drain(Model):
    """`ends`: its process ends once it is drained; otherwise it waits there, to be resumed or stopped."""

    ends: bool = False


class Mend(Model):
    """Something that the list of stuck things has."""

    kind: StuckKind
    subject: Annotated[str, Field(min_length=1, max_length=64, pattern=PLAIN)]


class Mended(BaseModel):
    """`sent` is false where that was just done: nothing more was sent."""

    sent: bool
    sentence: str


@needs(Permission.OPERATION_READ)
def list_workers(database: Database, _user: User) -> list[WorkerView]:
    with database.reading() as connection:
        return [WorkerView.of(one) for one in workers.listed(connection, now=database_time(connection))]


@needs(Permission.OPERATION_CHANGE)
def drain_worker(database: Database, user: User, worker: Slug, wanted: Drain) -> WorkerView:
    """What runs goes on: on other workers, or on this one where it is the only one. It may come twice."""
    with database.transaction() as connection:
        now = database_time(connection)
        return WorkerView.of(workers.drain(connection, worker, ends=wanted.ends, by=user.name, now=now))


@needs(Permission.OPERATION_CHANGE)
def resume_worker(database: Database, user: User, worker: Slug) -> WorkerView:
    with database.transaction() as connection:
        now = database_time(connection)
        return WorkerView.of(workers.resume(connection, worker, by=user.name, now=now))


@needs(Permission.OPERATION_CHANGE)
def forget_worker(database: Database, user: User, worker: Slug) -> list[WorkerView]:
    with database.transaction() as connection:
        workers.forget(connection, worker, by=user.name, now=database_time(connection))
    return list_workers(database, user)


@needs(Permission.OPERATION_READ)
def list_stuck(database: Database, _user: User) -> list[StuckView]:
    with database.reading() as connection:
        return [StuckView.of(one) for one in stuck.stuck(connection, now=database_time(connection))]


@needs(Permission.OPERATION_CHANGE)
def retry_stuck(database: Database, user: User, wanted: Mend, queue: Messages) -> Mended:
    """Does what the workers' own sweep does every few seconds, so that it may come twice."""
    with database.transaction() as connection:
        now = database_time(connection)
        sent = stuck.mend(connection, kind=wanted.kind, subject=wanted.subject, by=user.name, now=now)
    if not sent:
        return Mended(sent=False, sentence="That was just done; give a worker a moment.")
    _send(queue, wanted)
    return Mended(sent=True, sentence=f"{wanted.kind.button}: done. A worker takes it up when it is free.")


@needs(Permission.SELF_READ)
def show_maintenance(database: Database, _user: User) -> MaintenanceView:
    with database.reading() as connection:
        return MaintenanceView.of(maintenance.current(connection))


@needs(Permission.OPERATION_CHANGE)
def begin_maintenance(database: Database, user: User, planned: PlannedMaintenance) -> MaintenanceView:
    """Until it ends, what would change something is refused with 503. Reading goes on, and jobs that run."""
    with database.transaction() as connection:
        now = datetime.now(UTC)
        return MaintenanceView.of(maintenance.begin(connection, planned, by=user.name, now=now))


@needs(Permission.OPERATION_CHANGE)
def end_maintenance(database: Database, user: User) -> MaintenanceView:
    with database.transaction() as connection:
        maintenance.end(connection, by=user.name, now=datetime.now(UTC))
    return MaintenanceView(on=False)


def _send(queue: Messages, wanted: Mend) -> None:
    if wanted.kind is StuckKind.QUEUED:
        return queue.run_job(wanted.subject)
    if wanted.kind is StuckKind.IMPORT:
        return queue.import_dataset(wanted.subject)
    if wanted.kind is StuckKind.REHEARSAL:
        # for one that nobody took; the sweep puts one back that a dead worker left
        queue.rehearse(wanted.subject)
    return queue.sweep()


def why_all_wait(connection: Any) -> str | None:
    """A public fact, as in what says whether the platform is ready. Said before the charge only: after it a
    job looks the same whatever its runs do to a worker."""
    is_any_there = workers.others_take_jobs(connection, None, now=database_time(connection))
    return None if is_any_there else WORKERS_MISSING
