"""The steps before a run: claim the job, check what it needs, charge it, send its chunks."""

from __future__ import annotations

import logging
from datetime import timedelta

from domain.image import SyscallTable
from domain.job import Job, Reason
from domain.states import Actor, JobState
from store import datasets, images, jobs, runs
from worker.readiness import FINAL, refusal
from worker.sandbox.choice import counts_all_memory
from worker.zone import WorkerZone

log = logging.getLogger(__name__)


def claim(zone: WorkerZone, job_id: str) -> Job | None:
    """QUEUED -> PREPARING, for exactly one worker."""
    with zone.database.transaction() as connection:
        moved = jobs.move(
            connection, job_id, JobState.QUEUED, JobState.PREPARING, actor=Actor.WORKER, now=zone.now()
        )
        if not moved:
            return None
        jobs.count_attempt(connection, job_id)
        return jobs.get(connection, job_id)


def prepare(zone: WorkerZone, job: Job) -> Reason | None:
    """Whether everything is here that the job needs, before any data is touched."""
    with zone.database.reading() as connection:
        dataset = datasets.get(connection, job.dataset_id)
        record = images.get(connection, job.image_digest)
    image = zone.images.get(job.image_digest)
    reason = refusal(job, dataset, settings=zone.settings, image=image, record=record)
    if reason is not None:
        return reason
    if record.syscalls is SyscallTable.STANDARD and not counts_all_memory(zone.settings):
        return Reason.SANDBOX_UNAVAILABLE
    if dataset.snapshot is None or not zone.snapshots.has(dataset.snapshot):
        return Reason.SNAPSHOT_MISSING
    if not zone.is_isolated():
        return Reason.SANDBOX_UNAVAILABLE
    return None


def put_back(zone: WorkerZone, job: Job, reason: Reason) -> None:
    """PREPARING -> QUEUED for another try, or ERRORED with the budget given back."""
    last = reason in FINAL or job.attempts >= zone.settings.max_attempts
    after = JobState.ERRORED if last else JobState.QUEUED
    with zone.database.transaction() as connection:
        jobs.move(
            connection,
            job.id,
            JobState.PREPARING,
            after,
            actor=Actor.WORKER,
            now=zone.now(),
            reason=reason.name,
        )
    log.warning("job %s: %s", job.id, reason)


def charge(zone: WorkerZone, job: Job) -> bool:
    """PREPARING -> RUNNING: the budget is spent before any run sees data. Fixes the time of release."""
    with zone.database.transaction() as connection:
        dataset = datasets.get(connection, job.dataset_id)
        now = zone.now()
        schedule = job.request.schedule(
            nominal_size=dataset.declaration.nominal_size, slots=zone.settings.slots
        )
        charged = jobs.move(
            connection,
            job.id,
            JobState.PREPARING,
            JobState.RUNNING,
            actor=Actor.WORKER,
            now=now,
            attempts=0,
            reason=None,
            slots=schedule.slots,
            charged_at=now,
            due_at=now + timedelta(seconds=schedule.visible_after_s),
        )
        if charged:
            runs.plan(connection, job_id=job.id, count=schedule.chunks)
        return charged


def send(zone: WorkerZone, job: Job) -> None:
    """One message per chunk; a message that is lost is sent again by the sweep."""
    with zone.database.reading() as connection:
        waiting = runs.waiting(connection, job.id)
    for number in waiting:
        zone.messages.run_chunk(job.id, number)
