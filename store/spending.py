"""Entries of an account, and the account over time. There may be any number: only so many are ever read."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.states import LedgerAction
from privacy.cost import Currency
from store.tables import accounts, datasets, jobs, ledger_entries


@dataclass(frozen=True)
class Wanted:
    """Which entries: those that have all of it. `reader` is whose own entries alone may be shown."""

    cohort: str
    kind: str = "cohort"
    holder: str = ""
    author: str | None = None
    project: str | None = None
    reader: str | None = None


@dataclass(frozen=True)
class Entry:
    """One change of an account; `amount` in units of the currency."""

    at: datetime
    job_id: str
    author: str
    project: str | None
    dataset: str
    action: LedgerAction
    currency: Currency
    amount: int


@dataclass(frozen=True)
class Standing:
    """What is spent and set aside, in units of the currency, from the entry with this place on; how many
    entries the account has."""

    at: datetime
    spent: int
    reserved: int
    place: int
    entries: int


_ENTRIES = ledger_entries.join(accounts, accounts.c.id == ledger_entries.c.account_id)
_WITH_JOBS = _ENTRIES.join(jobs, jobs.c.id == ledger_entries.c.job_id)
_NUMBER, _AMOUNT = ledger_entries.c.number, ledger_entries.c.amount
_CHANGE_OF_RESERVED = sa.case(
    {LedgerAction.RESERVE.value: _AMOUNT}, value=ledger_entries.c.action, else_=-_AMOUNT
)
_CHANGE_OF_SPENT = sa.case({LedgerAction.CHARGE.value: _AMOUNT}, value=ledger_entries.c.action, else_=0)


def count(connection: sa.Connection, wanted: Wanted) -> int:
    query = sa.select(sa.func.count()).select_from(_source(wanted)).where(*_fits(wanted))
    found: int = connection.execute(query).scalar_one()
    return found


def newest(
    connection: sa.Connection, wanted: Wanted, *, skipped: int = 0, limit: int | None = None
) -> list[Entry]:
    """So many entries, newest first, behind those that are skipped."""
    query = (
        sa.select(ledger_entries, accounts.c.currency, jobs.c.author, jobs.c.project, datasets.c.name)
        .select_from(_WITH_JOBS.join(datasets, datasets.c.id == jobs.c.dataset_id))
        .where(*_fits(wanted))
        .order_by(_NUMBER.desc())
        .offset(skipped)
        .limit(limit)
    )
    return [
        Entry(
            at=row.at,
            job_id=row.job_id,
            author=row.author,
            project=row.project,
            dataset=row.name,
            action=LedgerAction(row.action),
            currency=Currency(row.currency),
            amount=row.amount,
        )
        for row in connection.execute(query)
    ]


def courses(connection: sa.Connection, wanted: Wanted, *, most: int) -> dict[Currency, list[Standing]]:
    """What stood after each entry, oldest first. Of more than `most` entries in one currency, the first and
    the last of each of so many groups of one size: the database adds them up, and tells no others."""
    place = sa.func.row_number().over(partition_by=accounts.c.id, order_by=_NUMBER)
    every = (
        sa.select(
            accounts.c.currency,
            ledger_entries.c.at,
            _NUMBER,
            _total(_CHANGE_OF_SPENT).label("spent"),
            _total(_CHANGE_OF_RESERVED).label("reserved"),
            place.label("place"),
            sa.func.count().over(partition_by=accounts.c.id).label("entries"),
        )
        .select_from(_source(wanted))
        .where(*_fits(wanted))
        .subquery()
    )
    group = (every.c.entries + most - 1) // most
    is_told = sa.or_(every.c.place == 1, (every.c.entries - every.c.place) % group == 0)
    found: dict[Currency, list[Standing]] = defaultdict(list)
    for row in connection.execute(sa.select(every).where(is_told).order_by(every.c.number)):
        standing = Standing(row.at, row.spent, max(0, row.reserved), row.place, row.entries)
        found[Currency(row.currency)].append(standing)
    return found


def spenders(connection: sa.Connection, wanted: Wanted) -> list[tuple[str, str | None]]:
    """Who has entries that fit, and by which project."""
    query = sa.select(jobs.c.author, jobs.c.project).select_from(_WITH_JOBS).where(*_fits(wanted)).distinct()
    return [(row.author, row.project) for row in connection.execute(query)]


def _total(change: sa.ColumnElement[int]) -> sa.ColumnElement[int]:
    """Added up until each entry."""
    added = sa.func.sum(change).over(partition_by=accounts.c.id, order_by=_NUMBER)
    return sa.cast(added, sa.BigInteger)


def _source(wanted: Wanted) -> sa.Join:
    """With the jobs where they decide: beside very many entries they are what costs."""
    return _WITH_JOBS if wanted.author or wanted.project or wanted.reader else _ENTRIES


def _fits(wanted: Wanted) -> list[sa.ColumnElement[Any]]:
    fits = [accounts.c.cohort == wanted.cohort, accounts.c.kind == wanted.kind]
    asked = (
        (accounts.c.holder, wanted.holder or None),
        (jobs.c.author, wanted.author),
        (jobs.c.author, wanted.reader),
        (jobs.c.project, wanted.project),
    )
    return fits + [column == value for column, value in asked if value is not None]
