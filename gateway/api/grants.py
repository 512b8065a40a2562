"""Grants: a project asks for a data set, its rights holder decides, changes and ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from domain.model import Slug
from domain.permissions import Permission, User
from domain.project import Ask, Grant, GrantState, Project, Reason, Terms
from gateway.access import TheDatabase, requires
from gateway.api.datasets import AccountView
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from store import granting, grants, projects
from store.database import Database
from store.ledger import Account

router = APIRouter(prefix=PREFIX, tags=["projects"], responses=RESPONSES)
GRANT = "/projects/{project}/grants/{dataset}"
Lead = Annotated[User, Depends(requires(Permission.PROJECT_LEAD))]
Holder = Annotated[User, Depends(requires(Permission.GRANT_DECIDE))]
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


@router.get("/grants", summary="What projects ask of you, the longest waiting first")
def list_asks(user: Holder, database: TheDatabase) -> list[GrantView]:
    now = datetime.now(UTC)
    with database.reading() as connection:
        return [
            GrantView.of(grant, projects.get(connection, grant.project), {}, now)
            for grant in grants.waiting_asks(connection, user)
        ]


@router.get(GRANT, summary="One grant: what was asked, what was decided, and the share of the budget")
def get_grant(
    project: Slug,
    dataset: Slug,
    user: Annotated[User, Depends(requires(Permission.PROJECT_READ))],
    database: TheDatabase,
) -> GrantView:
    return _view(database, project, dataset, user)


@router.put(GRANT, summary="Ask for a data set, for a project that you lead")
def ask_for_grant(project: Slug, dataset: Slug, ask: Ask, user: Lead, database: TheDatabase) -> GrantView:
    """Its rights holder reads why. The answer is the same whether or not there is a data set of that name."""
    with database.transaction() as connection:
        granting.ask(
            connection, project=project, dataset=dataset, why=ask.why, by=user, now=datetime.now(UTC)
        )
    return _view(database, project, dataset, user)


@router.delete(GRANT, summary="Take an ask back, or give a grant back")
def withdraw_grant(project: Slug, dataset: Slug, user: Lead, database: TheDatabase) -> GrantView:
    with database.transaction() as connection:
        granting.withdraw(connection, project=project, dataset=dataset, by=user, now=datetime.now(UTC))
    return _view(database, project, dataset, user)


@router.post(f"{GRANT}/approval", summary="Grant what was asked for: a share of the budget until a day")
def give_grant(project: Slug, dataset: Slug, terms: Terms, user: Holder, database: TheDatabase) -> GrantView:
    """Members of the project may use the data set at once. Amounts are shares of the cohort's caps."""
    with database.transaction() as connection:
        granting.grant(
            connection, project=project, dataset=dataset, terms=terms, by=user, now=datetime.now(UTC)
        )
    return _view(database, project, dataset, user)


@router.post(f"{GRANT}/refusal", summary="Refuse what was asked for")
def refuse_grant(
    project: Slug, dataset: Slug, refusal: Reason, user: Holder, database: TheDatabase
) -> GrantView:
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
    return _view(database, project, dataset, user)


@router.post(f"{GRANT}/change", summary="Change the amounts or the last day of a grant")
def change_grant(
    project: Slug, dataset: Slug, terms: Terms, user: Holder, database: TheDatabase
) -> GrantView:
    """What is left out stays. A share cannot become less than what is taken of it."""
    with database.transaction() as connection:
        granting.change(
            connection, project=project, dataset=dataset, terms=terms, by=user, now=datetime.now(UTC)
        )
    return _view(database, project, dataset, user)


@router.post(f"{GRANT}/end", summary="End a grant at once")
def end_grant(project: Slug, dataset: Slug, ending: Reason, user: Holder, database: TheDatabase) -> GrantView:
    """Nothing more is submitted with it. Jobs that were submitted before go on; the account stays."""
    with database.transaction() as connection:
        granting.end(
            connection, project=project, dataset=dataset, reason=ending.reason, by=user, now=datetime.now(UTC)
        )
    return _view(database, project, dataset, user)


def _view(database: Database, project: str, dataset: str, user: User) -> GrantView:
    with database.reading() as connection:
        found = grants.get_visible(connection, project, dataset, user)
        shares = grants.shares(connection, [found])
        return GrantView.of(found, projects.get(connection, project), shares, datetime.now(UTC))
