"""How far the runs of a padded job are by its timetable, which was public before the first of them began.

What runs really do is not looked at: that some are late, or failed early, would be a word about the data.
Without a time grid (`coarse`) there is no timetable, and nothing is said of runs on their way.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from domain.dataset import Declaration
from domain.job import Job
from domain.states import JobState

_UNDER_WAY = frozenset({JobState.RUNNING, JobState.AGGREGATING, JobState.IN_REVIEW})


@dataclass(frozen=True)
class Timetable:
    """`turns` turns from `begins_at` to `due_at`, evenly."""

    begins_at: datetime
    due_at: datetime
    turns: int

    def turns_over(self, now: datetime) -> int:
        """About so many, for a chunk opens its place before its first turn."""
        share = (now - self.begins_at) / (self.due_at - self.begins_at)
        return int(self.turns * min(max(share, 0), 1))


def timetable_of(job: Job, declaration: Declaration) -> Timetable | None:
    """Of a job whose runs may be on their way; None where there is no time grid."""
    if job.state not in _UNDER_WAY or job.slots is None or job.due_at is None:
        return None
    if declaration.policy.timing.mode != "padded":
        return None
    schedule = job.request.schedule(declaration, slots=job.slots)
    begins_at = job.due_at - timedelta(seconds=schedule.visible_after_s)
    return Timetable(begins_at, job.due_at, schedule.turns + schedule.runs)
