"""The privacy accounts: integer units, reserved, then charged or refunded, under the database's lock.

One hard cap per cohort and currency, over all data set versions and all users; projects and users may have
sub-allocations of it, which bind in addition. Nothing is added across currencies, and within one the plain
sum is a valid filter for adaptively chosen losses: `privacy.accounting` has the proofs.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa

from domain.errors import PlatformError, RequestError
from domain.refusals import jobs as refusals
from domain.states import LedgerAction
from privacy.cost import Cost, Currency, format_amount
from store import turn
from store.database import insert_once
from store.project_tables import project_members
from store.spoilt import reads
from store.tables import Moment, accounts, ledger_entries

AccountKind = Literal["cohort", "project", "user"]
IN_ORDER = (
    sa.case({"cohort": 0, "project": 1}, value=accounts.c.kind, else_=2),
    accounts.c.holder,
    sa.case({currency.value: place for place, currency in enumerate(Currency)}, value=accounts.c.currency),
)


@dataclass(frozen=True)
class Account:
    """A cap and what is taken of it, in units of its currency."""

    id: int
    cohort: str
    kind: AccountKind
    holder: str
    currency: Currency
    cap: int
    reserved: int
    spent: int

    @property
    def left(self) -> int:
        return self.cap - self.reserved - self.spent


@dataclass(frozen=True)
class Standing:
    """One of a cohort's caps, and what was spent of it just before and after one job's charge."""

    currency: Currency
    cap: int
    before: int
    after: int


# what is taken of an account: the amount of its own currency, so that one statement serves all currencies
_AMOUNT: sa.ColumnElement[int] = sa.case(
    *((accounts.c.currency == c.value, sa.bindparam(c.value, type_=sa.BigInteger)) for c in Currency)
)
_LEFT = accounts.c.cap - accounts.c.reserved - accounts.c.spent


def _change(action: LedgerAction, *conditions: sa.ColumnElement[bool], **values: Any) -> turn.Change:
    these = accounts.c.id.in_(sa.bindparam("ids", expanding=True))
    return turn.Change(
        sa.update(accounts).where(these, *conditions).values(**values),
        key=accounts.c.id,
        into=ledger_entries,
        own={"account_id": accounts.c.id, "amount": _AMOUNT},
        row={
            "job_id": sa.bindparam("job", type_=sa.String),
            "action": sa.literal(action.value),
            "at": sa.bindparam("now", type_=Moment),
        },
    )


# the room is asked for by the statement that takes it: two that looked first could both find the same room
_RESERVE = _change(LedgerAction.RESERVE, _LEFT >= _AMOUNT, reserved=accounts.c.reserved + _AMOUNT)
# asks for no room: what was reserved is inside the cap, so a charge is never refused for want of budget
_CHARGE = _change(
    LedgerAction.CHARGE, reserved=accounts.c.reserved - _AMOUNT, spent=accounts.c.spent + _AMOUNT
)
_REFUND = _change(LedgerAction.REFUND, reserved=accounts.c.reserved - _AMOUNT)
_RESERVED = (
    sa.select(accounts, ledger_entries.c.amount)
    .join(accounts, accounts.c.id == ledger_entries.c.account_id)
    .where(
        ledger_entries.c.job_id == sa.bindparam("job", type_=sa.String),
        ledger_entries.c.action == LedgerAction.RESERVE.value,
    )
    .order_by(ledger_entries.c.account_id)
)
_AUTHOR: sa.BindParameter[str] = sa.bindparam("author", type_=sa.String)
_COVERING = (
    sa.select(accounts, project_members.c.member)
    .outerjoin(
        project_members,
        (accounts.c.kind == "project")
        & (project_members.c.project == accounts.c.holder)
        & (project_members.c.member == _AUTHOR),
    )
    .where(
        accounts.c.cohort == sa.bindparam("cohort", type_=sa.String),
        accounts.c.currency.in_(sa.bindparam("currencies", expanding=True)),
        sa.or_(
            accounts.c.kind == "cohort",
            (accounts.c.kind == "user") & (accounts.c.holder == _AUTHOR),
            (accounts.c.kind == "project") & (accounts.c.holder == sa.bindparam("project", type_=sa.String)),
        ),
    )
    .order_by(accounts.c.id)
)


def open_account(
    connection: sa.Connection, *, cohort: str, kind: AccountKind, holder: str, currency: Currency, cap: int
) -> Account:
    """The account, new with nothing taken of it, or as it is when it was opened before."""
    check_cap(cap)
    values = {"cohort": cohort, "kind": kind, "holder": holder, "currency": currency.value, "cap": cap}
    insert_once(connection, accounts, {**values, "reserved": 0, "spent": 0})
    found = find_account(connection, cohort=cohort, kind=kind, holder=holder, currency=currency)
    assert found is not None
    return found


def find_account(
    connection: sa.Connection, *, cohort: str, kind: AccountKind, holder: str, currency: Currency
) -> Account | None:
    row = connection.execute(
        sa.select(accounts).where(
            accounts.c.cohort == cohort,
            accounts.c.kind == kind,
            accounts.c.holder == holder,
            accounts.c.currency == currency.value,
        )
    ).one_or_none()
    return None if row is None else account_of(row)


def list_accounts(
    connection: sa.Connection, *, cohort: str, of: Collection[tuple[AccountKind, str]] | None = None
) -> list[Account]:
    """The cohort's own first, then each project's and user's, or those `of` these kinds and holders; of each,
    epsilon before delta. Raises Spoilt where one cannot be read."""
    query = sa.select(accounts).where(accounts.c.cohort == cohort).order_by(*IN_ORDER)
    if of is not None:
        held = ((accounts.c.kind == kind) & (accounts.c.holder == holder) for kind, holder in of)
        query = query.where(sa.or_(accounts.c.kind == "cohort", *held))
    return [account_of(row) for row in connection.execute(query)]


def reserve(
    connection: sa.Connection,
    *,
    job_id: str,
    cohort: str,
    author: str,
    project: str | None,
    cost: Cost,
    now: datetime,
) -> None:
    """Set a job's cost aside in every account that covers it. Raises BudgetExceeded; then roll back."""
    # before the turn is taken: whoever is refused for want of an account keeps nobody waiting
    covering = _covering(connection, cohort=cohort, author=author, project=project, cost=cost)
    turn.take(connection)
    ids = [account.id for account in covering]
    reserved = _RESERVE.execute(connection, ids=ids, job=job_id, now=now, **_amounts(cost))
    # one account without room refuses all; what the others gave comes back as the caller rolls back
    if reserved != len(ids):
        raise _exceeded(connection, ids, cost)


