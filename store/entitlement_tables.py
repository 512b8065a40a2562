"""The tables of what entitlements give: rules that people make, and who they hold for."""

from __future__ import annotations

import sqlalchemy as sa

from domain.entitlement import MAX_ENTITLEMENT, Right
from store.tables import Moment, Sequence, metadata, one_of

entitlement_rules = sa.Table(
    "entitlement_rules",
    metadata,
    # the order in which they were made: of two roles the older rule counts
    sa.Column("number", Sequence, primary_key=True, autoincrement=True),
    sa.Column("id", sa.String(16), nullable=False, unique=True),
    sa.Column("entitlement", sa.String(MAX_ENTITLEMENT), nullable=False),
    sa.Column("gives", sa.String(10), nullable=False),
    # a role, or the name of a data set or project
    sa.Column("about", sa.String(63), nullable=False),
    sa.Column("made_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("made_at", Moment, nullable=False),
    sa.UniqueConstraint("entitlement", "gives", "about"),
    one_of("gives", Right),
    sqlite_autoincrement=True,
)
sa.Index("ix_entitlement_rules_about", entitlement_rules.c.gives, entitlement_rules.c.about)

entitled = sa.Table(
    "entitled",
    metadata,
    # for whom a rule holds, by the provider's last word; no other entitlement of anybody is kept
    sa.Column("rule", Sequence, sa.ForeignKey("entitlement_rules.number"), primary_key=True),
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
)
sa.Index("ix_entitled_name", entitled.c.name)

entitled_members = sa.Table(
    "entitled_members",
    metadata,
    # members whom a rule brought in, and nobody by hand: they go when it no longer holds for them
    sa.Column("project", sa.String(63), sa.ForeignKey("projects.name"), primary_key=True),
    sa.Column("member", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
)
