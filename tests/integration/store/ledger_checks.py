"""What must hold of a ledger, as checks that take the ledger module: the real one, or a mutant of it."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import pytest
import sqlalchemy as sa
from factories import NOW

from domain.errors import BudgetExceeded, PlatformError
from privacy.cost import Cost, Currency
from store import audit
from store.database import Database
from store.tables import accounts, ledger_entries

COHORT = "town"
CLIENTS = 64
# of one unit of what a check asks for, so many units in each currency that it asks in
RATES = {Currency.EPSILON: 1, Currency.DELTA: 3, Currency.NATS: 2}
KINDS = (
    (Currency.EPSILON,),
    (Currency.EPSILON, Currency.DELTA),
    (Currency.NATS,),
    (Currency.EPSILON, Currency.DELTA, Currency.NATS),
)


class Crash(Exception):
    """A process that dies before it commits."""


def cost_of(amount: int, currencies: tuple[Currency, ...] = KINDS[1]) -> Cost:
    return Cost.of({currency: amount * RATES[currency] for currency in currencies})


def reserve(
    ledger: ModuleType,
    connection: sa.Connection,
    job_id: str,
    amount: int,
    author: str = "ada",
    currencies: tuple[Currency, ...] = KINDS[1],
) -> None:
    ledger.reserve(
        connection,
        job_id=job_id,
        cohort=COHORT,
        author=author,
        project=None,
        cost=cost_of(amount, currencies),
        now=NOW,
    )
    note(connection, job_id)


def note(connection: sa.Connection, job_id: str) -> None:
    audit.append(connection, at=NOW, actor="ada", action="test", subject=job_id)


def open_accounts(database: Database, ledger: ModuleType, *, cap: int) -> None:
    """The cohort's accounts, of which none runs out before the others when all are asked for together."""
    with database.transaction() as connection:
        for currency, rate in RATES.items():
            ledger.open_account(
                connection, cohort=COHORT, kind="cohort", holder=COHORT, currency=currency, cap=cap * rate
            )


def check_sums(database: Database) -> dict[Currency, tuple[int, int]]:
    """(reserved, spent) of each currency in units of what was asked for, after comparing every account with
    the sum of its entries and verifying the audit."""
    with database.reading() as connection:
        found = connection.execute(sa.select(accounts).where(accounts.c.kind == "cohort")).all()
        entries = connection.execute(sa.select(ledger_entries)).all()
        assert audit.verify(connection).intact
    return {Currency(account.currency): _taken(account, entries) for account in found}


def _taken(account: Any, entries: Sequence[Any]) -> tuple[int, int]:
    total: Counter[str] = Counter()
    for entry in entries:
        if entry.account_id == account.id:
            total[entry.action] += entry.amount
    assert account.spent == total["charge"]
    assert account.reserved == total["reserve"] - total["charge"] - total["refund"]
    assert 0 <= account.reserved + account.spent <= account.cap
    rate = RATES[Currency(account.currency)]
    return account.reserved // rate, account.spent // rate


def both(reserved: int, spent: int) -> dict[Currency, tuple[int, int]]:
    """What `check_sums` gives after jobs that asked in epsilon and delta."""
    return dict.fromkeys(KINDS[1], (reserved, spent)) | {Currency.NATS: (0, 0)}


def check_race(database: Database, ledger: ModuleType, *, cap: int = 300_500, amount: int = 7_000) -> None:
    """All clients at once want the same budget: exactly as many succeed as it covers."""
    open_accounts(database, ledger, cap=cap)
    together = threading.Barrier(CLIENTS)

    def client(number: int) -> bool:
        together.wait()
        try:
            with database.transaction() as connection:
                reserve(ledger, connection, f"job-{number}", amount, author=f"user-{number}")
        except BudgetExceeded:
            return False
        with database.transaction() as connection:
            ledger.charge(connection, job_id=f"job-{number}", now=NOW)
            note(connection, f"job-{number}")
        return True

    with observed(database, cap=cap), ThreadPoolExecutor(CLIENTS) as threads:
        charged = sum(threads.map(client, range(CLIENTS)))
    assert charged == cap // amount
    assert check_sums(database) == both(0, charged * amount)


def check_interleavings(database: Database, ledger: ModuleType, *, seed: int) -> None:
    """Random reserves, charges and refunds by several clients, any of which may crash before its commit."""
    cap = 40_000
    open_accounts(database, ledger, cap=cap)
    with observed(database, cap=cap), ThreadPoolExecutor(6) as threads:
        histories = list(threads.map(lambda number: wander(database, ledger, f"{seed}-{number}"), range(6)))
    kept = {job_id: state for history in histories for job_id, state in history.items()}
    expected = {
        currency: (
            sum(amount for amount, kinds, settled in kept.values() if currency in kinds and settled is None),
            sum(
                amount
                for amount, kinds, settled in kept.values()
                if currency in kinds and settled == "charge"
            ),
        )
        for currency in RATES
    }
    assert check_sums(database) == expected


def wander(
    database: Database, ledger: ModuleType, name: str, *, steps: int = 25
) -> dict[str, tuple[int, tuple[Currency, ...], str | None]]:
    """What one client committed: job -> (amount, in which currencies, how it was settled)."""
    draw = random.Random(name)
    kept: dict[str, tuple[int, tuple[Currency, ...], str | None]] = {}
    for step in range(steps):
        action = draw.choice(["reserve", "charge", "refund"])
        job_id = f"job-{name}-{step}" if action == "reserve" or not kept else draw.choice(sorted(kept))
        amount, currencies = draw.randint(1_000, 9_000), draw.choice(KINDS)
        try:
            with database.transaction() as connection:
                if action == "reserve":
                    reserve(ledger, connection, job_id, amount, currencies=currencies)
                else:
                    getattr(ledger, action)(connection, job_id=job_id, now=NOW)
                    note(connection, job_id)
                if draw.random() < 0.25:
                    raise Crash
        except (Crash, BudgetExceeded):
            continue
        except PlatformError:
            assert job_id not in kept
            continue
        except sa.exc.IntegrityError:
            assert kept[job_id][2] is not None, "only a settled reservation may be refused"
            continue
        assert action == "reserve" or kept[job_id][2] is None, "a reservation was settled twice"
        kept[job_id] = (amount, currencies, None) if action == "reserve" else (*kept[job_id][:2], action)
    return kept


