"""The one clock that gateway and workers share: the database's."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa


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
