"""Scrambled folders that people sign for: the offer, signatures, archives in parts, who took them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

STATES = "'waiting', 'signed', 'attached', 'refused', 'withdrawn', 'expired'"
OPEN = "state IN ('waiting', 'signed', 'attached')"


def upgrade() -> None:
    op.create_table(
        "scrambles",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("dataset_id", sa.String(length=36), nullable=False),
        sa.Column("offered_by", sa.String(length=63), nullable=False),
        sa.Column("offered_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("offer", sa.JSON(), nullable=False),
        sa.Column("expires", sa.Date(), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("moved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("size", sa.Integer(), nullable=True),
        sa.CheckConstraint(f"state IN ({STATES})", name=op.f("ck_scrambles_state_known")),
        sa.ForeignKeyConstraint(["dataset_id"], ["datasets.id"], name=op.f("fk_scrambles_dataset_id")),
        sa.ForeignKeyConstraint(["offered_by"], ["users.name"], name=op.f("fk_scrambles_offered_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scrambles")),
    )
    op.create_index(
        "uq_scrambles_open",
        "scrambles",
        ["dataset_id"],
        unique=True,
        sqlite_where=sa.text(OPEN),
        postgresql_where=sa.text(OPEN),
    )
    op.create_index("ix_scrambles_state_expires", "scrambles", ["state", "expires"])
    _of_a_scramble(
        "scramble_signatures",
        "signer",
        sa.Column("signs", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(length=1000), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    _of_a_scramble(
        "scramble_takers",
        "taker",
        sa.Column("terms", sa.String(length=64), nullable=False),
        sa.Column("first_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_table(
        "scramble_parts",
        sa.Column("scramble_id", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["scramble_id"], ["scrambles.id"], name=op.f("fk_scramble_parts_scramble_id")
        ),
        sa.PrimaryKeyConstraint("scramble_id", "number", name=op.f("pk_scramble_parts")),
    )


def _of_a_scramble(name: str, who: str, *columns: sa.Column[object]) -> None:
    """One row for each person who did something about a folder."""
    op.create_table(
        name,
        sa.Column("scramble_id", sa.String(length=64), nullable=False),
        sa.Column(who, sa.String(length=63), nullable=False),
        *columns,
        sa.ForeignKeyConstraint(["scramble_id"], ["scrambles.id"], name=op.f(f"fk_{name}_scramble_id")),
        sa.ForeignKeyConstraint([who], ["users.name"], name=op.f(f"fk_{name}_{who}")),
        sa.PrimaryKeyConstraint("scramble_id", who, name=op.f(f"pk_{name}")),
    )
