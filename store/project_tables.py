"""The tables of projects and of what they were granted."""

from __future__ import annotations

import sqlalchemy as sa

from domain.project import GrantState
from store.tables import Moment, Sequence, metadata, one_of

projects = sa.Table(
    "projects",
    metadata,
    sa.Column("name", sa.String(63), primary_key=True),
    sa.Column("title", sa.String(200), nullable=False),
    sa.Column("purpose", sa.Text, nullable=False),
    # none where a rights holder made it by allotting to it: `made_by` then keeps its members
    sa.Column("lead", sa.String(63), sa.ForeignKey("users.name")),
    sa.Column("made_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("made_at", Moment, nullable=False),
    # the last day, in UTC
    sa.Column("ends_on", sa.Date),
    sa.Column("closed_at", Moment),
)

project_members = sa.Table(
    "project_members",
    metadata,
    sa.Column("project", sa.String(63), sa.ForeignKey("projects.name"), primary_key=True),
    sa.Column("member", sa.String(63), sa.ForeignKey("users.name"), primary_key=True),
)
sa.Index("ix_project_members_member", project_members.c.member)

grants = sa.Table(
    "grants",
    metadata,
    # names a grant in the audit trail; there is one for each project and data set
    sa.Column("number", Sequence, primary_key=True, autoincrement=True),
    sa.Column("project", sa.String(63), sa.ForeignKey("projects.name"), nullable=False),
    # a name, of all versions: an ask says nothing about whether there is such a data set
    sa.Column("dataset", sa.String(63), nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("why", sa.Text, nullable=False),
    sa.Column("asked_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("asked_at", Moment, nullable=False),
    sa.Column("decided_by", sa.String(63), sa.ForeignKey("users.name")),
    sa.Column("decided_at", Moment),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("ends_on", sa.Date),
    sa.UniqueConstraint("project", "dataset"),
    one_of("state", GrantState),
    sqlite_autoincrement=True,
)
sa.Index("ix_grants_dataset", grants.c.dataset)
