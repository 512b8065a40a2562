"""How a budget was spent: entries, and each account over time. Public ledger values only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from desk.datasets import AccountView, get_budget
from desk.rights import needs
from domain.errors import NotFound
from domain.loss import Currency, format_amount
from domain.model import Model, Slug
from domain.permissions import Permission, User
from domain.states import LedgerAction
from store import datasets, history
from store.database import Database
from store.history import Entry


class EntryView(BaseModel):
    """One change of an account, as exact decimal text of its currency."""

    at: datetime
    job: str
    author: str
    project: str | None
    dataset: str
    action: LedgerAction
    currency: Currency
    amount: str


class StandingView(BaseModel):
    """From this moment so much is spent and set aside."""

    at: datetime
    spent: str
    reserved: str


class CourseView(BaseModel):
    """One account over time."""

    currency: Currency
    cap: str
    standings: list[StandingView]


class SpendingView(BaseModel):
    """Entries that this user may see, oldest first, and the course of each account that was asked for."""

    dataset: str
    account: str
    entries: list[EntryView] = Field(
        description="Of everybody for the rights holder; of a data user, their own"
    )
    courses: list[CourseView] = Field(
        description="Everybody's jobs together, unless user or project is given"
    )


class Wanted(Model):
    """Which account, and whose entries of it."""

    account: Annotated[
        str,
        Field(
            pattern=r"^(cohort|(project|user):[a-z0-9-]{1,63})$",
            description="`cohort`, `project:NAME` or `user:NAME`",
        ),
    ] = "cohort"
    user: Slug | None = None
    project: Slug | None = None


@needs(Permission.BUDGET_READ)
def get_spending(database: Database, user: User, name: Slug, wanted: Wanted) -> SpendingView:
    """The rights holder sees everybody's entries; a data user sees their own, and how the total grew."""
    kind, _, holder = wanted.account.partition(":")
    budget = get_budget(database, user, name)
    accounts = [
        account
        for account in budget.accounts
        if account.kind == kind and (kind == "cohort" or account.holder == holder)
    ]
    if not accounts:
        raise NotFound("account", f"there is no account {wanted.account} that you may see.")
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        found = history.spending(connection, cohort=dataset.cohort, kind=kind, holder=holder or None)
    is_owner = user.name == dataset.owner
    own = [entry for entry in found if is_owner or entry.author == user.name]
    asked = [entry for entry in own if _fits(entry, wanted)]
    total = asked if wanted.user or wanted.project else found
    return SpendingView(
        dataset=name,
        account=wanted.account,
        entries=[_view(entry) for entry in asked],
        courses=[_course(account, total) for account in accounts],
    )


def _fits(entry: Entry, wanted: Wanted) -> bool:
    return wanted.user in (None, entry.author) and wanted.project in (None, entry.project)


def _view(entry: Entry) -> EntryView:
    return EntryView(
        at=entry.at,
        job=entry.job_id,
        author=entry.author,
        project=entry.project,
        dataset=entry.dataset,
        action=entry.action,
        currency=entry.currency,
        amount=format_amount(entry.currency, entry.amount),
    )


def _course(account: AccountView, entries: Iterable[Entry]) -> CourseView:
    own = [entry for entry in entries if entry.currency is account.currency]
    return CourseView(currency=account.currency, cap=account.cap, standings=_standings(account.currency, own))


def _standings(currency: Currency, entries: Sequence[Entry]) -> list[StandingView]:
    """What stood after each entry."""
    spent = reserved = 0
    found = []
    for entry in entries:
        reserved += entry.amount if entry.action is LedgerAction.RESERVE else -entry.amount
        spent += entry.amount if entry.action is LedgerAction.CHARGE else 0
        found.append(
            StandingView(
                at=entry.at,
                spent=format_amount(currency, spent),
                reserved=format_amount(currency, max(0, reserved)),
            )
        )
    return found
