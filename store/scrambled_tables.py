"""Scrambled folders that were offered, who signed for them, their archives in parts, and who took them.

The parts are the one place of this database that holds original values. They come after the signatures, and
go with the last day, a withdrawal, or a check that fails."""

from __future__ import annotations

import sqlalchemy as sa

from domain.review import MAX_REASON
from domain.scrambled import OPEN, ScrambleState
from store.tables import Moment, metadata, one_of

_OPEN = f"state IN ({', '.join(repr(str(state)) for state in OPEN)})"

scrambles = sa.Table(
    "scrambles",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("dataset_id", sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("offered_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("offered_at", Moment, nullable=False),
    sa.Column("offer", sa.JSON, nullable=False),
    # the last day of use, as the offer says
    sa.Column("expires", sa.Date, nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("moved_at", Moment, nullable=False),
    # bytes of the archive, once it is here
    sa.Column("size", sa.Integer),
    one_of("state", ScrambleState),
)
# one at a time for a version
sa.Index(
    "uq_scrambles_open",
    scrambles.c.dataset_id,
    unique=True,
    sqlite_where=sa.text(_OPEN),
    postgresql_where=sa.text(_OPEN),
)
sa.Index("ix_scrambles_state_expires", scrambles.c.state, scrambles.c.expires)

scramble_signatures = sa.Table(
    "scramble_signatures",
    metadata,
    sa.Column("scramble_id", sa.ForeignKey("scrambles.id"), primary_key=True),
    sa.Column("signer", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
    sa.Column("signs", sa.Boolean, nullable=False),
    sa.Column("reason", sa.String(MAX_REASON), nullable=False),
    sa.Column("at", Moment, nullable=False),
)

scramble_parts = sa.Table(
    "scramble_parts",
    metadata,
    sa.Column("scramble_id", sa.ForeignKey("scrambles.id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("sha256", sa.String(64), nullable=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
)

scramble_takers = sa.Table(
    "scramble_takers",
    metadata,
    sa.Column("scramble_id", sa.ForeignKey("scrambles.id"), primary_key=True),
    sa.Column("taker", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
    # which sentences they took upon themselves
    sa.Column("terms", sa.String(64), nullable=False),
    sa.Column("first_at", Moment, nullable=False),
)
