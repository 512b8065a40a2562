"""Accounts count currencies; jobs may have no image and may be for once; PAC keeps a state for each cohort."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

REASONS = (
    "reason IN ('IMAGE_CHANGED', 'COMMAND_MISSING', 'SNAPSHOT_MISSING', 'SANDBOX_UNAVAILABLE', "
    "'NOT_SYNTHETIC', 'TIMING_NOT_PADDED', 'WORKERS_LOST')"
)
STATES = (
    "state IN ('SUBMITTED', 'QUEUED', 'PREPARING', 'RUNNING', 'AGGREGATING', 'IN_REVIEW', 'RELEASED', "
    "'WITHHELD', 'REJECTED', 'CANCELLED', 'ERRORED')"
)
CURRENCIES = "currency IN ('epsilon', 'delta', 'rho', 'nats', 'releases')"
ACCOUNTS = "id, cohort, kind, holder, cap, reserved, spent"
JOBS = (
    "id, dataset_id, author, project, request, image_digest, question, state, attempts, slots, answered_by, "
    "reason, created_at, moved_at, charged_at, due_at, publish_at, nudged_at"
)


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        rebuild_sqlite()
    else:
        alter_postgresql()
    op.execute("ALTER TABLE ledger_entries RENAME COLUMN micro_epsilon TO amount")
    op.execute("ALTER TABLE run_outputs RENAME COLUMN block TO run")
    op.create_table(
        "pac_states",
        sa.Column("cohort", sa.String(length=63), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["cohort"], ["cohorts.id"], name=op.f("fk_pac_states_cohort")),
        sa.PrimaryKeyConstraint("cohort", name=op.f("pk_pac_states")),
    )
    gather_mechanisms()


def alter_postgresql() -> None:
    # what was counted so far was epsilon
    op.add_column("accounts", sa.Column("currency", sa.String(10), nullable=False, server_default="epsilon"))
    op.alter_column("accounts", "currency", server_default=None)
    op.create_check_constraint(op.f("ck_accounts_currency_known"), "accounts", CURRENCIES)
    op.drop_constraint(op.f("uq_accounts_cohort_kind_holder"), "accounts")
    op.create_unique_constraint(
        op.f("uq_accounts_cohort_kind_holder_currency"), "accounts", ["cohort", "kind", "holder", "currency"]
    )
    op.alter_column("jobs", "image_digest", nullable=True)
    op.add_column("jobs", sa.Column("once", sa.String(71), nullable=True))
    op.create_unique_constraint(op.f("uq_jobs_once"), "jobs", ["once"])


def rebuild_sqlite() -> None:
    """SQLite cannot change a constraint: a new table takes the old one's place, with foreign keys off."""
    create_accounts("accounts_new")
    op.execute(
        f"INSERT INTO accounts_new ({ACCOUNTS}, currency) SELECT {ACCOUNTS}, 'epsilon' FROM accounts"  # noqa: S608 - ours
    )
    create_jobs("jobs_new")
    op.execute(f"INSERT INTO jobs_new ({JOBS}) SELECT {JOBS} FROM jobs")  # noqa: S608 - ours
    for table in ("accounts", "jobs"):
        op.drop_table(table)
        op.rename_table(f"{table}_new", table)
    op.create_index("ix_jobs_question", "jobs", ["question"], unique=False)
    op.create_index("ix_jobs_state", "jobs", ["state"], unique=False)
    if broken := op.get_bind().exec_driver_sql("PRAGMA foreign_key_check").fetchall():
        raise RuntimeError(f"{len(broken)} rows would lead nowhere; nothing was changed")


def gather_mechanisms() -> None:
    """What is asked of the mechanism stood beside the pipeline; now the mechanism holds it."""
    connection = op.get_bind()
    jobs = sa.table("jobs", sa.column("id", sa.String), sa.column("request", sa.JSON))
    for job in connection.execute(sa.select(jobs)).all():
        asked: dict[str, Any] = dict(job.request)
        if "epsilon" in asked:
            name = asked.pop("mechanism", "sample_aggregate")
            kept = {key: asked.pop(key) for key in ("epsilon", "block_size") if key in asked}
            request: dict[str, Any] = {**asked, "mechanism": {"name": name, **kept}}
            connection.execute(sa.update(jobs).where(jobs.c.id == job.id).values(request=request))


def create_accounts(name: str) -> None:
    op.create_table(
        name,
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("cohort", sa.String(length=63), nullable=False),
        sa.Column("kind", sa.String(length=10), nullable=False),
        sa.Column("holder", sa.String(length=63), nullable=False),
        sa.Column("currency", sa.String(length=10), nullable=False),
        sa.Column("cap", sa.BigInteger(), nullable=False),
        sa.Column("reserved", sa.BigInteger(), nullable=False),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("kind IN ('cohort', 'project', 'user')", name=op.f("ck_accounts_kind_known")),
        sa.CheckConstraint(CURRENCIES, name=op.f("ck_accounts_currency_known")),
        sa.CheckConstraint("reserved + spent <= cap", name=op.f("ck_accounts_within_cap")),
        sa.CheckConstraint("reserved >= 0 AND spent >= 0", name=op.f("ck_accounts_not_negative")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint(
            "cohort", "kind", "holder", "currency", name=op.f("uq_accounts_cohort_kind_holder_currency")
        ),
    )


def create_jobs(name: str) -> None:
    op.create_table(
        name,
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=36), nullable=False),
        sa.Column("author", sa.String(length=63), nullable=False),
        sa.Column("project", sa.String(length=63), nullable=True),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("image_digest", sa.String(length=71), nullable=True),
        sa.Column("question", sa.String(length=71), nullable=False),
        sa.Column("once", sa.String(length=71), nullable=True),
        sa.Column("state", sa.String(length=12), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=True),
        sa.Column("answered_by", sa.String(length=64), nullable=True),
        sa.Column("reason", sa.String(length=20), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("charged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("publish_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("nudged_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(REASONS, name=op.f("ck_jobs_reason_known")),
        sa.CheckConstraint(STATES, name=op.f("ck_jobs_state_known")),
        sa.ForeignKeyConstraint(["answered_by"], ["jobs.id"], name=op.f("fk_jobs_answered_by")),
        sa.ForeignKeyConstraint(["author"], ["users.name"], name=op.f("fk_jobs_author")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_jobs_dataset_id")),
        sa.ForeignKeyConstraint(["image_digest"], ["images.digest"], name=op.f("fk_jobs_image_digest")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
        sa.UniqueConstraint("once", name=op.f("uq_jobs_once")),
    )
