"""Policies as versions: their table. Triggers in the migration make it append-only."""

from __future__ import annotations

import sqlalchemy as sa

from store.tables import Moment, metadata

policies = sa.Table(
    "policies",
    metadata,
    # of the data set, whatever its version
    sa.Column("name", sa.String(63), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("body", sa.JSON, nullable=False),
    sa.Column("changed_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("at", Moment, nullable=False),
    sa.Column("reason", sa.String(1000), nullable=False),
    sa.CheckConstraint("number >= 1", name="counted"),
)
