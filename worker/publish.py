"""The one way out: aggregate, draw the noise and publish, in one transaction.

`draw` is the only place where un-noised numbers meet, and they do not leave it.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from domain.admission import needs_review
from domain.dataset import Dataset
from domain.job import Job, Reason
from domain.notice import NoticeKind
from domain.release import Release
from domain.schedule import coarse_time, padded_time
from domain.states import Actor, JobState
from store import agreement, datasets, job_notices, jobs, ledger, line, releases, runs, twins
from store.clock import APART_S
from store.sealing import open_sealed
from store.zone_ledger import Head
from worker import books
from worker.certificate import certify
from worker.collect import output_context
from worker.due import say_if_late
from worker.kinds import kind_of
from worker.marks import code_of_release
from worker.runs_premise import RunsOnRecord
from worker.zone import WorkerZone

log = logging.getLogger(__name__)


def arrange_release(zone: WorkerZone, job_id: str) -> None:
    """When every run has its output: fix the public time of release and ask for it then, once.

    Chunks of a padded job end at the same moment; how many of their workers get here must not show.
    """
    with zone.database.transaction() as connection:
        job = jobs.get(connection, job_id)
        if job.state is not JobState.RUNNING or not runs.all_done(connection, job_id):
            return
        dataset = datasets.of_job(connection, job)
        before, publish_at = jobs.publish_time(connection, job_id), _publish_time(zone, job, dataset)
        if before is not None and not _is_out_of_reach(zone, job, dataset, before):
            return
        if not jobs.set_publish_time(connection, job_id, publish_at, before=before):
            return
    zone.messages.publish(job_id, in_s=max(0.0, (publish_at - zone.now()).total_seconds()))


def is_out_of_reach(zone: WorkerZone, job_id: str, publish_at: datetime) -> bool:
    """Whether its time was fixed by a clock that was wrong."""
    with zone.database.reading() as connection:
        job = jobs.get(connection, job_id)
        return _is_out_of_reach(zone, job, datasets.of_job(connection, job), publish_at)


def _is_out_of_reach(zone: WorkerZone, job: Job, dataset: Dataset, publish_at: datetime) -> bool:
    """No release waits for more than a step, or a tick after it was due."""
    timing, now = dataset.declaration.policy.timing, zone.now()
    if timing.step_seconds is not None:
        last = now + timedelta(seconds=timing.step_seconds)
    else:
        assert job.due_at is not None
        last = max(now, job.due_at) + timedelta(seconds=zone.settings.late_tick_s)
    return publish_at > last + timedelta(seconds=APART_S)


def publish(zone: WorkerZone, job_id: str) -> None:
    """Take a job whose time has come to its release. Repeating it finds nothing to do."""
    if not _may_draw(zone, job_id) or not begin(zone, job_id):
        return
    with zone.database.reading() as connection:
        job = jobs.get(connection, job_id)
        dataset = datasets.of_job(connection, job)
    kind_of(job).prepare(job, dataset)  # others wait for the transaction that draws
    try:
        drawn, waits = _publish(zone, job_id)
    except books.OffTheBooks as refused:  # between the two looks
        books.hold(zone, job, refused.reason, what="a draw")
        return
    if drawn:
        books.forget_drawn(zone, job_id)
    if waits is not None:
        zone.messages.run_job(waits)  # it may have waited for this one's end


def _publish(zone: WorkerZone, job_id: str) -> tuple[bool, str | None]:
    """Whether it came out, and whose turn it may be then."""
    with zone.database.transaction() as connection:
        # held until the commit: two draws of one job would show less noise than was paid for
        job = jobs.get(connection, job_id, lock=True)
        if job.state is not JobState.AGGREGATING:
            return False, None
        dataset = datasets.of_job(connection, job)
        release = books.drawn_once(
            zone, connection, job, dataset, lambda head: draw(zone, connection, job, dataset, head)
        )
        # in the transaction of the draw: noise that was seen by nobody may be drawn anew, a release never
        releases.insert(connection, release)
        if job.reason is not None:
            agreement.say_why(connection, job_id, None)  # it waits no more
        _move(zone, connection, job_id, JobState.AGGREGATING, JobState.IN_REVIEW, Actor.WORKER)
        if not needs_review(job.request, dataset.declaration.policy):
            _move(zone, connection, job_id, JobState.IN_REVIEW, JobState.RELEASED, Actor.POLICY)
            if job.request.is_of_holder:
                twins.announce(connection, dataset, now=zone.now())
        else:
            job_notices.tell_reviewers(connection, NoticeKind.RELEASE_WAITS, job, dataset, zone.now())
        return True, line.waiting_of(connection, job.author)


def _may_draw(zone: WorkerZone, job_id: str) -> bool:
    """Whether the zone's books let a release of this job out; else it waits where it is, and says why."""
    # no reading of one moment: the zone's ledger, looked at after it, may know more
    with zone.database.transaction() as connection:
        job = jobs.get(connection, job_id)
        if job.state not in (JobState.RUNNING, JobState.AGGREGATING):
            return False
        dataset = datasets.of_job(connection, job)
        opens = zone.sealed.of(dataset).key_id == dataset.data_key
        reason = books.why_not_drawn(zone, connection, job, dataset) if opens else None
    if not opens:
        log.error("job %s waits for another worker: the key of its data set is not here", job_id)
        say_if_late(zone, job_id, Reason.SNAPSHOT_MISSING)
        return False
    if reason is not None and not _came_out(zone, job_id):
        books.hold(zone, job, reason, what="a draw")
    return reason is None


