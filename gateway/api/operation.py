"""The operator's side of the platform: workers, what is stuck, maintenance. Public facts only, never data."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel, Field

from domain.maintenance import Maintenance, PlannedMaintenance
from domain.model import Model, Slug
from domain.operation import Stuck, StuckKind, WorkerState, WorkKind
from domain.permissions import Permission, User
from domain.states import JobState
from gateway.access import TheDatabase, TheQueue, requires
from gateway.api.audit import PLAIN
from gateway.overview import Overview, overview
from gateway.problems import RESPONSES
from gateway.readiness import Looks
from gateway.routes import PREFIX
from store import maintenance, stuck, workers
from store.clock import database_time
from store.workers import Worker

router = APIRouter(prefix=f"{PREFIX}/operation", tags=["operation"], responses=RESPONSES)
Reader = Annotated[User, Depends(requires(Permission.OPERATION_READ))]
Operator = Annotated[User, Depends(requires(Permission.OPERATION_CHANGE))]
WorkerName = Annotated[Slug, Path(description="As the list of workers has it")]


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
        return cls(**asdict(found), sentence=found.kind.sentence, mends=found.kind.button)


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


class LoginsView(BaseModel):
    """Logins of the last day that were refused."""

    noted: int
    names: dict[str, int]
    waiting: int = Field(description="Names that have to wait before the next try")


class OperationView(BaseModel):
    """The whole platform at one moment."""

    version: str
    python: str
    tables: dict[str, str | None] = Field(description="Newest migration found and needed")
    database: str
    broker: str
    database_size: str
    certificate_key: bool = Field(description="Whether a worker has published the key of certificates")
    clock_skew_s: float
    jobs: dict[JobState, int]
    images_waiting: int
    notices_dead: int = Field(description="Notices that were tried for the last time")
    workers: list[WorkerView]
    stuck: list[StuckView]
    maintenance: MaintenanceView
    refused_logins: LoginsView

    @classmethod
    def of(cls, found: Overview) -> OperationView:
        return cls(
            version=found.version,
            python=found.python,
            tables={"found": found.schema.found, "needed": found.schema.needed},
            database=found.readiness.database,
            broker=found.readiness.broker,
            database_size=found.database_size,
            certificate_key=found.has_key,
            clock_skew_s=round(found.skew_s, 3),
            jobs=dict(found.jobs),
            images_waiting=found.images_waiting,
            notices_dead=found.notices_dead,
            workers=[WorkerView.of(worker) for worker in found.workers],
            stuck=[StuckView.of(one) for one in found.stuck],
            maintenance=MaintenanceView.of(found.maintenance),
            refused_logins=LoginsView(
                noted=found.logins.noted, names=dict(found.logins.names), waiting=found.logins.waiting
            ),
        )


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


@router.get("", summary="The platform at a glance")
def show_operation(request: Request, _user: Reader, database: TheDatabase) -> OperationView:
    looks: Looks = request.app.state.looks
    return OperationView.of(overview(database, looks.now()))


@router.get("/workers", summary="Workers")
def list_workers(_user: Reader, database: TheDatabase) -> list[WorkerView]:
    with database.reading() as connection:
        return [WorkerView.of(one) for one in workers.listed(connection, now=database_time(connection))]


@router.put("/workers/{worker}/drain", summary="Drain a worker: it takes no new job")
def drain_worker(worker: WorkerName, wanted: Drain, user: Operator, database: TheDatabase) -> WorkerView:
    """What runs goes on: on other workers, or on this one where it is the only one. It may come twice."""
    with database.transaction() as connection:
        now = database_time(connection)
        return WorkerView.of(workers.drain(connection, worker, ends=wanted.ends, by=user.name, now=now))


@router.delete("/workers/{worker}/drain", summary="Let a worker take jobs again")
def resume_worker(worker: WorkerName, user: Operator, database: TheDatabase) -> WorkerView:
    with database.transaction() as connection:
        now = database_time(connection)
        return WorkerView.of(workers.resume(connection, worker, by=user.name, now=now))


@router.delete("/workers/{worker}", summary="Forget a worker that is lost or has ended")
def forget_worker(worker: WorkerName, user: Operator, database: TheDatabase) -> list[WorkerView]:
    with database.transaction() as connection:
        workers.forget(connection, worker, by=user.name, now=database_time(connection))
    return list_workers(user, database)


@router.get("/stuck", summary="What does not move")
def list_stuck(_user: Reader, database: TheDatabase) -> list[StuckView]:
    with database.reading() as connection:
        return [StuckView.of(one) for one in stuck.stuck(connection, now=database_time(connection))]


@router.post("/stuck", summary="Have something taken up again that is stuck")
def retry_stuck(wanted: Mend, user: Operator, database: TheDatabase, queue: TheQueue) -> Mended:
    """Does what the workers' own sweep does every few seconds, so that it may come twice."""
    with database.transaction() as connection:
        now = database_time(connection)
        sent = stuck.mend(connection, kind=wanted.kind, subject=wanted.subject, by=user.name, now=now)
    if not sent:
        return Mended(sent=False, sentence="That was just done; give a worker a moment.")
    _send(queue, wanted)
    return Mended(sent=True, sentence=f"{wanted.kind.button}: done. A worker takes it up when it is free.")


@router.get("/maintenance", summary="Is there maintenance?")
def show_maintenance(
    _user: Annotated[User, Depends(requires(Permission.SELF_READ))], database: TheDatabase
) -> MaintenanceView:
    with database.reading() as connection:
        return MaintenanceView.of(maintenance.current(connection))


@router.put("/maintenance", summary="Begin maintenance, or change what it says")
def begin_maintenance(planned: PlannedMaintenance, user: Operator, database: TheDatabase) -> MaintenanceView:
    """Until it ends, what would change something is refused with 503. Reading goes on, and jobs that run."""
    with database.transaction() as connection:
        now = datetime.now(UTC)
        return MaintenanceView.of(maintenance.begin(connection, planned, by=user.name, now=now))


@router.delete("/maintenance", summary="End maintenance")
def end_maintenance(user: Operator, database: TheDatabase) -> MaintenanceView:
    with database.transaction() as connection:
        maintenance.end(connection, by=user.name, now=datetime.now(UTC))
    return MaintenanceView(on=False)


def _send(queue: TheQueue, wanted: Mend) -> Any:
    if wanted.kind is StuckKind.QUEUED:
        return queue.run_job(wanted.subject)
    if wanted.kind is StuckKind.IMPORT:
        return queue.import_dataset(wanted.subject)
    if wanted.kind is StuckKind.REHEARSAL:
        # for one that nobody took; the sweep puts one back that a dead worker left
        queue.rehearse(wanted.subject)
    return queue.sweep()
