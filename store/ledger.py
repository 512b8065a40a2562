"""The privacy account: integer micro-epsilon, reserved, then charged or refunded, under the database's lock.

One hard cap per cohort, over all its data set versions and all users; projects and users may have
sub-allocations of it, which bind in addition. Composition is the plain sum of pure epsilons, which is a valid
filter and odometer for adaptively chosen losses (Rogers et al. 2016; Whitehouse et al. 2023).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import sqlalchemy as sa

from domain.errors import BudgetExceeded, InvalidRequest, PlatformError
from domain.states import LedgerAction
from privacy.loss import MAX_MICRO_EPSILON, format_epsilon
from store import turn
from store.tables import Moment, accounts, ledger_entries, project_members

AccountKind = Literal["cohort", "project", "user"]


@dataclass(frozen=True)
class Account:
    """A cap and what is taken of it, in micro-epsilon."""

    id: int
    cohort: str
    kind: AccountKind
    holder: str
    cap: int
    reserved: int
    spent: int

    @property
    def left(self) -> int:
        return self.cap - self.reserved - self.spent


@dataclass(frozen=True)
class Standing:
    """A cohort's cap, and what was spent of it just before and after one job's charge."""

    cap: int
    before: int
    after: int


_AMOUNT: sa.BindParameter[int] = sa.bindparam("amount", type_=sa.BigInteger)
_LEFT = accounts.c.cap - accounts.c.reserved - accounts.c.spent


def _change(action: LedgerAction, *conditions: sa.ColumnElement[bool], **values: Any) -> turn.Change:
    these = accounts.c.id.in_(sa.bindparam("ids", expanding=True))
    return turn.Change(
        sa.update(accounts).where(these, *conditions).values(**values),
        key=accounts.c.id,
        into=ledger_entries,
        row={
            "account_id": accounts.c.id,
            "job_id": sa.bindparam("job", type_=sa.String),
            "action": sa.literal(action.value),
            "micro_epsilon": _AMOUNT,
            "at": sa.bindparam("now", type_=Moment),
        },
    )


_RESERVE = _change(LedgerAction.RESERVE, _LEFT >= _AMOUNT, reserved=accounts.c.reserved + _AMOUNT)
_CHARGE = _change(
    LedgerAction.CHARGE, reserved=accounts.c.reserved - _AMOUNT, spent=accounts.c.spent + _AMOUNT
)
_REFUND = _change(LedgerAction.REFUND, reserved=accounts.c.reserved - _AMOUNT)
_RESERVED = (
    sa.select(ledger_entries.c.account_id, ledger_entries.c.micro_epsilon)
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
        (project_members.c.account_id == accounts.c.id) & (project_members.c.member == _AUTHOR),
    )
    .where(
        accounts.c.cohort == sa.bindparam("cohort", type_=sa.String),
        sa.or_(
            accounts.c.kind == "cohort",
            (accounts.c.kind == "user") & (accounts.c.holder == _AUTHOR),
            (accounts.c.kind == "project") & (accounts.c.holder == sa.bindparam("project", type_=sa.String)),
        ),
    )
    .order_by(accounts.c.id)
)


def open_account(
    connection: sa.Connection, *, cohort: str, kind: AccountKind, holder: str, cap: int
) -> Account:
    """A new account with nothing taken of it."""
    _check_amount(cap)
    values = {"cohort": cohort, "kind": kind, "holder": holder, "cap": cap, "reserved": 0, "spent": 0}
    connection.execute(sa.insert(accounts).values(values))
    found = find_account(connection, cohort=cohort, kind=kind, holder=holder)
    assert found is not None
    return found


def find_account(connection: sa.Connection, *, cohort: str, kind: AccountKind, holder: str) -> Account | None:
    row = connection.execute(
        sa.select(accounts).where(
            accounts.c.cohort == cohort, accounts.c.kind == kind, accounts.c.holder == holder
        )
    ).one_or_none()
    return None if row is None else _account(row)


def list_accounts(connection: sa.Connection, *, cohort: str) -> list[Account]:
    query = sa.select(accounts).where(accounts.c.cohort == cohort).order_by(accounts.c.id)
    return [_account(row) for row in connection.execute(query)]


def allot(
    connection: sa.Connection, *, cohort: str, kind: Literal["project", "user"], holder: str, cap: int
) -> Account:
    """Set the sub-allocation of a project or user. It is a share of the cohort's cap, never more."""
    _check_amount(cap)
    turn.take(connection)
    whole = find_account(connection, cohort=cohort, kind="cohort", holder=cohort)
    if whole is None:
        raise PlatformError(f"the cohort {cohort} has no account")
    if cap > whole.cap:
        raise InvalidRequest(
            "epsilon",
            f"{format_epsilon(cap)} is more than the whole budget of {format_epsilon(whole.cap)}.",
            "Allot a part of it.",
        )
    present = find_account(connection, cohort=cohort, kind=kind, holder=holder)
    if present is None:
        return open_account(connection, cohort=cohort, kind=kind, holder=holder, cap=cap)
    changed = connection.execute(
        sa.update(accounts)
        .where(accounts.c.id == present.id, accounts.c.reserved + accounts.c.spent <= cap)
        .values(cap=cap)
    )
    if changed.rowcount != 1:
        taken = format_epsilon(present.reserved + present.spent)
        raise InvalidRequest(
            "epsilon", f"{taken} of this allocation is taken already.", f"Allot {taken} or more."
        )
    found = find_account(connection, cohort=cohort, kind=kind, holder=holder)
    assert found is not None
    return found