def _came_out(zone: WorkerZone, job_id: str) -> bool:
    """Whether another worker finished the job between this one's looks at it and at the zone's ledger."""
    with zone.database.reading() as connection:
        is_open = jobs.get(connection, job_id).state in (JobState.RUNNING, JobState.AGGREGATING)
        return not is_open and agreement.has_release(connection, job_id)


def begin(zone: WorkerZone, job_id: str) -> bool:
    """RUNNING -> AGGREGATING when every run is done and the public time has come. Also True when it was
    begun before: the worker that began may have died."""
    with zone.database.transaction() as connection:
        job = jobs.get(connection, job_id)
        if job.state is JobState.RUNNING:
            publish_at = jobs.publish_time(connection, job_id)
            # its own clock, not the message: that may come early, or twice
            if publish_at is None or zone.now() < publish_at or not runs.all_done(connection, job_id):
                return False
            return _move(zone, connection, job_id, JobState.RUNNING, JobState.AGGREGATING, Actor.WORKER)
        return job.state is JobState.AGGREGATING


def draw(zone: WorkerZone, connection: sa.Connection, job: Job, dataset: Dataset, head: Head) -> Release:
    """Open the sealed outputs, aggregate them, add the noise, sign the certificate."""
    sealed, key = runs.sealed_outputs(connection, job.id), zone.sealed.of(dataset).keys.outputs
    opened = {
        run: open_sealed(content, key=key, context=output_context(job.id, run))
        for run, content in sealed.items()
    }
    return certify(
        kind_of(job).draw(zone, connection, job, dataset, opened),
        job=job,
        dataset=dataset,
        standings=ledger.standings(connection, job_id=job.id, cohort=dataset.cohort),
        on_record=RunsOnRecord(runs.places(connection, job.id), jobs.publish_time(connection, job.id)),
        trail=code_of_release(zone.keys.marks, job.id, head),
        key=zone.keys.signing,
        now=zone.now(),
    )


def _move(
    zone: WorkerZone, connection: sa.Connection, job_id: str, before: JobState, after: JobState, actor: Actor
) -> bool:
    return jobs.move(connection, job_id, before, after, actor=actor, now=zone.now())


def _publish_time(zone: WorkerZone, job: Job, dataset: Dataset) -> datetime:
    timing = dataset.declaration.policy.timing
    finished = zone.now().timestamp()
    if timing.mode == "coarse":
        assert timing.step_seconds is not None
        return datetime.fromtimestamp(coarse_time(finished=finished, step_s=timing.step_seconds), UTC)
    assert job.due_at is not None
    due = padded_time(due=job.due_at.timestamp(), finished=finished, late_tick_s=zone.settings.late_tick_s)
    return datetime.fromtimestamp(due, UTC)