def check_exact(database: Database, ledger: ModuleType) -> None:
    """All of the cap can be taken, and not one micro-epsilon more."""
    open_accounts(database, ledger, cap=10_000)
    with database.transaction() as connection:
        reserve(ledger, connection, "job-1", 4_000)
    with pytest.raises(BudgetExceeded), database.transaction() as connection:
        reserve(ledger, connection, "job-2", 6_001)
    with database.transaction() as connection:
        reserve(ledger, connection, "job-3", 6_000)
    assert check_sums(database) == both(10_000, 0)


def check_spent(database: Database, ledger: ModuleType) -> None:
    """What was spent is gone for good."""
    open_accounts(database, ledger, cap=10_000)
    with database.transaction() as connection:
        reserve(ledger, connection, "job-1", 4_000)
        ledger.charge(connection, job_id="job-1", now=NOW)
    with pytest.raises(BudgetExceeded), database.transaction() as connection:
        reserve(ledger, connection, "job-2", 6_001)
    assert check_sums(database) == both(0, 4_000)


def check_refund(database: Database, ledger: ModuleType) -> None:
    """A refund gives back what is reserved, never what was spent."""
    open_accounts(database, ledger, cap=10_000)
    with database.transaction() as connection:
        for job_id in ("job-1", "job-2"):
            reserve(ledger, connection, job_id, 4_000)
        ledger.charge(connection, job_id="job-1", now=NOW)
        ledger.refund(connection, job_id="job-2", now=NOW)
    assert check_sums(database) == both(0, 4_000)


def check_unreserved(database: Database, ledger: ModuleType) -> None:
    """Nothing is charged or refunded that was not reserved."""
    open_accounts(database, ledger, cap=10_000)
    for settle in (ledger.charge, ledger.refund):
        with pytest.raises(PlatformError, match="has no reservation"), database.transaction() as connection:
            settle(connection, job_id="job-1", now=NOW)


def check_caps(database: Database, ledger: ModuleType) -> None:
    """A cap is a positive integer."""
    for number, cap in enumerate([0, -1_000, 0.5, 1_000.0, True, float("nan"), 2**62]):
        with pytest.raises(ValueError, match="positive integer"), database.transaction() as connection:
            ledger.open_account(
                connection,
                cohort=f"cohort-{number}",
                kind="cohort",
                holder=f"cohort-{number}",
                currency=Currency.EPSILON,
                cap=cap,
            )
    assert check_sums(database) == {}


def check_one_is_not_enough(database: Database, ledger: ModuleType) -> None:
    """Every currency must be covered: what is left of one is no help where another has run out."""
    open_accounts(database, ledger, cap=10_000)
    with database.transaction() as connection:
        reserve(ledger, connection, "job-1", 8_000, currencies=(Currency.EPSILON,))
    with pytest.raises(BudgetExceeded), database.transaction() as connection:
        reserve(ledger, connection, "job-2", 3_000)
    with database.transaction() as connection:
        reserve(ledger, connection, "job-3", 10_000, currencies=(Currency.NATS,))
    sums = {Currency.EPSILON: (8_000, 0), Currency.DELTA: (0, 0), Currency.NATS: (10_000, 0)}
    assert check_sums(database) == sums


def check_unknown_currency(database: Database, ledger: ModuleType) -> None:
    """A currency without an account covers nothing, whatever the others hold."""
    open_accounts(database, ledger, cap=10_000)
    cost = Cost.of({Currency.EPSILON: 1_000, Currency.RHO: 1})
    with pytest.raises(BudgetExceeded, match="no budget of rho"), database.transaction() as connection:
        ledger.reserve(
            connection, job_id="job-1", cohort=COHORT, author="ada", project=None, cost=cost, now=NOW
        )
    assert check_sums(database) == both(0, 0)


def check_shares(database: Database, ledger: ModuleType) -> None:
    """A user's share of one currency binds in addition to the whole."""
    open_accounts(database, ledger, cap=10_000)
    with database.transaction() as connection:
        ledger.open_account(
            connection, cohort=COHORT, kind="user", holder="ada", currency=Currency.DELTA, cap=15_000
        )
        reserve(ledger, connection, "job-1", 4_000)
    with pytest.raises(BudgetExceeded), database.transaction() as connection:
        reserve(ledger, connection, "job-2", 4_000)
    assert check_sums(database) == both(4_000, 0)


@contextmanager
def observed(database: Database, *, cap: int) -> Iterator[None]:
    """Fails when anybody who looks at any time sees more taken than there is."""
    stop, seen = threading.Event(), []
    columns = (accounts.c.currency, accounts.c.reserved, accounts.c.spent)

    def look() -> None:
        is_over = False
        while not is_over:
            with database.reading() as connection:
                rows = connection.execute(sa.select(*columns)).all()
            seen.extend((row.reserved + row.spent) / RATES[Currency(row.currency)] for row in rows)
            is_over = stop.wait(0.002)

    observer = threading.Thread(target=look)
    observer.start()
    try:
        yield
    finally:
        stop.set()
        observer.join()
    assert seen
    assert max(seen) <= cap
