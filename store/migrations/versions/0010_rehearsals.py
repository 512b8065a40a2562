"""Rehearsals on the twin, and drafts of jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "rehearsals",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("author", sa.String(length=63), nullable=False),
        sa.Column("dataset_id", sa.String(length=36), nullable=False),
        sa.Column("pipeline_digest", sa.String(length=71), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("image_digest", sa.String(length=71), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("runs", sa.JSON(), nullable=True),
        sa.Column("preview", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "state IN ('QUEUED', 'RUNNING', 'DONE', 'FAILED')", name=op.f("ck_rehearsals_state_known")
        ),
        sa.CheckConstraint("done >= 0 AND done <= total", name=op.f("ck_rehearsals_within_total")),
        sa.ForeignKeyConstraint(["author"], ["users.name"], name=op.f("fk_rehearsals_author")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_rehearsals_dataset_id")),
        sa.ForeignKeyConstraint(["image_digest"], ["images.digest"], name=op.f("fk_rehearsals_image_digest")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rehearsals")),
    )
    op.create_index("ix_rehearsals_author_created_at", "rehearsals", ["author", "created_at"])
    op.create_index("ix_rehearsals_state_due_at", "rehearsals", ["state", "due_at"])
    op.create_table(
        "job_drafts",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("author", sa.String(length=63), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["author"], ["users.name"], name=op.f("fk_job_drafts_author")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job_drafts")),
    )
    op.create_index("ix_job_drafts_author_updated_at", "job_drafts", ["author", "updated_at"])
