"""Projects and grants. Whoever had a project's share of a budget before goes on as a project with a grant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

STATES = "state IN ('ASKED', 'GRANTED', 'REFUSED', 'ENDED')"
LONGEST_NAME = 63


def _table(name: str, *columns: str) -> sa.TableClause:
    """As much of a table as is moved; what ends in _at is an instant."""
    instant = sa.DateTime(timezone=True)
    return sa.table(name, *(sa.column(c, instant if c.endswith("_at") else None) for c in columns))


cohorts = _table("cohorts", "id", "owner", "created_at")
accounts = _table("accounts", "id", "cohort", "kind", "holder")
datasets = _table("datasets", "name", "cohort", "created_at")
former = _table("project_members", "account_id", "member")
projects = _table("projects", "name", "title", "purpose", "made_by", "made_at")
project_members = _table("project_members", "project", "member")
grants = _table(
    "grants",
    *("project", "dataset", "state", "why", "asked_by", "asked_at", "decided_by", "decided_at", "reason"),
)


def upgrade() -> None:
    shares = list(former_shares(op.get_bind()))
    op.drop_table("project_members")
    create_tables()
    for share in shares:
        carry_over(op.get_bind(), share)


def create_tables() -> None:
    op.create_table(
        "projects",
        sa.Column("name", sa.String(length=63), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("lead", sa.String(length=63), nullable=True),
        sa.Column("made_by", sa.String(length=63), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_on", sa.Date(), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["lead"], ["users.name"], name=op.f("fk_projects_lead")),
        sa.ForeignKeyConstraint(["made_by"], ["users.name"], name=op.f("fk_projects_made_by")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_projects")),
    )
    op.create_table(
        "project_members",
        sa.Column("project", sa.String(length=63), nullable=False),
        sa.Column("member", sa.String(length=63), nullable=False),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f("fk_project_members_project")),
        sa.ForeignKeyConstraint(["member"], ["users.name"], name=op.f("fk_project_members_member")),
        sa.PrimaryKeyConstraint("project", "member", name=op.f("pk_project_members")),
    )
    op.create_index("ix_project_members_member", "project_members", ["member"], unique=False)
    op.create_table(
        "grants",
        sa.Column(
            "number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("project", sa.String(length=63), nullable=False),
        sa.Column("dataset", sa.String(length=63), nullable=False),
        sa.Column("state", sa.String(length=10), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("asked_by", sa.String(length=63), nullable=False),
        sa.Column("asked_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_by", sa.String(length=63), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("ends_on", sa.Date(), nullable=True),
        sa.CheckConstraint(STATES, name=op.f("ck_grants_state_known")),
        sa.ForeignKeyConstraint(["project"], ["projects.name"], name=op.f("fk_grants_project")),
        sa.ForeignKeyConstraint(["asked_by"], ["users.name"], name=op.f("fk_grants_asked_by")),
        sa.ForeignKeyConstraint(["decided_by"], ["users.name"], name=op.f("fk_grants_decided_by")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_grants")),
        sa.UniqueConstraint("project", "dataset", name=op.f("uq_grants_project_dataset")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_grants_dataset", "grants", ["dataset"], unique=False)


def former_shares(connection: sa.Connection) -> Iterator[dict[str, Any]]:
    """One for each rights holder and name: two of them may have used one name for two groups of people."""
    owned = sa.select(accounts.c.id, accounts.c.cohort, accounts.c.holder, cohorts.c.owner).join(
        cohorts, cohorts.c.id == accounts.c.cohort
    )
    shares: dict[tuple[str, str], list[Any]] = {}
    for row in connection.execute(owned.where(accounts.c.kind == "project").order_by(accounts.c.id)):
        shares.setdefault((row.holder, row.owner), []).append(row)
    taken = {holder for holder, _ in shares}
    given: set[str] = set()
    for (holder, owner), rows in shares.items():
        ids = [row.id for row in rows]
        members = sa.select(former.c.member).where(former.c.account_id.in_(ids)).distinct()
        name = free_name(holder, taken) if holder in given else holder
        given.add(holder)
        taken.add(name)
        yield {
            "name": name,
            "title": holder,
            "owner": owner,
            "members": sorted(connection.execute(members).scalars()),
            "accounts": ids,
            "cohorts": sorted({row.cohort for row in rows}),
        }


def free_name(name: str, taken: set[str]) -> str:
    found = (f"{name[: LONGEST_NAME - len(str(n)) - 1]}-{n}" for n in range(2, len(taken) + 3))
    return next(candidate for candidate in found if candidate not in taken)


def carry_over(connection: sa.Connection, share: dict[str, Any]) -> None:
    """The project, its members, and a grant of every data set of whose budget it has a share."""
    name, owner = share["name"], share["owner"]
    oldest = sa.select(sa.func.min(cohorts.c.created_at)).where(cohorts.c.id.in_(share["cohorts"]))
    project = {
        "name": name,
        "title": share["title"],
        "purpose": f"Made by {owner}, who allotted a share of a budget to it and keeps its members.",
        "made_by": owner,
        "made_at": connection.execute(oldest).scalar_one(),
    }
    connection.execute(sa.insert(projects).values(**project))
    for member in share["members"]:
        connection.execute(sa.insert(project_members).values(project=name, member=member))
    first = sa.func.min(datasets.c.created_at).label("first")
    names = sa.select(datasets.c.name, first).where(datasets.c.cohort.in_(share["cohorts"]))
    for dataset in connection.execute(names.group_by(datasets.c.name).order_by(datasets.c.name)).all():
        step = {
            "asked_by": owner,
            "asked_at": dataset.first,
            "decided_by": owner,
            "decided_at": dataset.first,
        }
        connection.execute(
            sa.insert(grants).values(
                project=name, dataset=dataset.name, state="GRANTED", why="", reason="", **step
            )
        )
    connection.execute(sa.update(accounts).where(accounts.c.id.in_(share["accounts"])).values(holder=name))
