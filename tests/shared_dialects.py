"""Engines of one process learn once how a statement is written as SQL, and what a server can do.

Almost every test has a database of its own, and so does every gateway and worker zone that a test makes:
their engines would write each statement as SQL anew, which takes longer than to run it. A gateway of
production does so once in weeks. No connection, no pool and no listener is shared, and no test can tell.
"""

from __future__ import annotations

from typing import Any, ClassVar

import sqlalchemy as sa
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

STATEMENTS = 5_000


class _Shared:
    """There is one of each class and set of options; an engine that asks for another one gets that."""

    _made: ClassVar[dict[Any, Any]] = {}

    def __new__(cls, **options: Any) -> Any:
        key = (cls, *sorted(options.items(), key=lambda option: option[0]))
        if key not in cls._made:
            cls._made[key] = super().__new__(cls)
        return cls._made[key]

    def __init__(self, **options: Any) -> None:
        if not hasattr(self, "statements"):
            super().__init__(**options)
            self.statements: LRUCache[Any, Any] = LRUCache(STATEMENTS)
            self._has_asked = False

    def initialize(self, connection: sa.Connection) -> None:
        """An engine asks this of its first connection: version, encoding, schema. It is the same server."""
        if not self._has_asked:
            super().initialize(connection)  # type: ignore[misc]
            self._has_asked = True

    @classmethod
    def engine_created(cls, engine: sa.Engine) -> None:
        engine.update_execution_options(compiled_cache=engine.dialect.statements)  # type: ignore[attr-defined]


class SharedSQLite(_Shared, SQLiteDialect_pysqlite):
    supports_statement_cache = True


class SharedPostgreSQL(_Shared, PGDialect_psycopg):
    supports_statement_cache = True


def share_dialects() -> None:
    """From now on, for every engine that is made in this process."""
    registry.register("sqlite", __name__, SharedSQLite.__name__)
    registry.register("postgresql.psycopg", __name__, SharedPostgreSQL.__name__)
