"""When a job is due that is charged now, and when those that wait are due once somebody has cancelled.

All of it comes from public values: what was charged, when, by which schedule, and what users cancelled. How
runs went moves nothing: a job that ended as ERRORED keeps its slots until it would have been due.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from datetime import UTC, datetime

from domain.dataset import Dataset
from domain.job import Job, Reason
from domain.operation import STUCK_AFTER, StuckKind
from domain.schedule import QUEUEING_S, Busy, Schedule, begins_at
from domain.surroundings import Isolation
from store import agreement, coming, jobs, turn
from worker.zone import WorkerZone

log = logging.getLogger(__name__)


def schedule_of(zone: WorkerZone, job: Job, dataset: Dataset) -> Schedule:
    """That of its charge, or of one that is charged now."""
    alone = dataset.declaration.policy.isolation is Isolation.EXCLUSIVE
    settings = zone.settings
    slots = min(settings.hosts, settings.slots) if alone else settings.slots
    return job.request.schedule(dataset.declaration, slots=job.slots or slots)


def due_time(
    zone: WorkerZone, job: Job, dataset: Dataset, before: Sequence[tuple[Job, Dataset]], *, now: datetime
) -> datetime:
    """Of a job that begins when those before it are due and there are slots for it."""
    schedule = schedule_of(zone, job, dataset)
    begins = begins_at(
        now=now.timestamp(),
        busy=[_busy(zone, *each) for each in before],
        slots=_taken(zone, dataset, schedule),
        capacity=zone.settings.slots,
    )
    return datetime.fromtimestamp(begins + schedule.visible_after_s, UTC)


def say_if_late(zone: WorkerZone, job_id: str, reason: Reason) -> None:
    """Why a worker leaves a charged job to another, for its author, its rights holder and the operator. Once
    the release is as late as the list of what is stuck takes it for: before that, another one may have begun.
    It is gone with the release."""
    with zone.database.transaction() as connection:
        job = jobs.get(connection, job_id)
        late_at = None if job.due_at is None else job.due_at + STUCK_AFTER[StuckKind.OVERDUE]
        if job.reason is None and late_at is not None and zone.now() > late_at:
            agreement.say_why(connection, job_id, reason.name)


def recount(zone: WorkerZone) -> None:
    """After a job was cancelled that others wait for, or a clock was set back: jobs are due as if charged
    now, if that is earlier."""
    moved: list[tuple[str, datetime]] = []
    with zone.database.transaction() as connection:
        now = zone.now()
        if not coming.may_be_earlier(connection, now=now):
            return
        turn.take(connection)
        before: list[tuple[Job, Dataset]] = []
        for job, dataset in coming.holding_slots(connection, now=now):
            due = due_time(zone, job, dataset, before, now=now).timestamp() + QUEUEING_S
            earlier = datetime.fromtimestamp(due, UTC)
            if coming.move_due(connection, job, earlier):
                moved.append((job.id, earlier))
            before.append((jobs.get(connection, job.id), dataset))
    for job_id, due_at in moved:
        log.info("job %s is due earlier", job_id)
        zone.messages.publish(job_id, in_s=(due_at - now).total_seconds())


def _busy(zone: WorkerZone, job: Job, dataset: Dataset) -> Busy:
    assert job.due_at is not None
    return Busy(job.due_at.timestamp(), _taken(zone, dataset, schedule_of(zone, job, dataset)))


def _taken(zone: WorkerZone, dataset: Dataset, schedule: Schedule) -> int:
    """Of the platform's slots. Runs that are alone on their host take all of that."""
    settings = zone.settings
    is_alone = dataset.declaration.policy.isolation is Isolation.EXCLUSIVE
    of_a_run = math.ceil(settings.slots / min(settings.hosts, settings.slots)) if is_alone else 1
    return min(settings.slots, schedule.width * of_a_run)
