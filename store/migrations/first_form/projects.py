"""Tables of projects, what they were granted and what entitlements give."""

from __future__ import annotations

import sqlalchemy as sa

from store.migrations.first_form.kinds import MOMENT, SEQUENCE, metadata, one_of

sa.Table(
    "projects",
    metadata,
    sa.Column("name", sa.String(63), primary_key=True),
    sa.Column("title", sa.String(200), nullable=False),
    sa.Column("purpose", sa.Text(), nullable=False),
    sa.Column("lead", sa.String(63), sa.ForeignKey("users.name")),
    sa.Column("made_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("made_at", MOMENT, nullable=False),
    sa.Column("ends_on", sa.Date()),
    sa.Column("closed_at", MOMENT),
)

sa.Table(
    "project_members",
    metadata,
    sa.Column("project", sa.String(63), sa.ForeignKey("projects.name"), primary_key=True),
    sa.Column("member", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
    sa.Index("ix_project_members_member", "member"),
)

sa.Table(
    "grants",
    metadata,
    sa.Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column("project", sa.String(63), sa.ForeignKey("projects.name"), nullable=False),
    sa.Column("dataset", sa.String(63), nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("why", sa.Text(), nullable=False),
    sa.Column("asked_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("asked_at", MOMENT, nullable=False),
    sa.Column("decided_by", sa.String(63), sa.ForeignKey("users.name")),
    sa.Column("decided_at", MOMENT),
    sa.Column("reason", sa.Text(), nullable=False),
    sa.Column("ends_on", sa.Date()),
    one_of("state", "ASKED GRANTED REFUSED ENDED"),
    sa.UniqueConstraint("project", "dataset"),
    sa.Index("ix_grants_dataset", "dataset"),
    sqlite_autoincrement=True,
)

sa.Table(
    "entitlement_rules",
    metadata,
    sa.Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    sa.Column("id", sa.String(16), nullable=False, unique=True),
    sa.Column("entitlement", sa.String(512), nullable=False),
    sa.Column("gives", sa.String(10), nullable=False),
    sa.Column("about", sa.String(63), nullable=False),
    sa.Column("made_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("made_at", MOMENT, nullable=False),
    one_of("gives", "role reviewer member lead"),
    sa.UniqueConstraint("entitlement", "gives", "about"),
    sa.Index("ix_entitlement_rules_about", "gives", "about"),
    sqlite_autoincrement=True,
)

sa.Table(
    "entitled",
    metadata,
    sa.Column("rule", SEQUENCE, sa.ForeignKey("entitlement_rules.number"), primary_key=True),
    sa.Column("name", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
    sa.Index("ix_entitled_name", "name"),
)

sa.Table(
    "entitled_members",
    metadata,
    sa.Column("project", sa.String(63), sa.ForeignKey("projects.name"), primary_key=True),
    sa.Column("member", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
)
