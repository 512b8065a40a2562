"""Shares of a cohort's budget for projects and users: they bind in addition to the whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import sqlalchemy as sa

from domain.errors import InvalidRequest
from privacy.cost import Currency, format_amount
from store import turn
from store.ledger import Account, check_cap, find_account, list_accounts, no_budget, open_account
from store.project_tables import project_members
from store.tables import accounts


def allot(
    connection: sa.Connection,
    *,
    cohort: str,
    kind: Literal["project", "user"],
    holder: str,
    currency: Currency,
    cap: int,
) -> Account:
    """Set the sub-allocation of a project or user. It is a share of the cohort's cap, never more."""
    check_cap(cap)
    turn.take(connection)
    whole = find_account(connection, cohort=cohort, kind="cohort", holder=cohort, currency=currency)
    if whole is None:
        raise no_budget(currency)
    if cap > whole.cap:
        raise InvalidRequest(
            "amount",
            f"{format_amount(currency, cap)} is more than the whole budget of "
            f"{format_amount(currency, whole.cap)}.",
            "Allot a part of it.",
        )
    share = open_account(connection, cohort=cohort, kind=kind, holder=holder, currency=currency, cap=cap)
    changed = connection.execute(
        sa.update(accounts)
        .where(accounts.c.id == share.id, accounts.c.reserved + accounts.c.spent <= cap)
        .values(cap=cap)
    )
    if changed.rowcount != 1:
        taken = format_amount(currency, share.reserved + share.spent)
        raise InvalidRequest(
            "amount", f"{taken} of this allocation is taken already.", f"Allot {taken} or more."
        )
    return replace(share, cap=cap)


def members(connection: sa.Connection, account: Account) -> set[str]:
    """Who may spend from a project's allocation: the members of the project of that name."""
    query = sa.select(project_members.c.member).where(project_members.c.project == account.holder)
    return set(connection.execute(query).scalars()) if account.kind == "project" else set()


def shares_of(connection: sa.Connection, *, project: str, cohort: str) -> list[Account]:
    """What a project may spend of a cohort's budget, by currency."""
    found = list_accounts(connection, cohort=cohort, of=[("project", project)])
    return [account for account in found if account.kind == "project"]
