"""Which project was granted which data set, and until when. Whoever submits holds what they rely on.

Rows are locked in one order, project before grant, and before the turn: a grant ends either before a
submission is on record or after it, never in the middle.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.dataset import Dataset
from domain.errors import NotFound
from domain.permissions import Role, User, is_named
from domain.project import Grant, GrantState, today
from domain.refusals import jobs as refusals
from domain.states import JobState, is_terminal
from store import allotments, projects
from store.ledger import Account
from store.project_tables import grants, project_members
from store.project_tables import projects as project_rows
from store.spoilt import readable, reads
from store.tables import datasets, jobs

_STANDS = {
    None: "was not granted",
    GrantState.ASKED: "has asked for, and was not granted,",
    GrantState.REFUSED: "was refused",
    GrantState.ENDED: "has no longer a grant of",
}


def granted_to(connection: sa.Connection, user: User, now: datetime) -> frozenset[str]:
    """Names of the data sets granted to living projects of which the user is a member."""
    if user.role is not Role.DATA_USER:
        return frozenset()
    return frozenset(connection.execute(_living(user, now)).scalars())


def paying_for(connection: sa.Connection, user: User, dataset: str, now: datetime) -> list[str]:
    """The user's living projects that the data set is granted to, by name."""
    query = _living(user, now).where(grants.c.dataset == dataset).with_only_columns(grants.c.project)
    return sorted(connection.execute(query).scalars()) if user.role is Role.DATA_USER else []


def check_spending(
    connection: sa.Connection, *, user: User, project: str, dataset: str, now: datetime
) -> None:
    """Raises NotAllowed unless the user may submit on the data set for the project. It stays so until this
    transaction ends."""
    mine = sa.select(project_rows.c.name).join(project_members).where(
        project_rows.c.name == project, project_members.c.member == user.name
    )  # fmt: skip
    # the locks of a reader: many may submit at once, and nobody ends what they rely on
    if connection.execute(mine.with_for_update(read=True)).scalar() is None:
        raise refusals.NO_PROJECT(project=project)
    found = projects.get(connection, project)
    if not found.is_living(now):
        how = "is closed" if found.is_closed else f"ended on {found.ends_on}"
        raise refusals.PROJECT_OVER(project=project, how=how)
    grant = find(connection, project, dataset, reading=True)
    state = grant.state_at(now) if grant else None
    if state is not GrantState.GRANTED:
        raise refusals.NO_GRANT(project=project, how=_STANDS[state], dataset=dataset)


def check_named(connection: sa.Connection, user: User, dataset: Dataset, now: datetime) -> None:
    """Raises NotAllowed for somebody who may use the data set for a project only."""
    if not is_named(user, dataset.declaration.policy.data_users):
        mine = ", ".join(paying_for(connection, user, dataset.name, now))
        raise refusals.PROJECT_MISSING(dataset=dataset.name, projects=mine)


def of_project(connection: sa.Connection, project: str, user: User) -> list[Grant]:
    """A project's grants, by data set: all of them for members, those on their own for a rights holder."""
    query = sa.select(grants).where(grants.c.project == project).order_by(grants.c.dataset)
    if user.role is Role.RIGHTS_HOLDER:
        query = query.where(grants.c.dataset.in_(_owned(user)))
    return readable(_grant, connection.execute(query))


def waiting_asks(connection: sa.Connection, user: User) -> list[Grant]:
    """What this rights holder was asked for and has not decided, the longest waiting first."""
    query = (
        sa.select(grants)
        .join(project_rows, project_rows.c.name == grants.c.project)
        .where(grants.c.state == GrantState.ASKED, project_rows.c.closed_at.is_(None))
        .where(grants.c.dataset.in_(_owned(user)))
    )
    return readable(_grant, connection.execute(query.order_by(grants.c.asked_at, grants.c.number)))


def get_visible(connection: sa.Connection, project: str, dataset: str, user: User) -> Grant:
    """The grant, for members and the data set's rights holder. The same words for absent and forbidden."""
    projects.get_visible(connection, project, user)
    found = [grant for grant in of_project(connection, project, user) if grant.dataset == dataset]
    if not found:
        raise absent(project, dataset)
    return found[0]


def find(
    connection: sa.Connection, project: str, dataset: str, *, lock: bool = False, reading: bool = False
) -> Grant | None:
    """The grant. Until this transaction ends nobody else changes it, nor with `lock` relies on it."""
    query = sa.select(grants).where(grants.c.project == project, grants.c.dataset == dataset)
    if lock or reading:
        query = query.with_for_update(read=reading)
    row = connection.execute(query).one_or_none()
    return None if row is None else _grant(row)


def shares(connection: sa.Connection, granted: Iterable[Grant]) -> dict[str, list[Account]]:
    """By data set, what the project may spend of its budget, where it is granted. Data sets of one cohort
    share one account of each currency."""
    found = {}
    for grant in granted:
        cohort = cohort_of(connection, grant.dataset) if grant.state is GrantState.GRANTED else None
        if cohort is not None:
            found[grant.dataset] = allotments.shares_of(connection, project=grant.project, cohort=cohort)
    return found


def unfinished(connection: sa.Connection, grant: Grant) -> int:
    """How many jobs of the project on the data set are on their way."""
    query = sa.select(sa.func.count()).select_from(jobs.join(datasets)).where(
        jobs.c.project == grant.project, datasets.c.name == grant.dataset,
        jobs.c.state.not_in([state for state in JobState if is_terminal(state)]),
    )  # fmt: skip
    found: int = connection.execute(query).scalar_one()
    return found


def cohort_of(connection: sa.Connection, dataset: str) -> str | None:
    """The cohort of the newest version."""
    query = sa.select(datasets.c.cohort).where(datasets.c.name == dataset)
    found: str | None = connection.execute(query.order_by(datasets.c.version.desc()).limit(1)).scalar()
    return found


def owner_of(connection: sa.Connection, dataset: str) -> str | None:
    """The rights holder of the data set of this name; all its versions have the same."""
    query = sa.select(datasets.c.owner).where(datasets.c.name == dataset).limit(1)
    found: str | None = connection.execute(query).scalar()
    return found


def absent(project: str, dataset: str) -> NotFound:
    return NotFound(
        "dataset",
        f"there is no grant of {dataset} to {project} for you.",
        f"See `dpgate project show {project}`.",
    )


def _living(user: User, now: datetime) -> sa.Select[str]:
    day = today(now)
    return (
        sa.select(grants.c.dataset)
        .distinct()
        .join(project_rows, project_rows.c.name == grants.c.project)
        .join(project_members, project_members.c.project == grants.c.project)
        .where(
            project_members.c.member == user.name,
            project_rows.c.closed_at.is_(None),
            sa.or_(project_rows.c.ends_on.is_(None), project_rows.c.ends_on >= day),
            grants.c.state == GrantState.GRANTED,
            sa.or_(grants.c.ends_on.is_(None), grants.c.ends_on >= day),
        )
    )


def _owned(user: User) -> sa.Select[str]:
    return sa.select(datasets.c.name).where(datasets.c.owner == user.name)


@reads("grant", by="dataset")
def _grant(row: sa.Row[Any]) -> Grant:
    fields = row._mapping
    return Grant(
        **{name: fields[name] for name in Grant.model_fields if name != "state"},
        state=GrantState(fields["state"]),
    )
