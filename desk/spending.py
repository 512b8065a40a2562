"""How a budget was spent: entries, and each account over time. Public ledger values only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from desk.datasets import AccountView, get_budget
from desk.rights import needs
from domain.dataset import Dataset
from domain.errors import NotFound
from domain.loss import Currency, format_amount
from domain.model import Model, Slug
from domain.permissions import Permission, User
from domain.states import LedgerAction
from store import datasets, spending
from store.database import Database
from store.spending import Entry, Standing

MOST_ENTRIES = 10_000
MOST_STANDINGS = 400
"""More than a screen can show."""


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
    """One account over time. Of very many entries, so many standings that they look the same when drawn."""

    currency: Currency
    cap: str
    entries: int = Field(description="After each of which something else stood")
    standings: list[StandingView] = Field(
        description="Oldest first, the first and the newest among them; at most some 400"
    )


class SpendingView(BaseModel):
    """Entries that this user may see, newest first, and the course of each account that was asked for."""

    dataset: str
    account: str
    total: int = Field(description="So many entries fit; `entries` are one part of them")
    entries: list[EntryView] = Field(
        description="Of everybody for the rights holder; of a data user, their own"
    )
    courses: list[CourseView] = Field(
        description="Everybody's jobs together, unless user or project is given"
    )
    users: list[str] = Field(description="Whose entries this user may see, whatever was asked for")
    projects: list[str] = Field(description="The projects of those entries")


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
    before: Annotated[
        int | None, Field(ge=1, le=2**62, description="For the next part; the header `Link` has it")
    ] = None
    limit: Annotated[int, Field(ge=1, le=MOST_ENTRIES)] = 100

    def skipped(self, total: int) -> int:
        """How many of the newest entries are none of this part. An entry keeps its place, since they are
        counted from the oldest on: what comes while somebody reads moves nothing."""
        return 0 if self.before is None else max(0, total - self.before + 1)

    def after(self, found: SpendingView) -> dict[str, Any]:
        """What to ask for the next part; nothing where there is none."""
        left = found.total - self.skipped(found.total) - len(found.entries)
        asked = self.model_dump(mode="json", exclude_defaults=True) | {"before": left + 1}
        return asked if left > 0 else {}


@needs(Permission.BUDGET_READ)
def get_spending(database: Database, user: User, name: Slug, wanted: Wanted) -> SpendingView:
    """The rights holder sees everybody's entries; a data user sees their own, and how the total grew. Newest
    first, part by part."""
    accounts = _accounts(database, user, name, wanted)
    with database.reading() as connection:
        account, asked = _asked(datasets.newest(connection, name, user), user, wanted)
        total = spending.count(connection, asked)
        found = spending.newest(connection, asked, skipped=wanted.skipped(total), limit=wanted.limit)
        drawn = asked if wanted.user or wanted.project else account
        courses = spending.courses(connection, drawn, most=MOST_STANDINGS)
        spenders = spending.spenders(connection, replace(asked, author=None, project=None))
    return SpendingView(
        dataset=name,
        account=wanted.account,
        total=total,
        entries=[_view(entry) for entry in found],
        courses=[_course(each, courses.get(each.currency, [])) for each in accounts],
        users=sorted({author for author, _ in spenders}),
        projects=sorted({project for _, project in spenders if project}),
    )


@needs(Permission.BUDGET_READ)
def list_entries(database: Database, user: User, name: Slug, wanted: Wanted) -> list[EntryView]:
    """All that fit, oldest first, for a file."""
    _accounts(database, user, name, wanted)
    with database.reading() as connection:
        _, asked = _asked(datasets.newest(connection, name, user), user, wanted)
        return [_view(entry) for entry in reversed(spending.newest(connection, asked))]


def _accounts(database: Database, user: User, name: Slug, wanted: Wanted) -> list[AccountView]:
    """Raises NotFound where this user may see none."""
    kind, _, holder = wanted.account.partition(":")
    found = [
        account
        for account in get_budget(database, user, name).accounts
        if account.kind == kind and (kind == "cohort" or account.holder == holder)
    ]
    if not found:
        raise NotFound("account", f"there is no account {wanted.account} that you may see.")
    return found


def _asked(dataset: Dataset, user: User, wanted: Wanted) -> tuple[spending.Wanted, spending.Wanted]:
    """The whole account, and what was asked for of what this user may see of it."""
    kind, _, holder = wanted.account.partition(":")
    account = spending.Wanted(dataset.cohort, kind, holder)
    reader = None if user.name == dataset.owner else user.name
    return account, replace(account, author=wanted.user, project=wanted.project, reader=reader)


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


def _course(account: AccountView, standings: Sequence[Standing]) -> CourseView:
    currency = account.currency
    return CourseView(
        currency=currency,
        cap=account.cap,
        entries=standings[-1].entries if standings else 0,
        standings=[
            StandingView(
                at=standing.at,
                spent=format_amount(currency, standing.spent),
                reserved=format_amount(currency, standing.reserved),
            )
            for standing in standings
        ],
    )
