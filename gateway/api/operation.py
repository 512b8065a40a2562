"""Routes of operation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, Field

from desk import operation
from desk.operation import MaintenanceView, StuckView, WorkerView
from domain.errors import Spoilt
from domain.permissions import Permission, User
from domain.states import JobState
from gateway.access import TheDatabase, requires
from gateway.overview import Overview, overview
from gateway.problems import RESPONSES
from gateway.readiness import Looks
from gateway.routes import PREFIX, WorkerName
from gateway.serving import served
from store import datasets

router = APIRouter(prefix=f"{PREFIX}/operation", tags=["operation"], responses=RESPONSES)


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
    disk: str
    last_sweep_at: datetime | None = Field(
        description="When a look at what others left last ended, to the minute"
    )
    last_sweep_by: str | None = Field(description="The worker that made that look")
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
    unreadable: list[str] = Field(description="Data sets and budgets that cannot be read: sentences")

    @classmethod
    def of(cls, found: Overview, spoilt: Sequence[Spoilt]) -> OperationView:
        return cls(
            version=found.version,
            python=found.python,
            tables={"found": found.schema.found, "needed": found.schema.needed},
            database=found.readiness.database,
            broker=found.readiness.broker,
            disk=found.readiness.disk,
            last_sweep_at=found.last_sweep_at,
            last_sweep_by=found.last_sweep_by,
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
            unreadable=[one.sentence for one in spoilt],
        )


@router.get("", summary="The platform at a glance")
def show_operation(
    request: Request,
    _user: Annotated[User, Depends(requires(Permission.OPERATION_READ))],
    database: TheDatabase,
) -> OperationView:
    looks: Looks = request.app.state.looks
    found = overview(database, looks.now())
    with database.reading() as connection:
        spoilt = datasets.unreadable(connection) if found.schema.fits else []
    return OperationView.of(found, spoilt)


router.get("/workers", summary="Workers")(served(operation.list_workers))
router.put("/workers/{worker}/drain", summary="Drain a worker: it takes no new job")(
    served(operation.drain_worker, worker=WorkerName)
)
router.delete("/workers/{worker}/drain", summary="Let a worker take jobs again")(
    served(operation.resume_worker, worker=WorkerName)
)
router.delete("/workers/{worker}", summary="Forget a worker that is lost or has ended")(
    served(operation.forget_worker, worker=WorkerName)
)
router.get("/stuck", summary="What does not move")(served(operation.list_stuck))
router.post("/stuck", summary="Have something taken up again that is stuck")(served(operation.retry_stuck))
router.get("/maintenance", summary="Is there maintenance?")(served(operation.show_maintenance))
router.put("/maintenance", summary="Begin maintenance, or change what it says")(
    served(operation.begin_maintenance)
)
router.delete("/maintenance", summary="End maintenance")(served(operation.end_maintenance))
