"""The steps before a run: claim the job, check what it needs, charge it, send its chunks."""

from __future__ import annotations

import logging
from typing import Any

from domain.dataset import Dataset, DatasetState
from domain.image import SyscallTable
from domain.job import HELD, Job, JobRequest, Reason
from domain.states import Actor, JobState
from domain.surroundings import Isolation
from store import agreement, apart, coming, datasets, images, jobs, line, runs, still_ready, turn, workers
from store.spoilt import UNREADABLE
from worker import books
from worker.due import due_time, schedule_of
from worker.failure import without_its_text
from worker.host_leases import isolation_of
from worker.neighbours import why_not_beside
from worker.readiness import FINAL, refusal
from worker.sandbox.choice import counts_all_memory
from worker.zone import WorkerZone

log = logging.getLogger(__name__)
ASKS_AGAIN_S = 2.0


def claim(zone: WorkerZone, job_id: str) -> Job | None:
    """QUEUED -> PREPARING, for exactly one worker: this job, or one of somebody whose turn it is. A worker
    that drains leaves it to the sweep of another; while a rehearsal runs, it waits for that one's end. What
    the zone's books hold back stays QUEUED, with the reason."""
    claimed, reason = _claim(zone, job_id)
    if claimed is not None and reason is Reason.SANDBOX_UNAVAILABLE:
        log.warning("job %s waits, uncharged: another platform has this host", claimed.id)
        with zone.database.transaction() as connection:
            # else the sweep would send a second message beside this one
            jobs.nudge(connection, claimed.id, now=zone.now(), not_since_s=zone.settings.resend_after_s / 2)
        zone.messages.run_job(claimed.id, in_s=ASKS_AGAIN_S)
        return None
    if claimed is not None and reason is not None:
        books.hold(zone, claimed, reason, what="a charge")
        return None
    return claimed


def _claim(zone: WorkerZone, job_id: str) -> tuple[Job | None, Reason | None]:
    with zone.database.transaction() as connection:
        if workers.drain_asked(connection, zone.settings.name) or not apart.may_start_job(connection):
            return None, None
        chosen = line.next_to_claim(connection, job_id, most=zone.settings.most_running)
        if chosen is None:
            return None, None
        try:
            job = jobs.get(connection, chosen)
            dataset = datasets.of_job(connection, job)
        except UNREADABLE as error:
            log.error("job %s cannot be read: %s", chosen, without_its_text(error))
            agreement.say_why(connection, chosen, Reason.NOT_IN_LEDGER.name)  # the next one goes past it
            return None, None
        reason = books.why_not_charged(zone, connection, job, dataset)
        if reason is not None:
            return job, reason
        if not zone.leases.take(isolation_of(job.request, dataset)):
            agreement.say_why(connection, chosen, Reason.SANDBOX_UNAVAILABLE.name)
            return job, Reason.SANDBOX_UNAVAILABLE
        if not jobs.move(
            connection,
            chosen,
            JobState.QUEUED,
            JobState.PREPARING,
            actor=Actor.WORKER,
            now=zone.now(),
            reason=None,
        ):
            return None, None
        jobs.count_attempt(connection, chosen)
        return jobs.get(connection, chosen), None


def prepare(zone: WorkerZone, job: Job) -> Reason | None:
    """Whether everything is here that the job needs, before any data is touched."""
    with zone.database.reading() as connection:
        dataset = datasets.of_job(connection, job)
    if dataset.state is not DatasetState.READY:
        return Reason.DATASET_WITHDRAWN
    # all but a pipeline is the platform's own code: there is nothing to isolate
    reason = _runs(zone, job, dataset) if isinstance(job.request, JobRequest) else None
    if reason is not None:
        return reason
    return None if zone.sealed.holds(dataset) else Reason.SNAPSHOT_MISSING


