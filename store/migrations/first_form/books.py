"""Tables of budgets, policies and the audit trail."""

from __future__ import annotations

import sqlalchemy as sa

from store.migrations.first_form.kinds import MOMENT, SEQUENCE, metadata, one_of

sa.Table(
    "cohorts",
    metadata,
    sa.Column("id", sa.String(63), primary_key=True),
    sa.Column("owner", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("created_at", MOMENT, nullable=False),
)

sa.Table(
    "accounts",
    metadata,
    sa.Column("id", sa.Integer(), primary_key=True),
    sa.Column("cohort", sa.String(63), nullable=False),
    sa.Column("kind", sa.String(10), nullable=False),
    sa.Column("holder", sa.String(63), nullable=False),
    sa.Column("currency", sa.String(10), nullable=False),
    sa.Column("cap", sa.BigInteger(), nullable=False),
    sa.Column("reserved", sa.BigInteger(), nullable=False),
    sa.Column("spent", sa.BigInteger(), nullable=False),
    one_of("currency", "epsilon delta rho nats releases"),
    one_of("kind", "cohort project user"),
    sa.CheckConstraint("reserved >= 0 AND spent >= 0", name="not_negative"),
    sa.CheckConstraint("reserved + spent <= cap", name="within_cap"),
    sa.UniqueConstraint("cohort", "kind", "holder", "currency"),
)

sa.Table(
    "ledger_entries",
    metadata,
    sa.Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id"), nullable=False),
    sa.Column("job_id", sa.String(64), nullable=False),
    sa.Column("action", sa.String(10), nullable=False),
    sa.Column("amount", sa.BigInteger(), nullable=False),
    sa.Column("at", MOMENT, nullable=False),
    one_of("action", "reserve charge refund"),
    sa.CheckConstraint("amount > 0", name="positive"),
    sa.UniqueConstraint("account_id", "job_id", "action"),
    sa.Index("ix_ledger_entries_job_id", "job_id"),
    sa.Index(
        "uq_ledger_entries_settled",
        "account_id",
        "job_id",
        unique=True,
        sqlite_where=sa.text("action != 'reserve'"),
        postgresql_where=sa.text("action != 'reserve'"),
    ),
    sqlite_autoincrement=True,
)

sa.Table(
    "low_accounts",
    metadata,
    sa.Column("account_id", sa.Integer(), sa.ForeignKey("accounts.id"), primary_key=True),
    sa.Column("at", MOMENT, nullable=False),
)

sa.Table(
    "policies",
    metadata,
    sa.Column("name", sa.String(63), primary_key=True),
    sa.Column("number", sa.Integer(), primary_key=True, autoincrement=False),
    sa.Column("body", sa.JSON(), nullable=False),
    sa.Column("changed_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("at", MOMENT, nullable=False),
    sa.Column("reason", sa.String(1000), nullable=False),
    sa.CheckConstraint("number >= 1", name="counted"),
)

sa.Table(
    "pac_states",
    metadata,
    sa.Column("cohort", sa.String(63), sa.ForeignKey("cohorts.id"), primary_key=True),
    sa.Column("sealed", sa.LargeBinary(), nullable=False),
)

sa.Table(
    "audit_events",
    metadata,
    sa.Column("number", sa.BigInteger(), primary_key=True, autoincrement=False),
    sa.Column("at", MOMENT, nullable=False),
    sa.Column("actor", sa.String(80), nullable=False),
    sa.Column("action", sa.String(40), nullable=False),
    sa.Column("subject", sa.String(80), nullable=False),
    sa.Column("details", sa.JSON(), nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False, unique=True),
)

sa.Table(
    "audit_head",
    metadata,
    sa.Column("id", sa.Integer(), primary_key=True),
    sa.Column("number", sa.BigInteger(), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    sa.CheckConstraint("id = 1", name="single"),
)
