"""Which worker asks for the next sweep: any of them may, one of them does. So no process is the only one that
keeps the timer, and when it was last asked for says whether any worker still does."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from domain.operation import LOST_AFTER
from store.clock import database_time
from store.database import Database, insert_once
from store.operation_tables import sweeps

ONLY = 1


def take_turn(database: Database, *, every_s: float) -> bool:
    """Whether the caller is to ask for a sweep now: one of all callers, once in `every_s` seconds."""
    with database.reading() as connection:
        asked = last_asked(connection)
        # a time that is still to come was written before the clock was set back
        if asked is not None and 0 <= (database_time(connection) - asked).total_seconds() < every_s:
            return False
    with database.transaction() as connection:
        now = database_time(connection)
        if asked is None:
            return insert_once(connection, sweeps, {"id": ONLY, "asked_at": now})
        taken = sa.update(sweeps).where(sweeps.c.asked_at == asked).values(asked_at=now)
        return connection.execute(taken).rowcount == 1


def are_asked_for(connection: sa.Connection) -> bool:
    """Whether any worker has kept the timer lately."""
    asked, now = last_asked(connection), database_time(connection)
    return asked is not None and abs(now - asked) <= LOST_AFTER


def last_asked(connection: sa.Connection) -> datetime | None:
    """None where no worker has ever asked."""
    found: datetime | None = connection.execute(sa.select(sweeps.c.asked_at)).scalar_one_or_none()
    return found
