"""What must hold of a ledger, as checks that take the ledger module: the real one, or a mutant of it."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import ModuleType

import pytest
import sqlalchemy as sa
from factories import NOW

from domain.errors import BudgetExceeded, PlatformError
from store import audit
from store.database import Database
from store.tables import accounts, ledger_entries

COHORT = "town"
CLIENTS = 64


class Crash(Exception):
    """A process that dies before it commits."""


def reserve(
    ledger: ModuleType, connection: sa.Connection, job_id: str, amount: int, author: str = "ada"
) -> None:
    ledger.reserve(
        connection, job_id=job_id, cohort=COHORT, author=author, project=None, micro_epsilon=amount, now=NOW
    )
    note(connection, job_id)


def note(connection: sa.Connection, job_id: str) -> None:
    audit.append(connection, at=NOW, actor="ada", action="test", subject=job_id)


def open_account(database: Database, ledger: ModuleType, *, cap: int) -> None:
    with database.transaction() as connection:
        ledger.open_account(connection, cohort=COHORT, kind="cohort", holder=COHORT, cap=cap)


def check_sums(database: Database) -> tuple[int, int]:
    """(reserved, spent), after comparing the account with the sum of its entries and verifying the audit."""
    with database.reading() as connection:
        account = connection.execute(sa.select(accounts).where(accounts.c.kind == "cohort")).one()
        entries = connection.execute(
            sa.select(ledger_entries).where(ledger_entries.c.account_id == account.id)
        ).all()
        assert audit.verify(connection).intact
    total: Counter[str] = Counter()
    for entry in entries:
        total[entry.action] += entry.micro_epsilon
    assert account.spent == total["charge"]
    assert account.reserved == total["reserve"] - total["charge"] - total["refund"]
    assert 0 <= account.reserved + account.spent <= account.cap
    return account.reserved, account.spent


def check_race(database: Database, ledger: ModuleType, *, cap: int = 300_500, amount: int = 7_000) -> None:
    """All clients at once want the same budget: exactly as many succeed as it covers."""
    open_account(database, ledger, cap=cap)
    together = threading.Barrier(CLIENTS)

    def client(number: int) -> bool:
        together.wait(30)
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
    assert check_sums(database) == (0, charged * amount)


def check_interleavings(database: Database, ledger: ModuleType, *, seed: int) -> None:
    """Random reserves, charges and refunds by several clients, any of which may crash before its commit."""
    cap = 40_000
    open_account(database, ledger, cap=cap)
    with observed(database, cap=cap), ThreadPoolExecutor(6) as threads:
        histories = list(threads.map(lambda number: wander(database, ledger, f"{seed}-{number}"), range(6)))
    kept = {job_id: state for history in histories for job_id, state in history.items()}
    reserved = sum(amount for amount, settled in kept.values() if settled is None)
    spent = sum(amount for amount, settled in kept.values() if settled == "charge")
    assert check_sums(database) == (reserved, spent)


def wander(
    database: Database, ledger: ModuleType, name: str, *, steps: int = 25
) -> dict[str, tuple[int, str | None]]:
    """What one client committed: job -> (amount, how it was settled)."""
    draw = random.Random(name)
    kept: dict[str, tuple[int, str | None]] = {}
    for step in range(steps):
        action = draw.choice(["reserve", "charge", "refund"])
        job_id = f"job-{name}-{step}" if action == "reserve" or not kept else draw.choice(sorted(kept))
        amount = draw.randint(1_000, 9_000)
        try:
            with database.transaction() as connection:
                if action == "reserve":
                    reserve(ledger, connection, job_id, amount)
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
            assert kept[job_id][1] is not None, "only a settled reservation may be refused"
            continue
        assert action == "reserve" or kept[job_id][1] is None, "a reservation was settled twice"
        kept[job_id] = (amount, None) if action == "reserve" else (kept[job_id][0], action)
    return kept


def check_exact(database: Database, ledger: ModuleType) -> None:
    """All of the cap can be taken, and not one micro-epsilon more."""
    open_account(database, ledger, cap=10_000)
    with database.transaction() as connection:
        reserve(ledger, connection, "job-1", 4_000)
    with pytest.raises(BudgetExceeded), database.transaction() as connection:
        reserve(ledger, connection, "job-2", 6_001)
    with database.transaction() as connection:
        reserve(ledger, connection, "job-3", 6_000)
    assert check_sums(database) == (10_000, 0)


def check_refund(database: Database, ledger: ModuleType) -> None:
    """A refund gives back what is reserved, never what was spent."""
    open_account(database, ledger, cap=10_000)
    with database.transaction() as connection:
        for job_id in ("job-1", "job-2"):
            reserve(ledger, connection, job_id, 4_000)
        ledger.charge(connection, job_id="job-1", now=NOW)
        ledger.refund(connection, job_id="job-2", now=NOW)
    assert check_sums(database) == (0, 4_000)


def check_unreserved(database: Database, ledger: ModuleType) -> None:
    """Nothing is charged or refunded that was not reserved."""
    open_account(database, ledger, cap=10_000)
    for settle in (ledger.charge, ledger.refund):
        with pytest.raises(PlatformError, match="has no reservation"), database.transaction() as connection:
            settle(connection, job_id="job-1", now=NOW)


def check_amounts(database: Database, ledger: ModuleType) -> None:
    """An amount of budget is a positive integer."""
    open_account(database, ledger, cap=10_000)
    for number, amount in enumerate([0, -1_000, 0.5, 1_000.0, True, float("nan"), 10**10]):
        with pytest.raises(ValueError, match="positive integer"), database.transaction() as connection:
            reserve(ledger, connection, f"job-{number}", amount)  # type: ignore[arg-type]
    assert check_sums(database) == (0, 0)


def check_shares(database: Database, ledger: ModuleType) -> None:
    """A user's share binds in addition to the whole."""
    open_account(database, ledger, cap=10_000)
    with database.transaction() as connection:
        ledger.allot(connection, cohort=COHORT, kind="user", holder="ada", cap=5_000)
        reserve(ledger, connection, "job-1", 4_000)
    with pytest.raises(BudgetExceeded), database.transaction() as connection:
        reserve(ledger, connection, "job-2", 4_000)
    assert check_sums(database) == (4_000, 0)


@contextmanager
def observed(database: Database, *, cap: int) -> Iterator[None]:
    """Fails when anybody who looks at any time sees more taken than there is."""
    stop, seen = threading.Event(), []

    def look() -> None:
        while not stop.is_set():
            with database.reading() as connection:
                row = connection.execute(sa.select(accounts.c.reserved, accounts.c.spent)).one()
            seen.append(row.reserved + row.spent)
            stop.wait(0.002)

    observer = threading.Thread(target=look)
    observer.start()
    try:
        yield
    finally:
        stop.set()
        observer.join()
    assert seen
    assert max(seen) <= cap
