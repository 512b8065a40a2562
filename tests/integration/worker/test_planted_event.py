"""An event of the trail that was planted ahead of its head stops all writes; what the page on operating says
takes it away."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa

from store import audit
from store.database import Database
from store.tables import audit_events

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "operate.md"


def write(database: Database) -> None:
    with database.transaction() as connection:
        audit.append(connection, at=NOW, actor="host", action="ledger.catch_up", subject="ledger")


def test_the_remedy_of_the_page(postgresql_url: str) -> None:
    database = Database(postgresql_url)
    try:
        write(database)
        with database.transaction() as connection:
            row = dict(connection.execute(sa.select(audit_events)).mappings().one())
            connection.execute(sa.insert(audit_events), {**row, "number": 2, "hash": "planted"})
        with pytest.raises(sa.exc.IntegrityError):
            write(database)
        with database.reading() as connection:
            assert audit.verify(connection).broken_at == 2
        (remedy,) = re.findall(r"```sql\n(BEGIN;.*?)```", PAGE.read_text(), flags=re.DOTALL)
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            for statement in remedy.strip().split("\n"):
                connection.exec_driver_sql(statement)
        write(database)
        with database.reading() as connection:
            verdict = audit.verify(connection)
        assert (verdict.intact, verdict.events) == (True, 2)
        with database.transaction() as connection:
            connection.execute(sa.text("UPDATE audit_head SET number = 1, hash = 'moved'"))
        with pytest.raises(sa.exc.IntegrityError):
            write(database)
        with database.reading() as connection:
            named = audit.verify(connection).broken_at
        assert named == 3
        (back,) = re.findall(r"`(UPDATE audit_head [^`]*)`", PAGE.read_text())
        with database.transaction() as connection:
            connection.execute(sa.text(back.replace("= N", f"= {named - 1}")))
        write(database)
        with database.reading() as connection:
            assert audit.verify(connection).intact
        with pytest.raises(sa.exc.DatabaseError, match="append-only"), database.transaction() as connection:
            connection.execute(sa.delete(audit_events))
    finally:
        database.close()
