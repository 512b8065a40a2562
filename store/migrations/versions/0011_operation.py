"""Workers and maintenance."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.create_table(
        "workers",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("start", sa.String(length=36), nullable=False),
        sa.Column("version", sa.String(length=40), nullable=False),
        sa.Column("python", sa.String(length=20), nullable=False),
        sa.Column("profile", sa.String(length=10), nullable=False),
        sa.Column("sandbox", sa.String(length=20), nullable=False),
        sa.Column("slots", sa.Integer(), nullable=False),
        sa.Column("features", sa.JSON(), nullable=False),
        sa.Column("storage", sa.JSON(), nullable=False),
        sa.Column("kinds", sa.JSON(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("skew_s", sa.Float(), nullable=False),
        sa.Column("drain_asked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("drain_asked_by", sa.String(length=63), nullable=True),
        sa.Column("drain_ends", sa.Boolean(), nullable=False),
        sa.Column("drained_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workers")),
    )
    op.create_table(
        "maintenance",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("reason", sa.String(length=300), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("by", sa.String(length=63), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_maintenance_single")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_maintenance")),
    )
