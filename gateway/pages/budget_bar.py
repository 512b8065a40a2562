"""What is left of a budget, as pages draw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from desk.datasets import AccountView, BudgetView, get_budget
from domain.errors import Spoilt
from domain.permissions import User
from store.database import Database

LONGEST = 8
"""Characters of an amount that is shown as it is. A longer one is cut; its exact text is the drawing's."""
WHOSE = {"cohort": "everybody together", "project": "the project", "user": "one user"}


@dataclass(frozen=True)
class Bar:
    """One account: exact amounts as text, and the widths of its parts in percent for the eye."""

    name: str
    kind: str
    holder: str
    cap: str
    spent: str
    reserved: str
    left: str
    left_percent: str
    reserved_percent: str

    @property
    def whose(self) -> str:
        return WHOSE[self.kind] + ("" if self.kind == "cohort" else f" {self.holder}")

    @property
    def left_shown(self) -> str:
        return _short(self.left)

    @property
    def cap_shown(self) -> str:
        return _short(self.cap)

    @classmethod
    def of(cls, account: AccountView) -> Bar:
        cap = Fraction(account.cap)
        return cls(
            name=str(account.currency),
            kind=account.kind,
            holder=account.holder,
            cap=account.cap,
            spent=account.spent,
            reserved=account.reserved,
            left=account.left,
            left_percent=percent(Fraction(account.left), cap),
            reserved_percent=percent(Fraction(account.reserved), cap),
        )


def bars(budget: BudgetView) -> list[Bar]:
    """Every account that binds this reader, the cohort's first."""
    return [Bar.of(account) for account in budget.accounts]


def binding(budget: BudgetView, *, project: str | None) -> BudgetView:
    """The accounts that a job would be charged to: everybody's, the user's own, and that of the project which
    pays as well."""
    accounts = [
        account for account in budget.accounts if account.kind != "project" or account.holder == project
    ]
    return budget.model_copy(update={"accounts": accounts})


def whole(budget: BudgetView) -> list[Bar]:
    """The accounts of everybody together."""
    return [bar for bar in bars(budget) if bar.kind == "cohort"]


def whole_or_why(database: Database, user: User, name: str) -> tuple[list[Bar], str]:
    """For a list; where it cannot be read, the sentence that says so, in place of an amount."""
    try:
        return whole(get_budget(database, user, name)), ""
    except Spoilt as error:
        return [], error.sentence


def questions_left(accounts: Sequence[Bar], cost: Mapping[str, str]) -> int:
    """How often the accounts that pay could pay this, until the first of them is empty."""
    times = (
        Fraction(account.left) // Fraction(cost[account.name])
        for account in accounts
        if Fraction(cost.get(account.name, "0")) > 0
    )
    return min(times, default=0)


def percent(part: Fraction, of: Fraction) -> str:
    """A width between 0 and 100, with as many digits as a screen can show."""
    return f"{float(max(Fraction(0), min(Fraction(1), part / of)) * 100):.3f}"


def _short(amount: str) -> str:
    """At most so many characters, never more than there is."""
    return amount if len(amount) <= LONGEST or "." not in amount[:LONGEST] else f"{amount[:LONGEST]}…"
