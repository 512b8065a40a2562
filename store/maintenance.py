"""Maintenance on record: a row while it goes on; its beginning and end are events of the trail."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from domain.errors import Conflict, InvalidRequest
from domain.maintenance import Maintenance, PlannedMaintenance
from store import audit
from store.database import Database, insert_once
from store.operation_tables import maintenance

ONLY = 1


def current(connection: sa.Connection) -> Maintenance | None:
    """What goes on now, or None."""
    row = connection.execute(sa.select(maintenance)).one_or_none()
    return None if row is None else Maintenance(row.reason, row.since, row.until, row.by)


def announced(database: Database) -> Maintenance | None:
    """What every page says. None also where the tables are not there yet: pages then have worse to tell."""
    try:
        with database.reading() as connection:
            return current(connection)
    except sa.exc.DatabaseError:
        return None


def begin(connection: sa.Connection, planned: PlannedMaintenance, *, by: str, now: datetime) -> Maintenance:
    """Begin it, or change its reason and planned end. Raises InvalidRequest for an end that has passed."""
    if planned.until is not None and planned.until <= now:
        raise InvalidRequest("until", "has passed.", "Name a time that is still to come, or none.")
    values = {"reason": planned.reason, "until": planned.until, "by": by}
    if not insert_once(connection, maintenance, {"id": ONLY, "since": now, **values}):
        connection.execute(sa.update(maintenance).values(values))
    audit.append(
        connection,
        at=now,
        actor=by,
        action="maintenance.begin",
        subject="platform",
        reason=planned.reason,
        until=planned.until.isoformat() if planned.until else None,
    )
    found = current(connection)
    assert found is not None
    return found


def end(connection: sa.Connection, *, by: str, now: datetime) -> None:
    """Raises Conflict when none goes on."""
    if connection.execute(sa.delete(maintenance)).rowcount != 1:
        raise Conflict("maintenance", "none goes on.", "Nothing is refused.")
    audit.append(connection, at=now, actor=by, action="maintenance.end", subject="platform")
