"""Spending that a restored database has forgotten, put on its accounts again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import sqlalchemy as sa

from domain.errors import InvalidRequest
from domain.job import Reason
from domain.states import Actor, JobState, LedgerAction
from privacy.cost import Currency, format_amount
from store import audit, ledger, turn
from store import jobs as job_rows
from store.tables import accounts, jobs, ledger_entries

_CANCELLED = (JobState.CANCELLED, Actor.OPERATOR)
_ENDS = {
    JobState.SUBMITTED: _CANCELLED,
    JobState.QUEUED: _CANCELLED,
    JobState.PREPARING: _CANCELLED,
    JobState.RUNNING: _CANCELLED,
    JobState.AGGREGATING: (JobState.ERRORED, Actor.SWEEP),
}


def write_off(
    connection: sa.Connection, *, cohort: str, missing: Mapping[str, int], name: str, now: datetime
) -> None:
    """So much of each currency is spent of the cohort from now on, under a name of its own in place of a
    job's. Shares of users and projects stay as they were restored. Raises InvalidRequest where reservations
    leave too little."""
    turn.take(connection)
    for currency, units in sorted(missing.items()):
        account = ledger.find_account(
            connection, cohort=cohort, kind="cohort", holder=cohort, currency=Currency(currency)
        )
        if account is None or account.left < units:
            amount = format_amount(Currency(currency), units)
            raise InvalidRequest(
                "cohort",
                f"{amount} of {currency} of the cohort {cohort} is spent by the zone's ledger alone, more "
                "than its account has left.",
                "Cancel jobs that wait, so that their reservations are given back, and try again.",
            )
        connection.execute(
            sa.update(accounts).where(accounts.c.id == account.id).values(spent=accounts.c.spent + units)
        )
        row = {"account_id": account.id, "job_id": name, "amount": units, "at": now}
        both = (LedgerAction.RESERVE, LedgerAction.CHARGE)
        connection.execute(sa.insert(ledger_entries), [{**row, "action": action} for action in both])


def left(connection: sa.Connection, cohort: str) -> dict[str, int]:
    """Of each currency's account of a cohort."""
    found = [each for each in ledger.list_accounts(connection, cohort=cohort) if each.kind == "cohort"]
    return {account.currency.value: account.left for account in found}


def under_way(connection: sa.Connection) -> dict[str, JobState]:
    """All jobs that have no release and may still get one, with their states."""
    found = sa.select(jobs.c.id, jobs.c.state).where(jobs.c.state.in_(_ENDS)).order_by(jobs.c.id)
    return {row.id: JobState(row.state) for row in connection.execute(found)}


def end(connection: sa.Connection, found: Mapping[str, JobState], *, now: datetime, **fields: str) -> None:
    """Jobs that were or may have been charged and drawn in the time that the database has forgotten: nothing
    more comes of them. What it has charged stays; what it had set aside is written off where it was spent."""
    for job_id, before in found.items():
        after, actor = _ENDS[before]
        job_rows.move(connection, job_id, before, after, actor=actor, by="host", now=now, **fields)


def go_on(
    connection: sa.Connection, *, written_off: Mapping[str, Mapping[str, int]], now: datetime
) -> tuple[int, str]:
    """Put on record what was written off, and let the jobs go that waited for it; the trail's new head."""
    connection.execute(sa.update(jobs).where(jobs.c.reason == Reason.LEDGER_BEHIND.name).values(reason=None))
    audit.append(
        connection,
        at=now,
        actor="host",
        action="ledger.catch_up",
        subject="ledger",
        written_off={cohort: dict(units) for cohort, units in written_off.items()},
    )
    return audit.head(connection)
