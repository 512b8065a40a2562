"""A used database made as new: what tests wrote is deleted, some twenty times quicker than another copy."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql
from waiting import let_pass

_OTHERS = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
AND pid <> ALL (%s)
"""
# any change of the schema, a trigger's state included, writes or removes a row of one of these. What came
# with the server has smaller numbers
_CATALOGUES = {
    "pg_class": "oid",
    "pg_attribute": "attrelid",
    "pg_attrdef": "oid",
    "pg_trigger": "oid",
    "pg_constraint": "oid",
    "pg_index": "indexrelid",
    "pg_proc": "oid",
}
_OWN = 16_384
_FORM = " UNION ALL ".join(
    [
        *(
            f"SELECT '{name}', count(*), max(xmin::text::bigint) FROM {name} WHERE {key} >= {_OWN}"
            for name, key in _CATALOGUES.items()
        ),
        "SELECT 'pg_namespace', count(*), max(xmin::text::bigint) FROM pg_namespace WHERE nspname !~ '^pg_'",
    ]
)
_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
_SEQUENCES = (
    "SELECT sequencename, coalesce(last_value, start_value), last_value IS NOT NULL FROM pg_sequences"
)
_LOOKS = 40


@dataclass(frozen=True)
class AsNew:
    """What an unused database holds: the form of its tables, and how to have its rows and no others."""

    form: list[tuple[Any, ...]]
    script: str

    @classmethod
    def of(cls, place: str) -> AsNew:
        """`place`: how psycopg reaches a database that is new."""
        with psycopg.connect(place) as connection:
            form = connection.execute(_FORM).fetchall()
            return cls(form, sql.SQL("; ").join(_steps(connection)).as_string(connection))

    def restore(self, connection: psycopg.Connection[Any], *, ours: Collection[int] = ()) -> bool:
        """False where it cannot be as it was: somebody is still connected, or its form has changed.

        `ours`: the server's processes of connections that stay and have nothing in hand.
        """
        if not _is_alone(connection, ours) or connection.execute(_FORM).fetchall() != self.form:
            return False
        connection.execute(self.script)  # sent at once, so it is one transaction
        return True


def _steps(connection: psycopg.Connection[Any]) -> list[sql.Composable]:
    # no trigger refuses to delete, and no key says in which order
    steps: list[sql.Composable] = [sql.SQL("SET LOCAL session_replication_role = replica")]
    tables = [name for (name,) in connection.execute(_TABLES).fetchall()]
    steps += [sql.SQL("DELETE FROM {}").format(sql.Identifier(name)) for name in tables]
    for name in tables:
        found = connection.execute(sql.SQL("SELECT line::text FROM {} AS line").format(sql.Identifier(name)))
        if rows := [line for (line,) in found.fetchall()]:
            # as text, whatever the types of the columns
            steps.append(
                sql.SQL(
                    "INSERT INTO {table} SELECT (line::{table}).* FROM unnest({rows}::text[]) AS line"
                ).format(table=sql.Identifier(name), rows=sql.Literal(rows))
            )
    for name, at, is_used in connection.execute(_SEQUENCES).fetchall():
        place = sql.Literal(sql.Identifier(name).as_string(connection))
        steps.append(sql.SQL("SELECT setval({}, {}, {})").format(place, at, is_used))
    return steps


def _is_alone(connection: psycopg.Connection[Any], ours: Collection[int]) -> bool:
    """A connection that was closed a moment ago may still have a process; one that stays is somebody's.

    Nothing depends on how long it is waited: who is taken for somebody costs the next test another copy.
    """
    for _ in range(_LOOKS):
        if connection.execute(_OTHERS, [list(ours)]).fetchall() == [(0,)]:
            return True
        let_pass(0.005, because="the server's processes end after their connections")
    return False
