"""What an operator reads of the platform as a whole: schema, storage, logins that were refused."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import sqlalchemy as sa

from store.account_tables import login_failures
from store.database import Database
from store.schema import schema
from store.tables import audit_events

DAY = timedelta(days=1)


@dataclass(frozen=True)
class RefusedLogins:
    """Of the last day. Names that nobody has are counted together, and noted at 1, 2, 4, 8, ... of them."""

    noted: int
    # the five names with the most, as the trail has them
    names: tuple[tuple[str, int], ...]
    # names that have to wait before the next try
    waiting: int


def refused_logins(connection: sa.Connection, *, now: datetime) -> RefusedLogins:
    count = sa.func.count().label("count")
    query = (
        sa.select(audit_events.c.subject, count)
        .where(audit_events.c.action == "login.refused", audit_events.c.at > now - DAY)
        .group_by(audit_events.c.subject)
        .order_by(count.desc(), audit_events.c.subject)
    )
    rows = [(str(row[0]), int(row[1])) for row in connection.execute(query)]
    held = sa.select(sa.func.count()).where(login_failures.c.wait_until > now)
    waiting: int = connection.execute(held).scalar_one()
    return RefusedLogins(sum(found for _, found in rows), tuple(rows[:5]), waiting)


def database_size(connection: sa.Connection) -> int:
    """Bytes that the database takes on its disk."""
    if connection.dialect.name == "sqlite":
        pages, size = (
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("page_count", "page_size")
        )
        return int(pages) * int(size)
    query = sa.select(sa.func.pg_database_size(sa.func.current_database()))
    return int(connection.execute(query).scalar_one())


def free_for_database(database: Database) -> int | None:
    """Bytes that are left where SQLite writes; None for a server, which knows its own disk."""
    place = database.engine.url.database
    if not database.is_sqlite or not place:
        return None
    try:
        return shutil.disk_usage(Path(place).parent).free
    except OSError:
        return None  # the database is away, which has its own word


def database_words(database: Database) -> tuple[str, str]:
    """How the database answers and whether its tables fit: `ok`, or a word on what is wrong."""
    try:
        with database.reading() as connection:
            connection.execute(sa.select(1))
            return "ok", "ok" if schema(connection).fits else "differs"
    except sa.exc.SQLAlchemyError:
        return "unreachable", "unknown"
