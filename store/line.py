"""The jobs that wait for a worker and those under way, by author: what domain/line.py decides by."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from domain.job import HELD, Reason
from domain.line import UnderWay, Waits, next_in_line
from domain.states import JobState
from store import turn
from store.tables import jobs

_UNDER_WAY = (JobState.PREPARING, JobState.RUNNING, JobState.AGGREGATING)


def next_to_claim(connection: sa.Connection, job_id: str, *, most: int) -> str | None:
    """The job that is to be claimed when a worker is asked for this one; None: it waits no more, or its
    author has enough under way, which is then on record as its reason."""
    turn.take(connection)  # of two claims at once, the second counts the first
    waiting = _waiting(connection, asked=job_id)
    asked = next((each for each in waiting if each.job == job_id), None)
    if asked is None:
        return None
    found = next_in_line(asked, waiting, _under_way(connection), most=most)
    if found is None:
        _say_why(connection, job_id)
        return None
    return found.job


def waiting_of(connection: sa.Connection, author: str) -> str | None:
    """The job of this author that has waited longest."""
    return next((each.job for each in _waiting(connection) if each.author == author), None)


def _waiting(connection: sa.Connection, *, asked: str | None = None) -> list[Waits]:
    """Without those that the worker zone holds, unless it is the one that is asked for."""
    goes = jobs.c.reason.is_(None) | jobs.c.reason.not_in([reason.name for reason in HELD])
    query = sa.select(jobs.c.id, jobs.c.author).where(jobs.c.state == JobState.QUEUED)
    query = query.where(goes if asked is None else goes | (jobs.c.id == asked))
    return [Waits(*row) for row in connection.execute(query.order_by(jobs.c.created_at, jobs.c.id))]


def _under_way(connection: sa.Connection) -> UnderWay:
    count, last = sa.func.count(), sa.func.max(jobs.c.charged_at)
    now = sa.select(jobs.c.author, count).where(jobs.c.state.in_(_UNDER_WAY)).group_by(jobs.c.author)
    waiting = sa.select(jobs.c.author).where(jobs.c.state == JobState.QUEUED)
    charged = sa.select(jobs.c.author, last).where(jobs.c.charged_at.is_not(None), jobs.c.author.in_(waiting))
    return UnderWay(
        {row[0]: row[1] for row in connection.execute(now)},
        # of an instant that is none, as if it had never been: it keeps nobody from being charged
        {
            row[0]: row[1].timestamp()
            for row in connection.execute(charged.group_by(jobs.c.author))
            if isinstance(row[1], datetime)
        },
    )


def _say_why(connection: sa.Connection, job_id: str) -> None:
    waits = (jobs.c.id == job_id, jobs.c.state == JobState.QUEUED)
    connection.execute(sa.update(jobs).where(*waits).values(reason=Reason.ENOUGH_UNDER_WAY.name))
