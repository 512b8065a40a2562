"""Drafts of registrations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.create_table(
        "registration_drafts",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("owner", sa.String(length=63), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("content", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["owner"], ["users.name"], name=op.f("fk_registration_drafts_owner")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_registration_drafts")),
    )
    op.create_index("ix_registration_drafts_owner", "registration_drafts", ["owner"])
