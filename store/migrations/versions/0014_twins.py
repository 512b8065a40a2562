"""Counts that twins are drawn from, and which of them a rehearsal ran on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.create_table(
        "twin_counts",
        sa.Column("job_id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=36), nullable=False),
        sa.Column("needed", sa.Integer(), nullable=True),
        sa.Column("approved", sa.Boolean(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "(approved IS NULL) = (decided_at IS NULL)", name=op.f("ck_twin_counts_decided_at_once")
        ),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name=op.f("fk_twin_counts_job_id")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_twin_counts_dataset_id")),
        sa.PrimaryKeyConstraint("job_id", name=op.f("pk_twin_counts")),
    )
    op.create_index("ix_twin_counts_dataset_id", "twin_counts", ["dataset_id"])
    op.add_column("rehearsals", sa.Column("counts", sa.String(length=64), nullable=True))
