"""Workers of this host whose turns this one does not see, because they take them in another scratch folder.

Each worker says on record, before it takes a message, on which host it is and by which door it takes turns.
Runs that must be alone wait for as long as somebody else of the host has another door. Nobody else begins
beside one that began before: whoever claims runs that must be alone looks for others after the claim is on
record, and they look for such claims after they are on record themselves. So one of two sees the other,
whatever the order.
"""

from __future__ import annotations

from typing import Any

from domain.job import JobRequest
from domain.surroundings import Isolation
from store import datasets, jobs, runs, workers
from store.clock import database_time
from worker.zone import WorkerZone


def why_not_beside(zone: WorkerZone, isolation: Isolation) -> str | None:
    """Why runs may not begin on this host now, for its operator; None: they may, once they have a turn."""
    place = zone.turns.place()
    with zone.database.reading() as connection:
        now = database_time(connection)
        others = workers.behind_another_door(connection, host=place.host, door=place.door, now=now)
        if not others or (isolation is Isolation.SHARED and not _any_alone(connection)):
            return None
    return (
        f"{' and '.join(others)} of this host has another scratch folder, so its runs and these would not "
        "wait for each other, and some must be alone: start all workers of this host again, as one user and "
        "with one DPGATE_SCRATCH_FOLDER"
    )


def _any_alone(connection: Any) -> bool:
    """Whether runs that must be alone are claimed, wherever they are made."""
    claimed = (jobs.get(connection, job_id) for job_id in runs.claimed_jobs(connection))
    return any(
        datasets.of_job(connection, job).declaration.policy.isolation is Isolation.EXCLUSIVE
        for job in claimed
        if isinstance(job.request, JobRequest)
    )
