"""Images know where they come from and what they were approved for; jobs know three more reasons."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

REASONS = (
    "reason IN ('IMAGE_CHANGED', 'COMMAND_MISSING', 'SNAPSHOT_MISSING', 'SANDBOX_UNAVAILABLE', "
    "'NOT_SYNTHETIC', 'TIMING_NOT_PADDED', 'WORKERS_LOST')"
)
STATES = (
    "state IN ('SUBMITTED', 'QUEUED', 'PREPARING', 'RUNNING', 'AGGREGATING', 'IN_REVIEW', 'RELEASED', "
    "'WITHHELD', 'REJECTED', 'CANCELLED', 'ERRORED')"
)
KINDS, TABLES = "kind IN ('host', 'imported')", "syscalls IN ('strict', 'standard')"
OLD_IMAGES = "digest, name, description, created_at, approved_by, approved_at"
JOBS = (
    "id, dataset_id, author, project, request, image_digest, question, state, attempts, slots, answered_by, "
    "reason, created_at, moved_at, charged_at, due_at, publish_at, nudged_at"
)


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        rebuild_sqlite()
    else:
        alter_postgresql()


def alter_postgresql() -> None:
    for column in new_columns():
        op.add_column("images", column)
    op.execute("UPDATE images SET syscalls = 'strict', warm = true WHERE approved_at IS NOT NULL")
    op.create_check_constraint(op.f("ck_images_kind_known"), "images", KINDS)
    op.create_check_constraint(op.f("ck_images_syscalls_known"), "images", TABLES)
    op.alter_column("images", "kind", server_default=None)
    op.alter_column("images", "warm", server_default=None)
    op.drop_constraint(op.f("ck_jobs_reason_known"), "jobs")
    op.create_check_constraint(op.f("ck_jobs_reason_known"), "jobs", REASONS)


def rebuild_sqlite() -> None:
    """SQLite cannot change a constraint: a new table takes the old one's place, with foreign keys off."""
    create_images("images_new")
    op.execute(
        f"INSERT INTO images_new ({OLD_IMAGES}, kind, syscalls, warm) SELECT {OLD_IMAGES}, 'host', "  # noqa: S608 - ours
        "CASE WHEN approved_at IS NOT NULL THEN 'strict' END, approved_at IS NOT NULL FROM images"
    )
    create_jobs("jobs_new")
    op.execute(f"INSERT INTO jobs_new ({JOBS}) SELECT {JOBS} FROM jobs")  # noqa: S608 - ours
    for table in ("jobs", "images"):
        op.drop_table(table)
        op.rename_table(f"{table}_new", table)
    op.create_index("ix_jobs_question", "jobs", ["question"], unique=False)
    op.create_index("ix_jobs_state", "jobs", ["state"], unique=False)
    if broken := op.get_bind().exec_driver_sql("PRAGMA foreign_key_check").fetchall():
        raise RuntimeError(f"{len(broken)} rows would lead nowhere; nothing was changed")


def new_columns() -> list[sa.Column[object]]:
    return [
        # every image of the foundation was the host's own
        sa.Column("kind", sa.String(length=10), nullable=False, server_default="host"),
        sa.Column("tree_digest", sa.String(length=71), nullable=True),
        sa.Column("source_digest", sa.String(length=71), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("syscalls", sa.String(length=10), nullable=True),
        sa.Column("warm", sa.Boolean(), nullable=False, server_default=sa.false()),
        sa.Column("withdrawn_by", sa.String(length=63), nullable=True),
        sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True),
    ]


def create_images(name: str) -> None:
    columns = new_columns()
    for column in columns:
        column.server_default = None
    op.create_table(
        name,
        sa.Column("digest", sa.String(length=71), nullable=False),
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("approved_by", sa.String(length=63), nullable=True),
        sa.Column("approved_at", sa.DateTime(timezone=True), nullable=True),
        *columns,
        sa.CheckConstraint(KINDS, name=op.f("ck_images_kind_known")),
        sa.CheckConstraint(TABLES, name=op.f("ck_images_syscalls_known")),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_images")),
    )


def create_jobs(name: str) -> None:
    op.create_table(
        name,
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=36), nullable=False),
        sa.Column("author", sa.String(length=63), nullable=False),
        sa.Column("project", sa.String(length=63), nullable=True),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("image_digest", sa.String(length=71), nullable=False),
        sa.Column("question", sa.String(length=71), nullable=False),
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
    )
