"""The tables of the first version, the head of the audit trail, and what nobody may change.

Its number is that of the last of the steps that led to this form before the first version was out: a
database that took them all is at it, and goes on.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from store.migrations.first_form import metadata

revision = "0039"
down_revision = None

APPEND_ONLY = ("audit_events", "comments", "ledger_entries", "policies", "releases", "votes")


def upgrade() -> None:
    metadata.create_all(op.get_bind(), checkfirst=False)
    op.execute(
        sa.text("INSERT INTO audit_head (id, number, hash) VALUES (1, 0, :hash)").bindparams(hash="0" * 64)
    )
    if op.get_bind().dialect.name == "sqlite":
        forbid_changes_sqlite()
    else:
        forbid_changes_postgresql()


def forbid_changes_sqlite() -> None:
    for table in APPEND_ONLY:
        for action in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{action.lower()} BEFORE {action} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )


def forbid_changes_postgresql() -> None:
    op.execute(
        "CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    for table in APPEND_ONLY:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
