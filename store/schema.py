"""Whether the tables of a database have the form that this version needs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sqlalchemy as sa
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory


@dataclass(frozen=True)
class Schema:
    """The numbers of the newest migration: of the database (None: it has no tables), and of this version."""

    found: str | None
    needed: str

    @property
    def fits(self) -> bool:
        return self.found == self.needed


def schema(connection: sa.Connection) -> Schema:
    return Schema(MigrationContext.configure(connection).get_current_revision(), _newest())


@cache
def _newest() -> str:
    config = Config()
    config.set_main_option("script_location", "store:migrations")
    config.set_main_option("path_separator", "os")
    found = ScriptDirectory.from_config(config).get_current_head()
    assert found is not None
    return found
