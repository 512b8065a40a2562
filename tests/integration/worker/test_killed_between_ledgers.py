"""Killed after each commit of either ledger, in turn: nothing is lost, charged twice or drawn twice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from gateway_intruder import put_back, remember
from test_query_route import ask
from test_zone_books import Died, spent
from zones import Bench, check_books, given_heights, open_bench

from domain.states import JobState
from store import audit
from store.database import Database
from store.tables import releases
from store.zone_ledger import Kind, ZoneLedger
from worker.catching_up import catch_up
from worker.sweep import sweep

Ledgers = tuple[type, ...]
_COST = 100_000
_PATIENCE_S = 61


def taller_than(height: int) -> dict[str, Any]:
    return {"kind": "count", "where": [{"column": "height", "operator": ">", "value": height}]}


@contextmanager
def killed_after(commits: int, *, of: Ledgers) -> Iterator[None]:
    """From then on nothing is written, as after a kill: not even what was begun around it."""
    left = itertools.count(commits, -1)
    with pytest.MonkeyPatch.context() as patched:
        for kind, name in ((ZoneLedger, "writing"), (Database, "transaction")):
            if kind in of:
                patched.setattr(kind, name, _dying(getattr(kind, name), left))
        yield


def _dying(real: Any, left: Iterator[int]) -> Any:
    @contextmanager
    def once(self: Any) -> Iterator[Any]:
        with real(self) as it:
            yield it
        if next(left) <= 1:
            raise Died

    return once


def died(bench: Bench, commits: int, *, of: Ledgers) -> bool:
    try:
        with killed_after(commits, of=of):
            bench.drive()
    except Died:
        return True
    return False


def mended(bench: Bench, job_id: str) -> None:
    """By sweeps alone: whatever messages there were are lost."""
    bench.sent.take()
    for _ in range(8):
        if bench.job(job_id).state is JobState.RELEASED:
            return
        bench.clock.forward(_PATIENCE_S)
        sweep(bench.zone)
        bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED, bench.job(job_id).reason


def check_each(bench: Bench, ledgers: Ledgers, *, commits: int) -> None:
    given_heights(bench, policy={"timing": {"mode": "coarse", "step_seconds": 0.001}})
    for number in itertools.count(1):
        job_id = ask(bench, taller_than(150 + number), epsilon="0.1")
        was_killed = died(bench, number, of=ledgers)
        mended(bench, job_id)
        assert spent(bench) == (number * _COST, number * _COST)
        assert len(bench.rows(releases)) == number
        if not was_killed:
            break
    assert number == commits + 1
    check_books(bench)
    sweep(bench.zone)  # of one that was killed before it forgot its draw
    with bench.zone.ledger.reading() as page:
        assert len(page.having(Kind.DRAW)) == number
        assert page.having(Kind.REFUSED) == []
        assert page.all_drawn() == []


def test_killed_after_each_entry_of_the_zone(sqlite_bench: Bench) -> None:
    check_each(sqlite_bench, (ZoneLedger,), commits=4)


@pytest.mark.deep("more steps of one route, of which each takes a second")
def test_killed_after_each_commit_of_either(sqlite_bench: Bench) -> None:
    check_each(sqlite_bench, (ZoneLedger, Database), commits=12)


def test_a_catch_up_that_is_killed_is_made_again(sqlite_url: str, tmp_path: Path) -> None:
    with open_bench(sqlite_url, tmp_path) as bench:
        given_heights(bench)
        backup = remember(bench, tmp_path)
        ask(bench, taller_than(160), epsilon="0.1")
        bench.drive()
        put_back(bench, backup)
        waiting = ask(bench, taller_than(170), epsilon="0.1")
        with pytest.raises(Died), killed_after(1, of=(ZoneLedger,)):
            catch_up(bench.zone.ledger, bench.database, now=bench.clock())
        assert spent(bench) == (0, _COST)
        catch_up(bench.zone.ledger, bench.database, now=bench.clock())
        assert spent(bench) == (_COST, _COST)
        mended(bench, waiting)
        assert spent(bench) == (2 * _COST, 2 * _COST)


def test_a_charge_under_way_is_not_written_off_as_well(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    given_heights(bench)
    job_id = ask(bench, taller_than(160), epsilon="0.1")
    with pytest.raises(Died), killed_after(1, of=(ZoneLedger,)):
        bench.drive()
    assert spent(bench) == (0, _COST)
    assert catch_up(bench.zone.ledger, bench.database, now=bench.clock()) == {}
    mended(bench, job_id)
    assert spent(bench) == (_COST, _COST)
    with bench.database.reading() as connection:
        assert audit.verify(connection).intact
