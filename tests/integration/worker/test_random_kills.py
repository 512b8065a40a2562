"""Faults at random in one process: what `tests/random_faults.py` does to real workers, in a moment."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
import sqlalchemy as sa
from sqlalchemy import event
from test_killed_between_ledgers import killed_after, taller_than
from test_query_route import ask
from test_zone_books import Died, spent
from zones import Bench, check_books, given_heights

from domain.errors import NotFound, NotReady
from domain.states import JobState, is_terminal
from store.database import Database
from store.tables import releases
from store.zone_ledger import Kind, ZoneLedger
from worker.sweep import sweep

_OF_EACH, _COST = 3, 100_000
_KINDS = ("kill", "no statement", "lost", "twice", "of others", "clock")


@contextmanager
def broken_after(bench: Bench, statements: int) -> Iterator[None]:
    """The database answers so many statements, and from then on none: a full disk, an ended connection."""
    left = [statements]

    def count(*_: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise sa.exc.OperationalError("", None, Exception("gone"))

    event.listen(bench.database.engine, "before_cursor_execute", count)
    try:
        yield
    finally:
        event.remove(bench.database.engine, "before_cursor_execute", count)


def strike(bench: Bench, kind: str, chance: random.Random) -> None:
    if kind == "kill":
        with suppress(Died), killed_after(chance.randint(1, 12), of=(ZoneLedger, Database)):
            bench.drive()
    elif kind == "no statement":
        with suppress(sa.exc.OperationalError, NotReady), broken_after(bench, chance.randint(1, 200)):
            bench.drive()
    elif kind == "lost":
        bench.sent.take()
    elif kind == "twice":
        deliver_some(bench, chance.randint(1, 4), times=2)
    elif kind == "clock":
        step_s = chance.choice([-1, 1]) * chance.choice([1, 100, 86_400])
        bench.clock.forward(step_s)
        deliver_some(bench, chance.randint(1, 3))
        bench.clock.forward(-step_s)
    else:
        others = [("chunk", "no-such-job", 0), ("publish", "no-such-job", 0.0), ("job", "no-such-job")]
        with suppress(NotFound):
            bench.deliver(chance.choice(others))


def deliver_some(bench: Bench, count: int, *, times: int = 1) -> None:
    for _ in range(count):
        if bench.sent.queue:
            bench.deliver(bench.sent.queue.popleft(), times=times)


def mend(bench: Bench, asked: list[str]) -> None:
    """By sweeps alone; each is later than the last by what workers wait before they send again."""
    bench.sent.take()
    for _ in range(8):
        bench.clock.forward(bench.zone.settings.resend_after_s + 1)
        sweep(bench.zone)
        bench.drive()
        if all(is_terminal(bench.job(job_id).state) for job_id in asked):
            break


@pytest.mark.parametrize(
    "seed", [1, pytest.param(None, marks=pytest.mark.deep("others each time; every change meets the same"))]
)
def test_faults_at_random_lose_nothing_and_charge_and_draw_once(
    sqlite_bench: Bench, subtests: pytest.Subtests, seed: int | None
) -> None:
    bench, asked = sqlite_bench, []
    seed = random.SystemRandom().randrange(2**32) if seed is None else seed
    chance = random.Random(seed)
    given_heights(bench, policy={"timing": {"mode": "coarse", "step_seconds": 0.001}})
    kinds = chance.sample(_KINDS * _OF_EACH, k=_OF_EACH * len(_KINDS))
    for number, kind in enumerate(kinds):
        with subtests.test("a fault", seed=seed, number=number, kind=kind):
            asked.append(ask(bench, taller_than(150 + number), epsilon="0.1"))
            strike(bench, kind, chance)
            mend(bench, asked[-1:])
            assert bench.job(asked[-1]).state is JobState.RELEASED, bench.job(asked[-1]).reason
            assert spent(bench) == (len(asked) * _COST, len(asked) * _COST)
    assert sorted(row["job_id"] for row in bench.rows(releases)) == sorted(asked)
    check_books(bench)
    with bench.zone.ledger.reading() as page:
        page.entries()
        assert sorted(entry.subject for entry in page.having(Kind.DRAW)) == sorted(asked)
        assert page.having(Kind.REFUSED) == []
