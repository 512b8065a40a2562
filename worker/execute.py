"""The route of a job through the worker zone, as the list of its steps.

    execute        claim -> prepare -> charge -> send the chunks to all workers       (start.py)
    execute_chunk  see that turns reach all of this host -> take a turn -> claim -> run people, run groups,
                   scan, count, or train -> keep;
                   whoever finishes a level last sends the next one's chunks, or arranges the release
                                             (neighbours.py, host_turns.py, kinds.py, chunk.py, scan/)
    publish        aggregate, noise and release in one transaction                    (publish.py)

Every step may be repeated or die half way: each is a compare-and-set in the database, and `sweep.py` takes up
what a dead worker left.
"""

from __future__ import annotations

import logging

from domain.job import Reason
from domain.schedule import JOB_OVERHEAD_S
from domain.surroundings import Isolation
from store import jobs
from store.coming import next_release
from worker import books
from worker.chunk import claim_chunk, give_back, keep, wanted
from worker.due import say_if_late
from worker.kinds import kind_of
from worker.levels import OutcomeMissing
from worker.neighbours import why_not_beside
from worker.publish import arrange_release
from worker.sandbox.protocol import SandboxUnavailable, SlotCancelled
from worker.scan.engine import ScanFailed
from worker.start import charge, claim, prepare, put_back, send, send_groups
from worker.zone import WorkerZone

log = logging.getLogger(__name__)
COME_BACK_S = 2.0
_PUBLISHING_S = 0.1


def execute(zone: WorkerZone, job_id: str) -> None:
    """Take a queued job up to the point where its chunks are with the workers."""
    job = claim(zone, job_id)
    if job is None:
        return
    if job.id != job_id:
        zone.messages.run_job(job_id)  # it was somebody else's turn: this one comes behind
    reason = prepare(zone, job)
    if reason is not None:
        put_back(zone, job, reason)
    elif charge(zone, job):
        send(zone, job)


def execute_chunk(zone: WorkerZone, job_id: str, number: int) -> None:
    """Make the runs of one chunk and keep their sealed outputs, once this host has a turn for them."""
    found = wanted(zone, job_id, number)
    if found is None:
        return
    if found.refusal is not None:
        log.error("job %s chunk %s waits for another worker: %s", job_id, number, found.refusal)
        say_if_late(zone, job_id, found.refusal)
        come_back(zone, job_id, number, in_s=zone.settings.resend_after_s)
        return
    if not _reaches_everybody(zone, job_id, number, found.isolation):
        return
    if (left_s := _release_in_s(zone)) is not None:
        come_back(zone, job_id, number, in_s=left_s + _PUBLISHING_S)
        return
    with zone.turns.taken(found.isolation) as has_turn:
        if has_turn:
            _execute_in_turn(zone, job_id, number)
        else:
            say_if_late(zone, job_id, Reason.SANDBOX_UNAVAILABLE)
            come_back(zone, job_id, number, in_s=COME_BACK_S)


def _reaches_everybody(zone: WorkerZone, job_id: str, number: int, isolation: Isolation) -> bool:
    """Whether a turn keeps away whom it has to; else the chunk waits for that, here or for another worker."""
    reason = why_not_beside(zone, isolation)
    if reason is not None:
        log.error("job %s chunk %s waits: %s", job_id, number, reason)
        say_if_late(zone, job_id, Reason.SANDBOX_UNAVAILABLE)
        come_back(zone, job_id, number, in_s=zone.settings.resend_after_s)
    return reason is None


def _release_in_s(zone: WorkerZone) -> float | None:
    """Seconds until a release that is near: were this process at a chunk then, it would wait for the end."""
    now = zone.now()
    with zone.database.reading() as connection:
        at = next_release(connection, now=now, within_s=JOB_OVERHEAD_S)
    return None if at is None else (at - now).total_seconds()


def come_back(zone: WorkerZone, job_id: str, number: int, *, in_s: float) -> None:
    """The chunk waits, here or for another worker: this process is free for other messages until then."""
    with zone.database.transaction() as connection:
        # else the sweep, which sees that the chunk waits, would send a second message beside this one
        jobs.nudge(connection, job_id, now=zone.now(), not_since_s=zone.settings.resend_after_s / 2)
    zone.messages.run_chunk(job_id, number, in_s=in_s)


def _execute_in_turn(zone: WorkerZone, job_id: str, number: int) -> None:
    chunk = claim_chunk(zone, job_id, number)
    if chunk is None:
        return
    if chunk.must_be_alone and not _reaches_everybody(zone, job_id, number, Isolation.EXCLUSIVE):
        give_back(zone, chunk)  # somebody has come since the first look
        return
    if (reason := books.why_no_data(zone, chunk.job, chunk.dataset)) is not None:
        give_back(zone, chunk, was_tried=False)  # another worker's ledger may hold what this one's does not
        say_if_late(zone, job_id, reason)
        return
    try:
        outputs = kind_of(chunk.job).outputs(zone, chunk)
    except SlotCancelled:
        give_back(zone, chunk)  # nobody takes it: the job is over
        return
    except SandboxUnavailable as missing:
        # the host's fault, not the outcome of a run: the text is ours and names what is missing
        log.error("job %s chunk %s could not be isolated: %s", job_id, number, missing)
        give_back(zone, chunk)
        zone.turns.end_leftovers()  # while the turn lasts: its run may be what could not be ended
        return
    except (OutcomeMissing, ScanFailed) as failed:
        log.error("job %s chunk %s: %s", job_id, number, failed)
        give_back(zone, chunk)
        return
    keep(zone, chunk, outputs)
    if chunk.is_participant:
        send_groups(zone, job_id, first=chunk.schedule.participant_chunks)
    else:
        arrange_release(zone, job_id)
