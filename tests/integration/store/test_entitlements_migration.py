"""People of an identity provider who came before its word had an end keep what they hold for a while."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config

from store.account_tables import identities
from store.database import Database

MADE = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
A_PERSON = "INSERT INTO users (name, role, token_id, token_hash, created_at) VALUES"
BEFORE = (
    f"{A_PERSON} ('ada', 'data_user', 't', 'h', :now)",
    f"{A_PERSON} ('local', 'data_user', 'u', 'h', :now)",
    "INSERT INTO identities (issuer, subject, name, created_at) VALUES ('https://idp', 's-1', 'ada', :now)",
)


@pytest.fixture(params=["sqlite", "postgresql"])
def carried(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Database]:
    if request.param == "sqlite":
        database = Database(f"sqlite:///{tmp_path / 'before.db'}")
    else:
        database = Database(request.getfixturevalue("postgresql").fresh(template="template0"))
    with database.engine.connect() as connection:
        config = Config()
        config.set_main_option("script_location", "store:migrations")
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.upgrade(config, "0012")
    with database.transaction() as connection:
        for statement in BEFORE:
            connection.execute(sa.text(statement), {"now": MADE.isoformat()})
    database.migrate()
    yield database
    database.close()


def test_identities_keep_what_they_hold_for_thirty_days(carried: Database):
    now = datetime.now(UTC)
    with carried.reading() as connection:
        kept = connection.execute(sa.select(identities)).one()
    assert kept.heard_at == kept.created_at
    assert timedelta(days=29) < kept.counts_until - now <= timedelta(days=30)
