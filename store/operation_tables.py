"""Workers and maintenance: their tables."""

from __future__ import annotations

import sqlalchemy as sa

from store.tables import Moment, metadata

workers = sa.Table(
    "workers",
    metadata,
    sa.Column("name", sa.String(63), primary_key=True),
    # of this start: an older process of the same name finds that it was replaced
    sa.Column("start", sa.String(36), nullable=False),
    sa.Column("version", sa.String(40), nullable=False),
    sa.Column("python", sa.String(20), nullable=False),
    sa.Column("profile", sa.String(10), nullable=False),
    sa.Column("sandbox", sa.String(20), nullable=False),
    sa.Column("slots", sa.Integer, nullable=False),
    # features of isolation by name: is it there?
    sa.Column("features", sa.JSON, nullable=False),
    # classes of size by place; empty until it has looked
    sa.Column("storage", sa.JSON, nullable=False),
    # kinds of work that it takes part in, as far as public states say so
    sa.Column("kinds", sa.JSON, nullable=False),
    # messages that were none of ours, since its start, by why; none until it has said so
    sa.Column("dropped", sa.JSON(none_as_null=True)),
    # where its processes take turns: a digest of the host's boot, and the file that they lock there
    sa.Column("host", sa.String(64)),
    sa.Column("door", sa.String(64)),
    sa.Column("started_at", Moment, nullable=False),
    sa.Column("seen_at", Moment, nullable=False),
    # its clock minus the database's
    sa.Column("skew_s", sa.Float, nullable=False),
    sa.Column("drain_asked_at", Moment),
    sa.Column("drain_asked_by", sa.String(63)),
    # whether its process ends once it is drained
    sa.Column("drain_ends", sa.Boolean, nullable=False),
    sa.Column("drained_at", Moment),
    sa.Column("ended_at", Moment),
)

maintenance = sa.Table(
    "maintenance",
    metadata,
    # a row while it goes on, and never more than one
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("reason", sa.String(300), nullable=False),
    sa.Column("since", Moment, nullable=False),
    sa.Column("until", Moment),
    sa.Column("by", sa.String(63), nullable=False),
    sa.CheckConstraint("id = 1", name="single"),
)

sweeps = sa.Table(
    "sweeps",
    metadata,
    # one row, from the first sweep on
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("asked_at", Moment, nullable=False),
    # how often who asked last asks
    sa.Column("every_s", sa.Float),
    sa.Column("ended_at", Moment),
    # the name of a worker
    sa.Column("ended_by", sa.String(63)),
    sa.CheckConstraint("id = 1", name="single"),
)
