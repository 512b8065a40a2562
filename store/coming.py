"""Releases whose public time is near: whoever would be busy then leaves other work for later."""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from domain.states import JobState
from store.tables import jobs


def next_release(connection: sa.Connection, *, now: datetime, within_s: float) -> datetime | None:
    """The last of those times, from now on and no further away."""
    near = jobs.c.publish_at.between(now, now + timedelta(seconds=within_s))
    query = sa.select(sa.func.max(jobs.c.publish_at)).where(jobs.c.state == JobState.RUNNING, near)
    found: datetime | None = connection.execute(query).scalar_one()
    return found
