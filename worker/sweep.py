"""What a dead worker or a lost message left behind, taken up again. Runs every few seconds, anywhere,
harmlessly: each mend is a compare-and-set or a message that may come twice."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from datetime import timedelta

import sqlalchemy as sa

from domain.job import HELD, Reason
from domain.states import Actor, JobState
from store import coming, datasets, jobs, runs, scrambled_files, sweeps
from store.spoilt import UNREADABLE
from worker.announce import announce_images
from worker.books import forget_old_draws
from worker.due import recount, schedule_of
from worker.erasing import erase
from worker.failure import without_its_text
from worker.importing import remove_settled_deliveries
from worker.mandates import take_in
from worker.profile.route import forget_profiles, mend_profiles
from worker.publish import arrange_release, is_out_of_reach
from worker.rehearse import mend_rehearsals
from worker.storage import note_storage
from worker.zone import WorkerZone

log = logging.getLogger(__name__)


def sweep(zone: WorkerZone) -> None:
    """One round. A step that fails must not keep the others from mending. One that the database refused, as
    where somebody holds what it needs, keeps the round from counting as ended: readiness says `late` then."""
    steps = (
        resend_imports,
        remove_settled_deliveries,
        take_in,
        set_back,
        resend_queued,
        mend_preparing,
        mend_running,
        recount,
        mend_aggregating,
        mend_rehearsals,
        mend_profiles,
        forget_profiles,
        remove_leftovers,
        remove_unused_outcomes,
        forget_old_draws,
        end_scrambles,
        erase,
        announce_new_images,
        note_storage,
    )
    went_through = [_goes_through(zone, step) for step in steps]
    if all(went_through):
        _goes_through(zone, note_end)


def _goes_through(zone: WorkerZone, step: Callable[[WorkerZone], None]) -> bool:
    """False where the database refused it."""
    try:
        step(zone)
    except Exception as error:
        log.error("%s: %s", step.__name__, without_its_text(error))
        return not isinstance(error, sa.exc.DBAPIError)
    return True


def resend_imports(zone: WorkerZone) -> None:
    """Imports whose message was lost: importing twice ends in the same place."""
    with zone.database.reading() as connection:
        waiting = datasets.importing(connection, older_than_s=zone.settings.resend_after_s, now=zone.now())
    for dataset_id in waiting:
        zone.messages.import_dataset(dataset_id)


def set_back(zone: WorkerZone) -> None:
    """Times that a clock which was ahead has written: else what is resent some time after them waits longer
    by as much as it was ahead, once for its state and once more for its message."""
    with zone.database.transaction() as connection:
        coming.count_from_now(connection, now=zone.now(), for_s=zone.settings.resend_after_s)


def resend_queued(zone: WorkerZone) -> None:
    """QUEUED jobs whose message was lost."""
    for job_id in _long_in(zone, JobState.QUEUED, zone.settings.resend_after_s):
        if _may_nudge(zone, job_id):
            zone.messages.run_job(job_id)


def mend_preparing(zone: WorkerZone) -> None:
    """PREPARING for too long: its worker is gone. Back to QUEUED, or ERRORED with the budget given back."""
    _one_by_one(zone, _mend_preparing, _long_in(zone, JobState.PREPARING, zone.settings.prepare_timeout_s))


def _mend_preparing(zone: WorkerZone, job_id: str) -> None:
    with zone.database.transaction() as connection:
        lost = jobs.get(connection, job_id).attempts >= zone.settings.max_attempts
        after = JobState.ERRORED if lost else JobState.QUEUED
        _move(zone, connection, job_id, JobState.PREPARING, after, lost=lost)


def mend_running(zone: WorkerZone) -> None:
    """Chunks whose lease ran out wait again; jobs whose blocks are all done get their release."""
    _one_by_one(zone, _mend_running, _long_in(zone, JobState.RUNNING, 0))


def _mend_running(zone: WorkerZone, job_id: str) -> None:
    with zone.database.transaction() as connection:
        expired = _release_expired(zone, connection, job_id)
        if runs.most_attempts(connection, job_id) >= zone.settings.max_attempts:
            _move(zone, connection, job_id, JobState.RUNNING, JobState.ERRORED, lost=True)
            return
        waiting = runs.waiting(connection, job_id)
        publish_at = jobs.publish_time(connection, job_id)
    if waiting and (expired or _may_nudge(zone, job_id)):
        for number in waiting:
            zone.messages.run_chunk(job_id, number)
    elif waiting or not _may_nudge(zone, job_id):
        return
    elif publish_at is None or is_out_of_reach(zone, job_id, publish_at):
        arrange_release(zone, job_id)
    elif publish_at <= zone.now():
        zone.messages.publish(job_id, in_s=0)


def _release_expired(zone: WorkerZone, connection: sa.Connection, job_id: str) -> list[int]:
    job = jobs.get(connection, job_id)
    schedule = schedule_of(zone, job, datasets.of_job(connection, job))
    longest_s = max(schedule.chunk_s, schedule.participant_chunk_s) + zone.settings.lease_margin_s
    return runs.release_expired(connection, job_id=job_id, now=zone.now(), longest_s=longest_s)


def mend_aggregating(zone: WorkerZone) -> None:
    """AGGREGATING for too long: publish again; nothing left the box, so fresh noise is the first noise."""
    _one_by_one(zone, _mend_aggregating, _long_in(zone, JobState.AGGREGATING, zone.settings.resend_after_s))


def _mend_aggregating(zone: WorkerZone, job_id: str) -> None:
    if not _may_nudge(zone, job_id):
        return
    with zone.database.transaction() as connection:
        held = jobs.get(connection, job_id).reason in HELD
        lost = not held and jobs.count_attempt(connection, job_id) > zone.settings.max_attempts
        if lost:
            _move(zone, connection, job_id, JobState.AGGREGATING, JobState.ERRORED, lost=True)
    if not lost:
        zone.messages.publish(job_id, in_s=0)


def _one_by_one(zone: WorkerZone, mend: Callable[[WorkerZone, str], None], job_ids: Iterable[str]) -> None:
    """A job whose row cannot be read keeps no other one from being taken up. It stays as it is: whoever
    looks at what is stuck finds it. One that the database refuses keeps none either, and fails the step."""
    refused = None
    for job_id in job_ids:
        try:
            mend(zone, job_id)
        except UNREADABLE as error:
            log.error("job %s cannot be read: %s", job_id, without_its_text(error))
        except sa.exc.DBAPIError as error:
            log.error("job %s is refused: %s", job_id, without_its_text(error))
            refused = error
    if refused is not None:
        raise refused


def remove_leftovers(zone: WorkerZone) -> None:
    """What runs had when their worker died: blocks and images in memory, sandboxes."""
    zone.sandbox.reap()
    zone.images.remove_leftovers()


def remove_unused_outcomes(zone: WorkerZone) -> None:
    """What participant levels wrote and no job has asked for in a long time."""
    kept_for = timedelta(days=zone.settings.participant_outputs_days)
    zone.sealed.remove_unused_outcomes(since=zone.now() - kept_for)


def end_scrambles(zone: WorkerZone) -> None:
    """Scrambled folders whose last day is over, and those of older versions: their files go."""
    with zone.database.reading() as connection:
        old = scrambled_files.old(connection, now=zone.now())
    for scramble_id, is_over in old:
        with zone.database.transaction() as connection:
            scrambled_files.end(connection, scramble_id, is_over=is_over, now=zone.now())
        log.info("scrambled folder %s: ended, its files are removed", scramble_id)


def announce_new_images(zone: WorkerZone) -> None:
    """What an operator added to the store since the start."""
    announce_images(zone.database, zone.images, now=zone.now())


def note_end(zone: WorkerZone) -> None:
    """What was to be taken up, and what failed, has been looked at."""
    with zone.database.transaction() as connection:
        sweeps.note_end(connection, by=zone.settings.name)


def _long_in(zone: WorkerZone, state: JobState, for_s: float) -> list[str]:
    # whoever holds a row takes care of it, or is nobody that a sweep should wait for
    with zone.database.transaction() as connection:
        found = jobs.in_state(connection, state, now=zone.now(), for_s=for_s)
        return coming.not_held(connection, found)


def _may_nudge(zone: WorkerZone, job_id: str) -> bool:
    with zone.database.transaction() as connection:
        return jobs.nudge(connection, job_id, now=zone.now(), not_since_s=zone.settings.resend_after_s)


def _move(
    zone: WorkerZone, connection: sa.Connection, job_id: str, before: JobState, after: JobState, *, lost: bool
) -> None:
    reason = {"reason": Reason.WORKERS_LOST.name} if lost else {}
    if jobs.move(connection, job_id, before, after, actor=Actor.SWEEP, now=zone.now(), **reason):
        log.warning("job %s: %s -> %s by the sweep", job_id, before, after)
