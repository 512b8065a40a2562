"""What entitlements of the identity provider give. Everybody maps to what is theirs to give by hand: an
operator to roles, a rights holder to reviews of their data set, a lead to places in their project."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel, Field

from desk.rights import needs
from domain.entitlement import IN_PROJECT, ProjectEntitlement, ReviewerEntitlement, Right, RoleEntitlement
from domain.model import Slug
from domain.permissions import Permission, User
from domain.project import check_leads
from store import datasets, entitlements, projects
from store.database import Database
from store.entitlements import Standing

ROLES, REVIEWS = frozenset({Right.ROLE}), frozenset({Right.REVIEWER})


class EntitlementView(BaseModel):
    """That an entitlement gives a right, and for whom it holds by the provider's last word on them."""

    id: str
    entitlement: str
    gives: Right
    about: str = Field(description="A role, or the name of a data set or project")
    made_by: str
    made_at: datetime
    holds_for: list[str]

    @classmethod
    def of(cls, standing: Standing) -> EntitlementView:
        return cls(**standing.rule.model_dump(), holds_for=list(standing.holders))


@needs(Permission.USER_READ)
def list_roles(database: Database, _user: User) -> list[EntitlementView]:
    """Those of the settings come first and are not listed here."""
    return _listed(database, ROLES)


@needs(Permission.USER_ADD)
def add_role(database: Database, user: User, new: RoleEntitlement) -> EntitlementView:
    """From each person's next login on. Of several roles, the settings' or else the oldest counts."""
    return _add(database, new.entitlement, gives=Right.ROLE, about=new.role, by=user)


@needs(Permission.USER_DISABLE)
def remove_role(database: Database, user: User, rule_id: str) -> list[EntitlementView]:
    """For whom it held, every session and token ends: they log in again with what is left to them."""
    _remove(database, rule_id, gives=ROLES, about=None, by=user)
    return _listed(database, ROLES)


@needs(Permission.POLICY_CHANGE)
def list_reviewers(database: Database, user: User, name: Slug) -> list[EntitlementView]:
    with database.reading() as connection:
        datasets.owned(connection, name, user)
    return _listed(database, REVIEWS, name)


@needs(Permission.POLICY_CHANGE)
def add_reviewers(database: Database, user: User, name: Slug, new: ReviewerEntitlement) -> EntitlementView:
    """Who is entitled and a rights holder here reviews the data set beside you, from their next login on."""
    return _add(database, new.entitlement, gives=Right.REVIEWER, about=name, by=user)


@needs(Permission.POLICY_CHANGE)
def remove_reviewers(database: Database, user: User, name: Slug, rule_id: str) -> list[EntitlementView]:
    """At once: they see and decide nothing more of the data set."""
    _remove(database, rule_id, gives=REVIEWS, about=name, by=user)
    return _listed(database, REVIEWS, name)


@needs(Permission.PROJECT_READ)
def list_places(database: Database, user: User, project: Slug) -> list[EntitlementView]:
    with database.reading() as connection:
        projects.get_visible(connection, project, user)
    return _listed(database, IN_PROJECT, project)


@needs(Permission.PROJECT_LEAD)
def add_places(database: Database, user: User, project: Slug, new: ProjectEntitlement) -> EntitlementView:
    """From each person's next login on, for data users; `leads`: they add people and ask for data sets."""
    gives = Right.LEAD if new.leads else Right.MEMBER
    return _add(database, new.entitlement, gives=gives, about=project, by=user)


@needs(Permission.PROJECT_LEAD)
def remove_places(database: Database, user: User, project: Slug, rule_id: str) -> list[EntitlementView]:
    """At once: who came by it alone is no member any more."""
    _remove(database, rule_id, gives=IN_PROJECT, about=project, by=user)
    return _listed(database, IN_PROJECT, project)


def _listed(database: Database, gives: frozenset[Right], about: str | None = None) -> list[EntitlementView]:
    with database.reading() as connection:
        return [EntitlementView.of(one) for one in entitlements.listed(connection, gives, about)]


def _add(database: Database, entitlement: str, *, gives: Right, about: str, by: User) -> EntitlementView:
    """In one transaction with the check that `by` may still say so. Raises as the check and as `make`."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        if gives is Right.REVIEWER:
            datasets.owned(connection, about, by)
        elif gives in IN_PROJECT:
            project = projects.get_visible(connection, about, by, lock=True)
            check_leads(by, project, by_name=True)
            projects.check_living(project, now)
        made = entitlements.make(connection, entitlement, gives=gives, about=about, by=by.name, now=now)
    return EntitlementView.of(Standing(made, ()))


def _remove(
    database: Database, rule_id: str, *, gives: frozenset[Right], about: str | None, by: User
) -> None:
    """The same. The project is not locked here: the end of a rule locks it, after the rule."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        if about is not None and gives == REVIEWS:
            datasets.owned(connection, about, by)
        elif about is not None:
            check_leads(by, projects.get_visible(connection, about, by), by_name=True)
        entitlements.remove(connection, rule_id, gives=gives, about=about, by=by.name, now=now)
