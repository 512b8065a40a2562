"""Whether a transaction waits for another one, asked of the database where it can say so."""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from waiting import let_pass, wait_until

from store.database import Database

_WAITING = sa.text(
    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
)


def wait_until_another_waits(database: Database, *, unless: Callable[[], object]) -> None:
    """Until another transaction on this database stands in line. `unless`: it has gone ahead."""
    if database.is_sqlite:
        let_pass(0.1, because="SQLite tells nobody who waits for the end of a transaction")
        assert not unless(), "nothing kept it from going ahead"
        return

    def waits() -> bool:
        with database.reading() as connection:
            return bool(connection.execute(_WAITING).scalar_one())

    wait_until(waits, unless=unless, said="the other transaction's wait for a lock")
