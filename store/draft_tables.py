"""Drafts of registrations: what a rights holder has typed of a declaration so far. None of it was in data."""

from __future__ import annotations

import sqlalchemy as sa

from store.tables import Moment, metadata

registration_drafts = sa.Table(
    "registration_drafts",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("owner", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    # counts the changes: a change names the one that it was made on
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("content", sa.JSON, nullable=False),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("changed_at", Moment, nullable=False),
)
sa.Index("ix_registration_drafts_owner", registration_drafts.c.owner)
