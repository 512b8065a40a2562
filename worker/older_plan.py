"""A job that was running when the platform was upgraded: its chunks may be numbered by another rule.

What a chunk's number means comes from the schedule, and a version may cut that in another way, as the one did
that gave the participant level chunks of its own. Or it made people's outcomes before it was kept where runs
are made, and what it made is not found any more. Or it put people into blocks in another way, and a person
could be in one block of its and in one of ours. Then all runs start again under this version's schedule:
nothing of them has left the worker zone, the noise is not drawn, and the charge covers them.
"""

from __future__ import annotations

import logging

import sqlalchemy as sa

from domain.job import Job, JobRequest
from domain.schedule import Schedule
from domain.states import JobState
from store import jobs, runs

log = logging.getLogger(__name__)

DEALING = 1
"""Kept with each chunk of runs: by which rule people were put into blocks. Raised whenever that changes."""


def start_again_if_older(connection: sa.Connection, job: Job, schedule: Schedule) -> None:
    """Plan the job's chunks anew, unless they and the runs that they have done are those of this schedule."""
    if _is_ours(connection, job, schedule):
        return
    if jobs.get(connection, job.id, lock=True).state is not JobState.RUNNING:
        return
    if _is_ours(connection, job, schedule):  # another worker was first
        return
    runs.discard(connection, job.id)
    runs.plan(connection, job_id=job.id, count=schedule.chunks)
    log.warning("job %s was planned by another version: its runs start again", job.id)


def _is_ours(connection: sa.Connection, job: Job, schedule: Schedule) -> bool:
    progress = runs.progress(connection, job.id)
    if progress.chunks and all(progress.chunks.values()):
        return True  # whatever they meant, no run is left
    return _fits(progress, schedule) and _are_placed_as_here(connection, job, progress)


def _are_placed_as_here(connection: sa.Connection, job: Job, progress: runs.Progress) -> bool:
    """Whether each chunk that is done ran at a place on record, with people in blocks by this version's
    rule. The platform's own code has no place, and no blocks."""
    if not isinstance(job.request, JobRequest):
        return True
    done = {number for number, is_done in progress.chunks.items() if is_done}
    places = enumerate(runs.places(connection, job.id))
    return all(
        place is not None and place.get("dealing") == DEALING for number, place in places if number in done
    )


def _fits(progress: runs.Progress, schedule: Schedule) -> bool:
    if len(progress.chunks) != schedule.chunks:
        return False
    done = [number for number, is_done in progress.chunks.items() if is_done]
    expected = {
        run for number in done if not schedule.is_participant(number) for run in schedule.runs_of(number)
    }
    return progress.runs == expected
