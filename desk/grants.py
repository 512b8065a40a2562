"""Grants: a project asks for a data set, its rights holder decides, changes and ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import partial

from pydantic import BaseModel, Field

from desk.datasets import AccountView
from desk.rights import needs
from domain.model import Slug
from domain.permissions import Permission, User
from domain.project import Ask, Grant, GrantState, Project, Reason, Terms
from store import granting, grants, projects
from store.database import Database
from store.ledger import Account
from store.spoilt import all_but_spoilt

Shares = Mapping[str, Sequence[Account]]


class GrantView(BaseModel):
    """What a project asked for or was granted, and its share of the budget by currency."""

    project: str
    dataset: str
    state: GrantState
    is_living: bool = Field(description="May be used now: granted, not over, and the project is open")
    why: str
    asked_by: str
    asked_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    reason: str
    ends_on: date | None = Field(description="The last day, in UTC")
    accounts: list[AccountView] = Field(description="Data sets of one cohort share one account of a currency")

    @classmethod
    def of(cls, grant: Grant, project: Project, shares: Shares, now: datetime) -> GrantView:
        state = grant.state_at(now)
        return cls(
            **grant.model_dump(exclude={"number", "state"}),
            state=state,
            is_living=state is GrantState.GRANTED and project.is_living(now),
            accounts=[AccountView.of(account) for account in shares.get(grant.dataset, ())],
        )


@needs(Permission.GRANT_DECIDE)
def list_asks(database: Database, user: User) -> list[GrantView]:
    now = datetime.now(UTC)
    with database.reading() as connection:

        def view(grant: Grant) -> GrantView:
            return GrantView.of(grant, projects.get(connection, grant.project), {}, now)

        return all_but_spoilt(partial(view, grant) for grant in grants.waiting_asks(connection, user))


@needs(Permission.PROJECT_READ)
def get_grant(database: Database, user: User, project: Slug, dataset: Slug) -> GrantView:
    return _view(database, user, project, dataset)


@needs(Permission.PROJECT_LEAD)
def ask_for_grant(database: Database, user: User, project: Slug, dataset: Slug, ask: Ask) -> GrantView:
    """Its rights holder reads why. The answer is the same whether or not there is a data set of that name."""
    with database.transaction() as connection:
        granting.ask(
            connection, project=project, dataset=dataset, why=ask.why, by=user, now=datetime.now(UTC)
        )
    return _view(database, user, project, dataset)


@needs(Permission.PROJECT_LEAD)
def withdraw_grant(database: Database, user: User, project: Slug, dataset: Slug) -> GrantView:
    with database.transaction() as connection:
        granting.withdraw(connection, project=project, dataset=dataset, by=user, now=datetime.now(UTC))
    return _view(database, user, project, dataset)


@needs(Permission.GRANT_DECIDE)
def give_grant(database: Database, user: User, project: Slug, dataset: Slug, terms: Terms) -> GrantView:
    """Members of the project may use the data set at once. Amounts are shares of the cohort's caps."""
    with database.transaction() as connection:
        granting.grant(
            connection, project=project, dataset=dataset, terms=terms, by=user, now=datetime.now(UTC)
        )
    return _view(database, user, project, dataset)


@needs(Permission.GRANT_DECIDE)
def refuse_grant(database: Database, user: User, project: Slug, dataset: Slug, refusal: Reason) -> GrantView:
    """The project's members read the reason. They may ask again."""
    with database.transaction() as connection:
        granting.refuse(
            connection,
            project=project,
            dataset=dataset,
            reason=refusal.reason,
            by=user,
            now=datetime.now(UTC),
        )
    return _view(database, user, project, dataset)


@needs(Permission.GRANT_DECIDE)
def change_grant(database: Database, user: User, project: Slug, dataset: Slug, terms: Terms) -> GrantView:
    """What is left out stays. A share cannot become less than what is taken of it."""
    with database.transaction() as connection:
        granting.change(
            connection, project=project, dataset=dataset, terms=terms, by=user, now=datetime.now(UTC)
        )
    return _view(database, user, project, dataset)


@needs(Permission.GRANT_DECIDE)
def end_grant(database: Database, user: User, project: Slug, dataset: Slug, ending: Reason) -> GrantView:
    """Nothing more is submitted with it. Jobs that were submitted before go on; the account stays."""
    with database.transaction() as connection:
        granting.end(
            connection, project=project, dataset=dataset, reason=ending.reason, by=user, now=datetime.now(UTC)
        )
    return _view(database, user, project, dataset)


def _view(database: Database, user: User, project: str, dataset: str) -> GrantView:
    with database.reading() as connection:
        found = grants.get_visible(connection, project, dataset, user)
        shares = grants.shares(connection, [found])
        return GrantView.of(found, projects.get(connection, project), shares, datetime.now(UTC))
