"""Notices and their channels."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

# as they were when this was written
KINDS = (
    "job_waits", "job_decided", "job_failed", "release_waits", "release_ready", "twin_waits", "twin_decided",
    "grant_asked", "grant_decided", "budget_low", "comment", "test", "confirmation",
)  # fmt: skip
PROBLEMS = (
    "unreachable", "timeout", "unknown_host", "forbidden_address", "insecure", "refused", "redirect",
    "switched_off", "no_channel", "interrupted", "fault",
)  # fmt: skip


def upgrade() -> None:
    _create_outbox()
    _create_channels()
    op.create_table(
        "low_accounts",
        sa.Column("account_id", sa.Integer(), nullable=False),
        _moment("at", nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_low_accounts_account_id")),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_low_accounts")),
    )


def _create_outbox() -> None:
    op.create_table(
        "notices",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("subject", sa.String(length=80), nullable=False),
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("channel", sa.String(length=10), nullable=False),
        sa.Column("webhook_id", sa.String(length=16), nullable=True),
        sa.Column("facts", sa.JSON(), nullable=False),
        _moment("at", nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        _moment("next_at", nullable=False),
        sa.Column("claim", sa.String(length=36), nullable=True),
        _moment("claimed_until", nullable=True),
        sa.Column("problem", sa.String(length=20), nullable=True),
        _moment("ended_at", nullable=True),
        _one_of("notices", "kind", KINDS),
        _one_of("notices", "channel", ("email", "webhook")),
        _one_of("notices", "state", ("WAITING", "SENT", "DEAD")),
        _one_of("notices", "problem", PROBLEMS),
        sa.ForeignKeyConstraint(["name"], ["users.name"], name=op.f("fk_notices_name")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notices")),
    )
    op.create_index("ix_notices_state_next_at", "notices", ["state", "next_at"], unique=False)
    op.create_index("ix_notices_name", "notices", ["name"], unique=False)


def _create_channels() -> None:
    op.create_table(
        "email_addresses",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("address", sa.String(length=254), nullable=False),
        _moment("set_at", nullable=False),
        _moment("confirmed_at", nullable=True),
        sa.Column("code_hash", sa.String(length=64), nullable=True),
        _moment("code_until", nullable=True),
        sa.ForeignKeyConstraint(["name"], ["users.name"], name=op.f("fk_email_addresses_name")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_email_addresses")),
    )
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("url", sa.String(length=500), nullable=False),
        sa.Column("secret", sa.String(length=80), nullable=False),
        _moment("created_at", nullable=False),
        sa.Column("old_secret", sa.String(length=80), nullable=True),
        _moment("old_until", nullable=True),
        sa.ForeignKeyConstraint(["name"], ["users.name"], name=op.f("fk_webhooks_name")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_index("ix_webhooks_name", "webhooks", ["name"], unique=False)
    op.create_table(
        "muted_notices",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        _one_of("muted_notices", "kind", KINDS),
        sa.ForeignKeyConstraint(["name"], ["users.name"], name=op.f("fk_muted_notices_name")),
        sa.PrimaryKeyConstraint("name", "kind", name=op.f("pk_muted_notices")),
    )


def _moment(name: str, *, nullable: bool) -> sa.Column[object]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _one_of(table: str, column: str, values: tuple[str, ...]) -> sa.CheckConstraint:
    listed = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({listed})", name=op.f(f"ck_{table}_{column}_known"))
