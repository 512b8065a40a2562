"""Maintenance, as every route and every page meets it."""

from __future__ import annotations

from datetime import UTC, datetime

from domain.errors import UnderMaintenance
from domain.maintenance import Maintenance, waits
from domain.permissions import Permission
from store import maintenance
from store.database import Database


def check_goes_on(database: Database, permission: Permission, method: str) -> None:
    """Raises UnderMaintenance for what waits until maintenance has ended."""
    if not waits(permission, method):
        return
    now = datetime.now(UTC)
    found = current(database)
    if found is not None:
        raise UnderMaintenance(
            f"nothing new is taken now: {found.reason.rstrip('.')}.",
            f"{planned_end(found)} Reading goes on; nothing was changed and nothing charged.",
            retry_after_s=found.retry_after_s(now),
        )


def current(database: Database) -> Maintenance | None:
    with database.reading() as connection:
        return maintenance.current(connection)


def planned_end(found: Maintenance) -> str:
    """A sentence; times of day in UTC, as everywhere."""
    if found.until is None:
        return "Try again later."
    until = found.until.astimezone(UTC)
    return f"It is planned until {until.day} {until:%B %Y, %H:%M} UTC."
