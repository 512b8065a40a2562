"""Policies as versions: what each version declared becomes a numbered policy; jobs keep the one of theirs."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

REASONS = (
    "reason IN ('IMAGE_CHANGED', 'COMMAND_MISSING', 'SNAPSHOT_MISSING', 'SANDBOX_UNAVAILABLE', "
    "'NOT_SYNTHETIC', 'TIMING_NOT_PADDED', 'WORKERS_LOST')"
)
STATES = (
    "state IN ('SUBMITTED', 'QUEUED', 'PREPARING', 'RUNNING', 'AGGREGATING', 'IN_REVIEW', 'RELEASED', "
    "'WITHHELD', 'REJECTED', 'CANCELLED', 'ERRORED')"
)
JOBS = (
    "id, dataset_id, author, project, request, image_digest, question, once, state, attempts, slots, "
    "answered_by, reason, created_at, moved_at, charged_at, due_at, publish_at, nudged_at"
)
DATASETS = sa.table(
    "datasets",
    *(sa.column(name) for name in ("id", "name", "version", "owner", "state")),
    sa.column("declaration", sa.JSON),
    sa.column("created_at", sa.DateTime(timezone=True)),
)
JOB_POLICIES = sa.table("jobs", sa.column("dataset_id"), sa.column("policy_number"))


def upgrade() -> None:
    policies = create_policies()
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    if is_sqlite:
        rebuild_jobs()
    else:
        op.add_column("jobs", sa.Column("policy_number", sa.Integer(), nullable=False, server_default="1"))
        op.alter_column("jobs", "policy_number", server_default=None)
    carry_over(policies)
    forbid_changes(is_sqlite=is_sqlite)


def create_policies() -> sa.Table:
    return op.create_table(
        "policies",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.Column("changed_by", sa.String(length=63), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.CheckConstraint("number >= 1", name=op.f("ck_policies_counted")),
        sa.ForeignKeyConstraint(["changed_by"], ["users.name"], name=op.f("fk_policies_changed_by")),
        sa.PrimaryKeyConstraint("name", "number", name=op.f("pk_policies")),
    )


def carry_over(policies: sa.Table) -> None:
    """Versions of a name that follow each other with the same policy share a number. What was refused never
    was in effect, unless nothing else is there."""
    connection = op.get_bind()
    of_name: dict[str, list[Any]] = {}
    for row in connection.execute(sa.select(DATASETS).order_by(DATASETS.c.name, DATASETS.c.version)):
        of_name.setdefault(row.name, []).append(row)
    for name, versions in of_name.items():
        counted = [row for row in versions if row.state != "REFUSED"] or versions
        number, body = 0, None
        for row in counted:
            if row.declaration["policy"] != body:
                number, body = number + 1, row.declaration["policy"]
                values = {"name": name, "number": number, "body": body, "changed_by": row.owner}
                reason = f"declared with version {row.version}"
                connection.execute(sa.insert(policies).values(**values, at=row.created_at, reason=reason))
            of_version = JOB_POLICIES.c.dataset_id == row.id
            connection.execute(sa.update(JOB_POLICIES).where(of_version).values(policy_number=number))


def forbid_changes(*, is_sqlite: bool) -> None:
    if not is_sqlite:
        op.execute(
            "CREATE TRIGGER policies_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON policies "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
        )
        return
    for action in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER policies_no_{action.lower()} BEFORE {action} ON policies "
            "BEGIN SELECT RAISE(ABORT, 'policies is append-only'); END"
        )


def rebuild_jobs() -> None:
    """SQLite cannot add a column that must be given: a new table takes the old one's place."""
    create_jobs("jobs_new")
    op.execute(f"INSERT INTO jobs_new ({JOBS}, policy_number) SELECT {JOBS}, 1 FROM jobs")  # noqa: S608 - ours
    op.drop_table("jobs")
    op.rename_table("jobs_new", "jobs")
    op.create_index("ix_jobs_question", "jobs", ["question"], unique=False)
    op.create_index("ix_jobs_state", "jobs", ["state"], unique=False)
    if broken := op.get_bind().exec_driver_sql("PRAGMA foreign_key_check").fetchall():
        raise RuntimeError(f"{len(broken)} rows would lead nowhere; nothing was changed")


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
        sa.Column("policy_number", sa.Integer(), nullable=False),
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
