"""What was asked to be erased, and the zone's signed word that it was."""

from __future__ import annotations

import sqlalchemy as sa

from store.tables import Moment, metadata

erasures = sa.Table(
    "erasures",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("name", sa.String(63), nullable=False),
    sa.Column("asked_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("asked_at", Moment, nullable=False),
    sa.Column("done_at", Moment),
    # by the worker zone, for what it waits: a name of Held
    sa.Column("held", sa.String(20)),
    sa.Column("record", sa.JSON(none_as_null=True)),
)
sa.Index("ix_erasures_name", erasures.c.name)
