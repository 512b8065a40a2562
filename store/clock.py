"""The one clock that gateway and workers share: the database's. And what to make of times that were written
when some clock was wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

APART_S = 5.0
"""Clocks of one platform differ by less."""


TOGETHER_S = 1.0
"""What clocks that are kept together differ by at most."""


def database_time(connection: sa.Connection) -> datetime:
    """Its time now. On SQLite that is this host's clock."""
    if connection.dialect.name == "sqlite":
        text: str = connection.exec_driver_sql("SELECT strftime('%Y-%m-%dT%H:%M:%f', 'now')").scalar_one()
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    found: datetime = connection.execute(sa.select(sa.func.clock_timestamp())).scalar_one()
    return found.astimezone(UTC)


def ahead_s(connection: sa.Connection, now: datetime) -> float:
    """How far a clock that shows `now` is ahead of the database's, in seconds."""
    return (now - database_time(connection)).total_seconds()


def is_over(at: sa.ColumnElement[Any], *, now: datetime, for_s: float = 0.0) -> sa.ColumnElement[bool]:
    """That something happened at least so many seconds ago. What is on record as still to come was written
    before a clock was set back: nobody waits until then."""
    apart = timedelta(seconds=max(for_s, APART_S))
    return sa.or_(at <= now - timedelta(seconds=for_s), at > now + apart)
