"""Profiles that the worker zone made for rights holders, sealed; and the public parts of twins' reports."""

from __future__ import annotations

import sqlalchemy as sa

from domain.profile_request import ProfileState
from store.tables import Moment, metadata, one_of

profiles = sa.Table(
    "profiles",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("owner", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("name", sa.String(63), nullable=False),
    sa.Column("delivery", sa.String(36), nullable=False),
    # X25519, base64: the private half never comes here
    sa.Column("key", sa.String(44), nullable=False),
    sa.Column("people", sa.JSON, nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("problem", sa.String(20)),
    # only the rights holder's key opens it; its length is a rung of a ladder
    sa.Column("sealed", sa.LargeBinary),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("moved_at", Moment, nullable=False),
    # when a worker that says nothing is taken for lost, or a message for it
    sa.Column("due_at", Moment, nullable=False),
    one_of("state", ProfileState),
    sa.CheckConstraint("(state = 'SEALED') = (sealed IS NOT NULL)", name="sealed_or_not"),
    sa.CheckConstraint("(state = 'FAILED') = (problem IS NOT NULL)", name="failed_or_not"),
)
sa.Index("ix_profiles_owner_created_at", profiles.c.owner, profiles.c.created_at)
sa.Index("ix_profiles_state_due_at", profiles.c.state, profiles.c.due_at)
sa.Index("ix_profiles_delivery", profiles.c.delivery)

twin_reports = sa.Table(
    "twin_reports",
    metadata,
    sa.Column("dataset_id", sa.ForeignKey("datasets.id"), primary_key=True),
    sa.Column("page", sa.LargeBinary, nullable=False),
    sa.Column("digest", sa.String(71), nullable=False),
    sa.Column("put_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("put_at", Moment, nullable=False),
)