def _runs(zone: WorkerZone, job: Job, dataset: Dataset) -> Reason | None:
    """Whether this worker can isolate the runs of a pipeline's image."""
    assert job.image_digest is not None
    with zone.database.reading() as connection:
        record = images.get(connection, job.image_digest)
    image = zone.images.get(job.image_digest)
    in_memory = zone.images.is_in_memory(job.image_digest)
    reason = refusal(job, dataset, settings=zone.settings, image=image, record=record, in_memory=in_memory)
    if reason is not None:
        return reason
    if record.syscalls is SyscallTable.STANDARD and not counts_all_memory(zone.settings):
        return Reason.SANDBOX_UNAVAILABLE
    alone = dataset.declaration.policy.isolation is Isolation.EXCLUSIVE
    if alone and (unseen := why_not_beside(zone, Isolation.EXCLUSIVE)):
        log.error("job %s: %s", job.id, unseen)
        return Reason.SANDBOX_UNAVAILABLE
    return None if zone.is_isolated() else Reason.SANDBOX_UNAVAILABLE


def put_back(zone: WorkerZone, job: Job, reason: Reason) -> None:
    """PREPARING -> QUEUED for another try, or ERRORED with the budget given back. Data that are not in this
    zone folder may be in another worker's: while one is there, that was no try. An image that is not here may
    be there too, but who would say so that it is as it was approved? That was one."""
    with zone.database.transaction() as connection:
        others = workers.others_take_jobs(connection, zone.settings.name, now=zone.now())
        leaves = reason is Reason.SNAPSHOT_MISSING and others
        is_spent = job.attempts >= zone.settings.max_attempts and reason not in HELD and not leaves
        is_final = reason in FINAL or (
            reason is Reason.IMAGE_CHANGED and not (others and _is_approved(connection, job))
        )
        after = JobState.ERRORED if is_final or is_spent else JobState.QUEUED
        jobs.move(
            connection,
            job.id,
            JobState.PREPARING,
            after,
            actor=Actor.WORKER,
            now=zone.now(),
            reason=reason.name,
            attempts=job.attempts - leaves,
        )
    log.warning("job %s: %s", job.id, reason)


def _is_approved(connection: Any, job: Job) -> bool:
    return job.image_digest is not None and images.get(connection, job.image_digest).is_approved


def charge(zone: WorkerZone, job: Job) -> bool:
    """PREPARING -> RUNNING: the budget is spent before any run sees data. Fixes the time of release, which is
    counted from when the jobs before it are due and there are slots: both are public. The zone's own ledger
    has it first; a job that does not go with that goes back."""
    try:
        return _charge(zone, job)
    except books.OffTheBooks as refused:
        books.note_refusal(zone, job, refused.reason, what="a charge")
        put_back(zone, job, refused.reason)
        return False


def _charge(zone: WorkerZone, job: Job) -> bool:
    with zone.database.transaction() as connection:
        if not still_ready.hold(connection, job.dataset_id):
            raise books.OffTheBooks(Reason.DATASET_WITHDRAWN)
        job = jobs.get(connection, job.id, lock=True)
        if job.state is not JobState.PREPARING:
            return False
        turn.take(connection)  # of two charges at once, the second sees the first
        dataset = datasets.of_job(connection, job)
        books.enter_charge(zone, connection, job, dataset)
        now = zone.now()
        schedule = schedule_of(zone, job, dataset)
        before = coming.holding_slots(connection, now=now)
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
            due_at=due_time(zone, job, dataset, before, now=now),
        )
        if charged:
            runs.plan(connection, job_id=job.id, count=schedule.chunks)
        return charged


def send(zone: WorkerZone, job: Job) -> None:
    """One message per chunk; a message that is lost is sent again by the sweep. Where there is a participant
    level, its chunks are sent alone: what else waits can only start when they are done."""
    with zone.database.reading() as connection:
        dataset = datasets.of_job(connection, job)
        slots = jobs.get(connection, job.id).slots or zone.settings.slots
        first = job.request.schedule(dataset.declaration, slots=slots).participant_chunks
        waiting = runs.waiting(connection, job.id)
    for number in waiting:
        if first == 0 or number < first:
            zone.messages.run_chunk(job.id, number)


def send_groups(zone: WorkerZone, job_id: str, *, first: int) -> None:
    """The chunks of group runs, numbered from `first`, once no chunk before them is left. Two workers that
    finish at the same moment may both send them."""
    with zone.database.reading() as connection:
        ready = runs.waiting(connection, job_id) if runs.all_done_before(connection, job_id, first) else []
    for number in ready:
        zone.messages.run_chunk(job_id, number)
