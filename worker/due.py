"""When a job is due that is charged now, and when those that wait are due once somebody has cancelled.

All of it comes from public values: what was charged, when, by which schedule, and what users cancelled. How
runs went moves nothing: a job that ended as ERRORED keeps its slots until it would have been due.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from domain.dataset import Dataset
from domain.isolation import Isolation
from domain.job import Job
from domain.schedule import QUEUEING_S, Busy, Schedule, begins_at
from store import coming, datasets, jobs, turn
from worker.zone import WorkerZone

log = logging.getLogger(__name__)


def schedule_of(zone: WorkerZone, job: Job, dataset: Dataset) -> Schedule:
    """That of its charge, or of one that is charged now."""
    alone = dataset.declaration.policy.isolation is Isolation.EXCLUSIVE
    settings = zone.settings
    slots = min(settings.hosts, settings.slots) if alone else settings.slots
    return job.request.schedule(dataset.declaration, slots=job.slots or slots)


def due_time(
    zone: WorkerZone, connection: Any, job: Job, before: Sequence[Job], *, now: datetime
) -> datetime:
    """Of a job that begins when those before it are due and there are slots for it."""
    dataset = datasets.of_job(connection, job)
    schedule = schedule_of(zone, job, dataset)
    begins = begins_at(
        now=now.timestamp(),
        busy=[_busy(zone, each, datasets.of_job(connection, each)) for each in before],
        slots=_taken(zone, dataset, schedule),
        capacity=zone.settings.slots,
    )
    return datetime.fromtimestamp(begins + schedule.visible_after_s, UTC)


def recount(zone: WorkerZone) -> None:
    """After a job was cancelled that others wait for, or a clock was set back: jobs are due as if charged
    now, if that is earlier."""
    moved: list[tuple[str, datetime]] = []
    with zone.database.transaction() as connection:
        now = zone.now()
        if not coming.may_be_earlier(connection, now=now):
            return
        turn.take(connection)
        before: list[Job] = []
        for job in coming.holding_slots(connection, now=now):
            due = due_time(zone, connection, job, before, now=now).timestamp() + QUEUEING_S
            earlier = datetime.fromtimestamp(due, UTC)
            if coming.move_due(connection, job, earlier):
                moved.append((job.id, earlier))
            before.append(jobs.get(connection, job.id))
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
