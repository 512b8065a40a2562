"""A job that was running when the platform was upgraded: its chunks may be numbered by another rule.

What a chunk's number means comes from the schedule, and a version may cut that in another way, as the one did
that gave the participant level chunks of its own. Then all runs start again under this version's schedule:
nothing of them has left the worker zone, the noise is not drawn, and the charge covers them.
"""

from __future__ import annotations

import logging

import sqlalchemy as sa

from domain.job import Job
from domain.schedule import Schedule
from domain.states import JobState
from store import jobs, runs

log = logging.getLogger(__name__)


def start_again_if_older(connection: sa.Connection, job: Job, schedule: Schedule) -> None:
    """Plan the job's chunks anew, unless they and the runs that they have done are those of this schedule."""
    if _fits(runs.progress(connection, job.id), schedule):
        return
    if jobs.get(connection, job.id, lock=True).state is not JobState.RUNNING:
        return
    if _fits(runs.progress(connection, job.id), schedule):  # another worker was first
        return
    runs.discard(connection, job.id)
    runs.plan(connection, job_id=job.id, count=schedule.chunks)
    log.warning("job %s was planned by another version: its runs start again", job.id)


def _fits(progress: runs.Progress, schedule: Schedule) -> bool:
    if progress.chunks and all(progress.chunks.values()):
        return True  # whatever they meant, no run is left
    if len(progress.chunks) != schedule.chunks:
        return False
    done = [number for number, is_done in progress.chunks.items() if is_done]
    expected = {
        run for number in done if not schedule.is_participant(number) for run in schedule.runs_of(number)
    }
    return progress.runs == expected
