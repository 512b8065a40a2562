"""Cohorts, whose people and budgets the versions of data sets share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

import sqlalchemy as sa

from domain.budget import FIELDS, Accounting
from domain.dataset import Declaration
from domain.errors import Conflict, InvalidRequest, Spoilt
from privacy.cost import Currency, format_amount
from store import ledger
from store.database import insert_once
from store.tables import accounts, cohorts


def join(connection: sa.Connection, *, cohort: str, owner: str, now: datetime) -> None:
    """The cohort is this owner's, made or found. Raises Conflict where it is somebody else's."""
    if insert_once(connection, cohorts, {"id": cohort, "owner": owner, "created_at": now}):
        return
    present = connection.execute(sa.select(cohorts).where(cohorts.c.id == cohort)).one()
    if present.owner != owner:
        raise Conflict("cohort", f"the cohort {cohort} belongs to somebody else.", "Choose another name.")


def open_accounts(connection: sa.Connection, cohort: str, declaration: Declaration) -> None:
    """An account for each declared budget. A later version may open one more, and changes none."""
    present = {a.currency: a for a in ledger.list_accounts(connection, cohort=cohort) if a.kind == "cohort"}
    _check_same_accounting(cohort, present, declaration)
    for currency, cap in declaration.caps.items():
        account = present.get(currency) or ledger.open_account(
            connection, cohort=cohort, kind="cohort", holder=cohort, currency=currency, cap=cap
        )
        if account.cap != cap:
            raise _other_budget(cohort, account)
    for currency in present.keys() - declaration.caps.keys():
        raise _other_budget(cohort, present[currency])


def _check_same_accounting(
    cohort: str, present: Mapping[Currency, ledger.Account], declaration: Declaration
) -> None:
    is_zcdp = declaration.accounting is Accounting.ZCDP
    if (Currency.EPSILON if is_zcdp else Currency.RHO) in present:
        known = Accounting.PURE_SUM if is_zcdp else Accounting.ZCDP
        raise InvalidRequest(
            "accounting",
            f"losses of the cohort {cohort} add up by {known}, for all its versions.",
            f"Declare {known}.",
        )


def _other_budget(cohort: str, account: ledger.Account) -> InvalidRequest:
    cap = format_amount(account.currency, account.cap)
    return InvalidRequest(
        FIELDS[account.currency],
        f"the cohort {cohort} has a budget of {cap} {account.currency} for all its versions.",
        "Declare the same: registering again neither resets nor raises it.",
    )


def unreadable(connection: sa.Connection, *, among: Collection[str] | None) -> list[Spoilt]:
    """The budgets of all cohorts, or of these, of which an account cannot be read."""
    found = dict[str, Spoilt]()
    for row in connection.execute(sa.select(accounts).order_by(accounts.c.id)):
        try:
            ledger.account_of(row)
        except Spoilt as error:
            found.setdefault(str(row.cohort), error)
    return [error for cohort, error in found.items() if among is None or cohort in among]
