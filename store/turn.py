"""One writer at a time: whoever changes the ledger or the audit trail waits in line and then has the turn.

Both are chains that every writer extends, so their rows can only be changed one after the other. SQLite has
a single writer anyway. On PostgreSQL an advisory lock makes the line first come, first served: clients that
wait for a hot row itself are all woken by each commit and race for it, which gets slower with every client.
The turn ends with the transaction. Take it as late as possible, and change no other contended row after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa

from domain.errors import PlatformError
from store.tables import audit_head

_HEAD = sa.select(audit_head.c.number, audit_head.c.hash).where(audit_head.c.id == 1)
# two statements in one round trip: the second one sees what the writer before us has committed. The number is
# the lock's name: "dpgate" in ASCII
_WAIT_AND_LOOK = (
    "SELECT pg_advisory_xact_lock(110433933554789); SELECT number, hash FROM audit_head WHERE id = 1"
)
_INFO = "dpgate turn"


@dataclass
class Turn:
    """The right to write, until the transaction ends, and the newest audit event so far."""

    transaction: sa.engine.RootTransaction | None
    number: int
    hash: str


def take(connection: sa.Connection) -> Turn:
    """Wait for the turn; at once when this transaction has it."""
    held = connection.info.get(_INFO)
    transaction = connection.get_transaction()
    if isinstance(held, Turn) and held.transaction is transaction:
        return held
    head = _wait_and_look(connection)
    if head is None:
        raise PlatformError("the audit trail has no head; run the migrations")
    turn = Turn(transaction, *head)
    connection.info[_INFO] = turn
    return turn


def _wait_and_look(connection: sa.Connection) -> tuple[int, str] | None:
    if connection.dialect.name == "sqlite":
        found = connection.execute(_HEAD).one_or_none()
        return None if found is None else (found.number, found.hash)
    result = connection.exec_driver_sql(_WAIT_AND_LOOK)
    cursor = result.cursor
    assert cursor is not None
    cursor.nextset()
    row = cursor.fetchone()
    result.close()
    return None if row is None else (row[0], row[1])


class Change:
    """Rows updated, and one row inserted for each of them; on PostgreSQL in one statement.

    `own` says what is inserted of the updated row itself, `row` what is the same for all of them. Compiled
    once, so make it at import.
    """

    def __init__(
        self,
        update: sa.Update,
        *,
        key: sa.Column[int],
        into: sa.Table,
        row: Mapping[str, sa.ColumnElement[Any]],
        own: Mapping[str, sa.ColumnElement[Any]] = MappingProxyType({}),
    ) -> None:
        names = [*own, *row]
        labelled = (value.label(name) for name, value in own.items())
        updated = update.returning(key, *labelled).cte("updated")
        both = sa.select(*(updated.c[name] for name in own), *row.values()).select_from(updated)
        alone = sa.select(*own.values(), *row.values()).where(
            key.in_(sa.bindparam("updated", expanding=True))
        )
        self._both = sa.insert(into).from_select(names, both).execution_options(preserve_rowcount=True)
        self._update = update.returning(key)
        self._insert = sa.insert(into).from_select(names, alone)

    def execute(self, connection: sa.Connection, **values: object) -> int:
        """The number of rows updated."""
        if connection.dialect.name != "sqlite":
            return connection.execute(self._both, values).rowcount
        updated = connection.execute(self._update, values).scalars().all()
        connection.execute(self._insert, {**values, "updated": updated})
        return len(updated)
