"""Charges per second against one budget, through the real store, with real durability.

    python benchmarks/ledger.py [--clients 64] [--charges 100] [--on postgresql] [--on sqlite]

A charge is two transactions, as in the product: reserve and audit; charge and audit. Every client is a
process with one connection, and all of them want the same account. The cap covers nine tenths of what they
ask for, so the last tenth must be refused. fsync and synchronous_commit are on.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from multiprocessing.synchronize import Barrier
from pathlib import Path

import sqlalchemy as sa

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from services import postgresql_server

from domain.errors import BudgetExceeded
from privacy.cost import Cost, Currency
from store import audit, ledger
from store.database import Database
from store.tables import ledger_entries

COHORT = "town"
WARM_UP = 10  # statements are compiled and prepared once per process
AMOUNT = 1_000
COST = Cost.of({Currency.EPSILON: AMOUNT})
FORK = multiprocessing.get_context("fork")
START_S = 60
start_line: Barrier


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--charges", type=int, default=100, help="by each client")
    parser.add_argument("--on", action="append", choices=["postgresql", "sqlite"])
    arguments = parser.parse_args()
    print(f"{'database':<12}{'clients':>8}{'charges':>9}{'refused':>9}{'seconds':>9}{'charges/s':>11}")
    for name in arguments.on or ["postgresql", "sqlite"]:
        with {"postgresql": postgresql_url, "sqlite": sqlite_url}[name](arguments.clients) as url:
            made, refused, seconds = measure(url, clients=arguments.clients, charges=arguments.charges)
        print(f"{name:<12}{arguments.clients:>8}{made:>9}{refused:>9}{seconds:>9.2f}{made / seconds:>11.0f}")


@contextmanager
def postgresql_url(clients: int) -> Iterator[str]:
    with postgresql_server(connections=clients + 10) as server:
        yield server.fresh()


@contextmanager
def sqlite_url(_clients: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/ledger.db"


def measure(url: str, *, clients: int, charges: int) -> tuple[int, int, float]:
    """(charges made, refused, seconds) of all clients together; raises when the account does not add up."""
    affordable = clients * charges * 9 // 10
    prepare(url, cap=(affordable + clients * WARM_UP) * AMOUNT)
    barrier = FORK.Barrier(clients + 1)
    with ProcessPoolExecutor(clients, mp_context=FORK, initializer=share, initargs=(barrier,)) as pool:
        results = [pool.submit(client, url, number, charges) for number in range(clients)]
        barrier.wait(START_S)
        start = time.perf_counter()
        made = sum(result.result() for result in results)
        seconds = time.perf_counter() - start
    if made != affordable:
        raise SystemExit(f"{made} charges were made, {affordable} could be afforded")
    check(url, made=made + clients * WARM_UP)
    return made, clients * charges - made, seconds


def share(barrier: Barrier) -> None:
    global start_line
    start_line = barrier


def client(url: str, number: int, charges: int) -> int:
    database = Database(url, pool_size=1)
    for turn in range(WARM_UP):
        charged(database, f"warm-{number:03d}-{turn:05d}", author=f"user-{number}")
    start_line.wait(START_S)
    made = 0
    for turn in range(charges):
        made += charged(database, f"job-{number:03d}-{turn:05d}", author=f"user-{number}")
    database.close()
    return made


def charged(database: Database, job_id: str, *, author: str) -> bool:
    """What a job does to the ledger before its first run."""
    try:
        with database.transaction() as connection:
            now = datetime.now(UTC)
            ledger.reserve(
                connection,
                job_id=job_id,
                cohort=COHORT,
                author=author,
                project=None,
                cost=COST,
                now=now,
            )
            audit.append(connection, at=now, actor=author, action="job.submit", subject=job_id)
    except BudgetExceeded:
        return False
    with database.transaction() as connection:
        now = datetime.now(UTC)
        ledger.charge(connection, job_id=job_id, now=now)
        audit.append(connection, at=now, actor="worker", action="job.move", subject=job_id)
    return True


def prepare(url: str, *, cap: int) -> None:
    database = Database(url)
    database.migrate()
    with database.transaction() as connection:
        ledger.open_account(
            connection, cohort=COHORT, kind="cohort", holder=COHORT, currency=Currency.EPSILON, cap=cap
        )
    database.close()


def check(url: str, *, made: int) -> None:
    database = Database(url)
    with database.reading() as connection:
        account = ledger.find_account(
            connection, cohort=COHORT, kind="cohort", holder=COHORT, currency=Currency.EPSILON
        )
        entries = connection.execute(sa.select(sa.func.count()).select_from(ledger_entries)).scalar_one()
        intact = audit.verify(connection).intact
    database.close()
    assert account is not None
    if (account.spent, account.reserved) != (made * AMOUNT, 0) or entries != 2 * made:
        raise SystemExit(f"the account does not add up: {account}, {made} charges, {entries} entries")
    if not intact:
        raise SystemExit("the audit trail is broken")


if __name__ == "__main__":
    main()
