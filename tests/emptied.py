"""A used database made as new: what tests wrote is deleted, some ten times quicker than another copy."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

LEAVE_S = 0.2
_CLIENTS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
# any change of the schema, a trigger's state included, writes a row of one of these
_CATALOGUES = (
    "pg_class",
    "pg_attribute",
    "pg_trigger",
    "pg_constraint",
    "pg_index",
    "pg_proc",
    "pg_namespace",
)
_FORM = " UNION ALL ".join(
    f"SELECT '{name}', count(*), max(xmin::text::bigint) FROM {name}" for name in _CATALOGUES
)
_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
_USED = f"{_TABLES} AND pg_relation_size(oid) > 0"
_SEQUENCES = (
    "SELECT sequencename, coalesce(last_value, start_value), last_value IS NOT NULL FROM pg_sequences"
)
# as text, whatever the types of the columns
_INSERT = sql.SQL("INSERT INTO {table} SELECT (line::{table}).* FROM unnest(%s::text[]) AS line")


@dataclass(frozen=True)
class AsNew:
    """What an unused database holds: the form of its tables, and rows that the migrations wrote."""

    form: list[tuple[Any, ...]]
    rows: dict[str, list[str]]
    numbers: list[tuple[Any, ...]]

    @classmethod
    def of(cls, place: str) -> AsNew:
        """`place`: how psycopg reaches a database that is new."""
        with psycopg.connect(place) as connection:
            found = {name: _all(connection, name) for (name,) in connection.execute(_TABLES).fetchall()}
            rows = {name: each for name, each in found.items() if each}
            return cls(connection.execute(_FORM).fetchall(), rows, connection.execute(_SEQUENCES).fetchall())

    def restore(self, place: str) -> bool:
        """False where it cannot be as it was: somebody is still connected, or its form has changed."""
        with psycopg.connect(place) as connection:
            if not _is_alone(connection) or connection.execute(_FORM).fetchall() != self.form:
                return False
            # no trigger refuses to delete, and no key says in which order
            connection.execute("SET session_replication_role = replica")
            for (name,) in connection.execute(_USED).fetchall():
                connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))
            for name, rows in self.rows.items():
                connection.execute(_INSERT.format(table=sql.Identifier(name)), [rows])
            for number in self.numbers:
                connection.execute("SELECT setval(quote_ident(%s)::regclass, %s, %s)", number)
        return True


def _all(connection: psycopg.Connection[Any], table: str) -> list[str]:
    found = connection.execute(sql.SQL("SELECT line::text FROM {} AS line").format(sql.Identifier(table)))
    return [line for (line,) in found.fetchall()]


def _is_alone(connection: psycopg.Connection[Any]) -> bool:
    """A connection that was closed a moment ago may still have a process; one that stays is somebody's."""
    deadline = time.monotonic() + LEAVE_S
    while connection.execute(_CLIENTS).fetchall() != [(0,)]:
        connection.rollback()  # within a transaction the statistics stand still
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
