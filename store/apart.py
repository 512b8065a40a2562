"""Rehearsals and jobs never run at the same time.

What a rehearsal prints is shown to its author as it is, and programs on one host can time each other through
its cores and caches: a job's pipeline that works hard or rests by what it reads could tell a rehearsal beside
it, past all noise. Both questions are asked inside the turn, so that of two claims at once only one wins.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from domain.rehearsal import RehearsalState
from domain.states import JobState
from store import turn
from store.rehearsal_tables import rehearsals
from store.tables import jobs

SETTLED_AFTER = timedelta(minutes=1)
"""The runs of a job that was ended from outside are killed within seconds; a busy host gets more."""


def may_rehearse(connection: sa.Connection, *, now: datetime) -> bool:
    """No job is between its claim and its last run, none was just ended in the middle, and none waits to be
    claimed: rehearsals that follow each other closely could otherwise keep jobs out for ever."""
    turn.take(connection)
    comes_first = jobs.c.state.in_((JobState.QUEUED, JobState.PREPARING, JobState.RUNNING))
    just_ended = sa.and_(
        jobs.c.state.in_((JobState.CANCELLED, JobState.ERRORED)),
        jobs.c.charged_at.is_not(None),
        jobs.c.moved_at > now - SETTLED_AFTER,
    )
    return connection.execute(sa.select(jobs.c.id).where(comes_first | just_ended).limit(1)).first() is None


def may_start_job(connection: sa.Connection) -> bool:
    """No rehearsal runs."""
    turn.take(connection)
    running = sa.select(rehearsals.c.id).where(rehearsals.c.state == RehearsalState.RUNNING).limit(1)
    return connection.execute(running).first() is None