def charge(connection: sa.Connection, *, job_id: str, now: datetime) -> None:
    """Turn the job's reservation into spent budget. Once only: a second call raises."""
    _settle(connection, _CHARGE, job_id, now)


def refund(connection: sa.Connection, *, job_id: str, now: datetime) -> None:
    """Give a reservation back; only the job state table decides when that is allowed."""
    _settle(connection, _REFUND, job_id, now)


def standings(connection: sa.Connection, *, job_id: str, cohort: str) -> tuple[Standing, ...]:
    """Where the cohort's accounts stood when the job was charged; it does not change with later charges."""
    charges = sa.select(
        ledger_entries.c.number, ledger_entries.c.amount, accounts.c.id, accounts.c.currency, accounts.c.cap
    ).join(accounts, accounts.c.id == ledger_entries.c.account_id)
    own = charges.where(
        accounts.c.cohort == cohort,
        accounts.c.kind == "cohort",
        ledger_entries.c.job_id == job_id,
        ledger_entries.c.action == LedgerAction.CHARGE,
    )
    return tuple(_standing(connection, row) for row in connection.execute(own.order_by(accounts.c.id)).all())


def _standing(connection: sa.Connection, own: Any) -> Standing:
    earlier = sa.select(sa.func.sum(ledger_entries.c.amount)).where(
        ledger_entries.c.account_id == own.id,
        ledger_entries.c.action == LedgerAction.CHARGE,
        # by number, which the turn gives out: clocks of two workers may name another order
        ledger_entries.c.number < own.number,
    )
    before = int(connection.execute(earlier).scalar() or 0)
    return Standing(Currency(own.currency), cap=own.cap, before=before, after=before + own.amount)


