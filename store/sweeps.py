"""Which worker asks for the next sweep: any of them may, one of them does. So no process is the only one that
keeps the timer. When it was last asked for says whether any worker still does, and when one last ended
whether anything is taken up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from domain.operation import LOST_AFTER
from store.clock import database_time
from store.database import Database, insert_once
from store.operation_tables import sweeps

ONLY = 1
MISSED = 6
"""So many in a row are too many, where they are further apart than `LOST_AFTER` allows."""


@dataclass(frozen=True)
class Swept:
    """`ended_by`: the worker's name. Both are None until the first has ended; `every_s` is how often the one
    who asked last has asked."""

    asked_at: datetime
    every_s: float | None
    ended_at: datetime | None
    ended_by: str | None

    def word(self, now: datetime) -> str:
        """`none`: no worker has asked for one lately. `late`: some have, and none has ended."""
        patience = max(LOST_AFTER, timedelta(seconds=MISSED * (self.every_s or 0)))
        if abs(now - self.asked_at) > patience:
            return "none"
        return "ok" if self.ended_at is not None and abs(now - self.ended_at) <= patience else "late"


def take_turn(database: Database, *, every_s: float) -> bool:
    """Whether the caller is to ask for a sweep now: one of all callers, once in `every_s` seconds."""
    with database.reading() as connection:
        before = last(connection)
        # a time that is still to come was written before the clock was set back
        if before and 0 <= (database_time(connection) - before.asked_at).total_seconds() < every_s:
            return False
    with database.transaction() as connection:
        asked = {"asked_at": database_time(connection), "every_s": every_s}
        if before is None:
            return insert_once(connection, sweeps, {"id": ONLY, **asked})
        taken = sa.update(sweeps).where(sweeps.c.asked_at == before.asked_at).values(asked)
        return connection.execute(taken).rowcount == 1


def note_end(connection: sa.Connection, *, by: str) -> None:
    """A worker is through with one, whoever asked for it."""
    ended = {"ended_at": database_time(connection), "ended_by": by}
    connection.execute(sa.update(sweeps).values(ended))


def last(connection: sa.Connection) -> Swept | None:
    """None where no worker has ever asked."""
    columns = (getattr(sweeps.c, name) for name in Swept.__dataclass_fields__)
    row = connection.execute(sa.select(*columns)).one_or_none()
    return None if row is None else Swept(**row._mapping)


def word(connection: sa.Connection) -> str:
    """Whether what others left is taken up."""
    found = last(connection)
    return "none" if found is None else found.word(database_time(connection))
