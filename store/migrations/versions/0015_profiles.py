"""Profiles that the worker zone makes, sealed; and public parts of twins' reports."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "profiles",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("owner", sa.String(length=63), nullable=False),
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("delivery", sa.String(length=36), nullable=False),
        sa.Column("key", sa.String(length=44), nullable=False),
        sa.Column("people", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("problem", sa.String(length=20), nullable=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "state IN ('WAITING', 'READING', 'SEALED', 'FAILED')", name=op.f("ck_profiles_state_known")
        ),
        sa.CheckConstraint(
            "(state = 'SEALED') = (sealed IS NOT NULL)", name=op.f("ck_profiles_sealed_or_not")
        ),
        sa.CheckConstraint(
            "(state = 'FAILED') = (problem IS NOT NULL)", name=op.f("ck_profiles_failed_or_not")
        ),
        sa.ForeignKeyConstraint(["owner"], ["users.name"], name=op.f("fk_profiles_owner")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_profiles")),
    )
    op.create_index("ix_profiles_owner_created_at", "profiles", ["owner", "created_at"])
    op.create_index("ix_profiles_state_due_at", "profiles", ["state", "due_at"])
    op.create_index("ix_profiles_delivery", "profiles", ["delivery"])
    op.create_table(
        "twin_reports",
        sa.Column("dataset_id", sa.String(length=36), nullable=False),
        sa.Column("page", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.String(length=71), nullable=False),
        sa.Column("put_by", sa.String(length=63), nullable=False),
        sa.Column("put_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_twin_reports_dataset_id")),
        sa.ForeignKeyConstraint(["put_by"], ["users.name"], name=op.f("fk_twin_reports_put_by")),
        sa.PrimaryKeyConstraint("dataset_id", name=op.f("pk_twin_reports")),
    )
