"""Databases that a version before left behind, brought to this version's form once for a whole file."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from services import PostgreSQL
from sqlalchemy.engine import make_url

from store.database import Database

Fill = Callable[[sa.Connection], None]
Brought = Callable[[str, str, Fill], Any]


def bring(url: str, revision: str, fill: Fill) -> None:
    """The tables of this revision, its rows, and then every migration after it."""
    database = Database(url)
    with database.engine.connect() as connection:
        config = Config()
        config.set_main_option("script_location", "store:migrations")
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    with database.transaction() as connection:
        fill(connection)
    database.migrate()
    database.close()


@pytest.fixture(scope="session")
def brought_before() -> dict[tuple[str, str, Fill], str]:
    """Where what was brought lies: kind of database, revision and rows."""
    return {}


@pytest.fixture
def brought(
    request: pytest.FixtureRequest,
    brought_before: dict[tuple[str, str, Fill], str],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Brought:
    """A copy for this test alone, of what was at `revision` and held what `fill` wrote."""

    @contextmanager
    def of(kind: str, revision: str, fill: Fill) -> Iterator[Database]:
        server: PostgreSQL | None = request.getfixturevalue("postgresql") if kind == "postgresql" else None
        key = (kind, revision, fill)
        if key not in brought_before:
            older = tmp_path_factory.mktemp("older") / "dpgate.db"
            url = server.fresh(template="template0") if server else f"sqlite:///{older}"
            bring(url, revision, fill)
            brought_before[key] = url
        made = str(make_url(brought_before[key]).database)
        own = server.fresh(template=made) if server else f"sqlite:///{shutil.copy(made, tmp_path / 'own.db')}"
        database = Database(own)
        yield database
        database.close()
        if server:
            server.give_back(own)

    return of
