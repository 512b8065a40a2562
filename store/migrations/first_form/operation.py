"""Tables of the platform itself and its workers."""

from __future__ import annotations

import sqlalchemy as sa

from store.migrations.first_form.kinds import MOMENT, metadata

sa.Table(
    "platform_facts",
    metadata,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("value", sa.Text(), nullable=False),
)

sa.Table(
    "workers",
    metadata,
    sa.Column("name", sa.String(63), primary_key=True),
    sa.Column("start", sa.String(36), nullable=False),
    sa.Column("version", sa.String(40), nullable=False),
    sa.Column("python", sa.String(20), nullable=False),
    sa.Column("profile", sa.String(10), nullable=False),
    sa.Column("sandbox", sa.String(20), nullable=False),
    sa.Column("slots", sa.Integer(), nullable=False),
    sa.Column("features", sa.JSON(), nullable=False),
    sa.Column("storage", sa.JSON(), nullable=False),
    sa.Column("kinds", sa.JSON(), nullable=False),
    sa.Column("host", sa.String(64)),
    sa.Column("door", sa.String(64)),
    sa.Column("started_at", MOMENT, nullable=False),
    sa.Column("seen_at", MOMENT, nullable=False),
    sa.Column("skew_s", sa.Float(), nullable=False),
    sa.Column("drain_asked_at", MOMENT),
    sa.Column("drain_asked_by", sa.String(63)),
    sa.Column("drain_ends", sa.Boolean(), nullable=False),
    sa.Column("drained_at", MOMENT),
    sa.Column("ended_at", MOMENT),
)

sa.Table(
    "sweeps",
    metadata,
    sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
    sa.Column("asked_at", MOMENT, nullable=False),
    sa.CheckConstraint("id = 1", name="single"),
)

sa.Table(
    "maintenance",
    metadata,
    sa.Column("id", sa.Integer(), primary_key=True, autoincrement=False),
    sa.Column("reason", sa.String(300), nullable=False),
    sa.Column("since", MOMENT, nullable=False),
    sa.Column("until", MOMENT),
    sa.Column("by", sa.String(63), nullable=False),
    sa.CheckConstraint("id = 1", name="single"),
)