def _covering(
    connection: sa.Connection, *, cohort: str, author: str, project: str | None, cost: Cost
) -> list[Account]:
    currencies = [currency.value for currency, _ in cost]
    asked = {"cohort": cohort, "author": author, "project": project, "currencies": currencies}
    rows = connection.execute(_COVERING, asked).all()
    found = {(row.kind, row.currency): row for row in rows}
    for currency, _ in cost:
        if ("cohort", currency) not in found:
            raise no_budget(currency)
        share = found.get(("project", currency))
        if project is not None and (share is None or share.member is None):
            raise refusals.NO_SHARE(currency=currency, project=project, author=author)
    return [account_of(row) for row in rows]


def _settle(connection: sa.Connection, change: turn.Change, job_id: str, now: datetime) -> None:
    # the books say what was set aside: a policy or a price that has changed since must not change the charge
    entries = connection.execute(_RESERVED, {"job": job_id}).all()
    if not entries:
        raise PlatformError(f"job {job_id} has no reservation")
    for entry in entries:
        account_of(entry)  # the database would add to what it cannot read as to nothing
    amounts = {(entry.currency, entry.amount) for entry in entries}
    if len(amounts) != len({currency for currency, _ in amounts}):
        raise PlatformError(f"job {job_id} has reserved different amounts of one currency")
    turn.take(connection)
    cost = Cost.of({Currency(currency): amount for currency, amount in amounts})
    ids = [entry.id for entry in entries]
    change.execute(connection, ids=ids, job=job_id, now=now, **_amounts(cost))


def _amounts(cost: Cost) -> dict[str, int]:
    return {currency.value: cost[currency] for currency in Currency}


@reads("the budget of cohort", by="cohort")
def account_of(row: sa.Row[Any]) -> Account:
    """What is kept of one. Raises Spoilt: to count one that cannot be read as nothing taken would be to spend
    more than there is."""
    return Account(
        row.id, row.cohort, row.kind, row.holder, Currency(row.currency), row.cap, row.reserved, row.spent
    )


def check_cap(cap: int) -> None:
    """Raises ValueError for anything but a positive int that the database can keep."""
    # a negative amount would refill the budget: that bug has been shipped elsewhere
    if isinstance(cap, bool) or not isinstance(cap, int) or not 0 < cap < 2**62:
        raise ValueError("a cap is a positive integer of units of its currency")


def no_budget(currency: Currency) -> RequestError:
    """What to raise where the cohort has no account of a currency."""
    return refusals.NO_BUDGET(currency=currency)


def _exceeded(connection: sa.Connection, ids: list[int], cost: Cost) -> RequestError:
    query = sa.select(accounts).where(accounts.c.id.in_(ids)).order_by(accounts.c.id)
    found = [account_of(row) for row in connection.execute(query)]
    account = next(account for account in found if account.left < cost[account.currency])
    whose = {
        "cohort": "of this data set",
        "project": f"of the project {account.holder}",
        "user": f"of the user {account.holder}",
    }[account.kind]
    return refusals.OVER_BUDGET(
        at=str(account.currency),
        asked=_text(account, cost[account.currency]),
        left=_text(account, account.left),
        whose=whose,
        cap=_text(account, account.cap),
        spent=_text(account, account.spent),
        reserved=_text(account, account.reserved),
    )


def _text(account: Account, amount: int) -> str:
    return format_amount(account.currency, amount)