def members(connection: sa.Connection, account: Account) -> set[str]:
    """Who may spend from a project's allocation."""
    query = sa.select(project_members.c.member).where(project_members.c.account_id == account.id)
    return set(connection.execute(query).scalars())


def set_members(connection: sa.Connection, account: Account, names: tuple[str, ...]) -> None:
    """Replace the members of a project."""
    connection.execute(sa.delete(project_members).where(project_members.c.account_id == account.id))
    for name in sorted(set(names)):
        connection.execute(sa.insert(project_members).values(account_id=account.id, member=name))


def reserve(
    connection: sa.Connection,
    *,
    job_id: str,
    cohort: str,
    author: str,
    project: str | None,
    micro_epsilon: int,
    now: datetime,
) -> None:
    """Set a job's loss aside in every account that covers it. Raises BudgetExceeded; then roll back."""
    _check_amount(micro_epsilon)
    covering = _covering(connection, cohort=cohort, author=author, project=project)
    turn.take(connection)
    ids = [account.id for account in covering]
    reserved = _RESERVE.execute(connection, ids=ids, job=job_id, amount=micro_epsilon, now=now)
    if reserved != len(ids):
        raise _exceeded(connection, ids, micro_epsilon)


def charge(connection: sa.Connection, *, job_id: str, now: datetime) -> None:
    """Turn the job's reservation into spent budget. Once only: a second call raises."""
    _settle(connection, _CHARGE, job_id, now)


def refund(connection: sa.Connection, *, job_id: str, now: datetime) -> None:
    """Give a reservation back; only the job state table decides when that is allowed."""
    _settle(connection, _REFUND, job_id, now)


def standing(connection: sa.Connection, *, job_id: str, cohort: str) -> Standing:
    """Where the account stood when the job was charged; it does not change with later charges."""
    account = find_account(connection, cohort=cohort, kind="cohort", holder=cohort)
    assert account is not None
    charges = (ledger_entries.c.account_id == account.id, ledger_entries.c.action == LedgerAction.CHARGE)
    own = connection.execute(
        sa.select(ledger_entries.c.number, ledger_entries.c.micro_epsilon).where(
            *charges, ledger_entries.c.job_id == job_id
        )
    ).one()
    earlier = sa.select(sa.func.sum(ledger_entries.c.micro_epsilon)).where(
        *charges, ledger_entries.c.number < own.number
    )
    before = int(connection.execute(earlier).scalar() or 0)
    return Standing(cap=account.cap, before=before, after=before + own.micro_epsilon)


def _covering(connection: sa.Connection, *, cohort: str, author: str, project: str | None) -> list[Account]:
    rows = connection.execute(_COVERING, {"cohort": cohort, "author": author, "project": project}).all()
    found = {row.kind: row for row in rows}
    if "cohort" not in found:
        raise PlatformError(f"the cohort {cohort} has no account")
    if project is not None and ("project" not in found or found["project"].member is None):
        raise InvalidRequest(
            "project",
            f"no budget is allotted to a project {project} of which {author} is a member.",
            "Ask the rights holder, or leave project out.",
        )
    return [_account(row) for row in rows]


def _settle(connection: sa.Connection, change: turn.Change, job_id: str, now: datetime) -> None:
    entries = connection.execute(_RESERVED, {"job": job_id}).all()
    if not entries:
        raise PlatformError(f"job {job_id} has no reservation")
    amounts = {entry.micro_epsilon for entry in entries}
    if len(amounts) != 1:
        raise PlatformError(f"job {job_id} has reserved different amounts in its accounts")
    turn.take(connection)
    ids = [entry.account_id for entry in entries]
    change.execute(connection, ids=ids, job=job_id, amount=amounts.pop(), now=now)


def _account(row: sa.Row[Any]) -> Account:
    return Account(row.id, row.cohort, row.kind, row.holder, row.cap, row.reserved, row.spent)


def _check_amount(amount: int) -> None:
    # a negative amount would refill the budget: that bug has been shipped elsewhere
    if isinstance(amount, bool) or not isinstance(amount, int) or not 0 < amount <= MAX_MICRO_EPSILON:
        raise ValueError(f"an amount of budget is a positive integer of micro-epsilon, not {amount!r}")


def _exceeded(connection: sa.Connection, ids: list[int], asked: int) -> BudgetExceeded:
    query = sa.select(accounts).where(accounts.c.id.in_(ids)).order_by(accounts.c.id)
    account = next(found for row in connection.execute(query) if (found := _account(row)).left < asked)
    whose = {
        "cohort": "of this data set",
        "project": f"of the project {account.holder}",
        "user": f"of the user {account.holder}",
    }[account.kind]
    return BudgetExceeded(
        "epsilon",
        f"{format_epsilon(asked)} is more than the {format_epsilon(account.left)} left of the budget "
        f"{whose} (cap {format_epsilon(account.cap)}, spent {format_epsilon(account.spent)}, "
        f"reserved {format_epsilon(account.reserved)}).",
        "Ask for less, or ask the rights holder. Nothing was charged.",
    )
