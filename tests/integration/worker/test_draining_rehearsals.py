"""A worker that drains claims no rehearsal, however often it is told of one; resumed, it takes the next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from test_rehearsals import ask, read
from zones import Bench, given_heights, open_bench

from domain.rehearsal import RehearsalState
from store import workers
from store.workers import Presence
from worker import rehearse as route


@pytest.fixture
def bench(sqlite_url: str, tmp_path: Path) -> Iterator[Bench]:
    with open_bench(sqlite_url, tmp_path) as opened:
        yield opened


def announce(bench: Bench, name: str) -> None:
    present = Presence(
        name=name, start="first", version="0", python="3", profile="standard", sandbox="supervised", slots=2,
        features={},
    )  # fmt: skip
    with bench.database.transaction() as connection:
        workers.announce(connection, present, now=bench.clock(), skew_s=0.0)


def test_a_draining_worker_claims_no_rehearsal(bench: Bench):
    given_heights(bench)
    name = bench.zone.settings.name
    for each in (name, "another"):
        announce(bench, each)
    waiting = ask(bench)
    with bench.database.transaction() as connection:
        workers.drain(connection, name, ends=False, by="olga", now=bench.clock())
    for _ in range(3):
        assert route.claim(bench.zone, waiting) is None
    route.rehearse(bench.zone, waiting)
    found = read(bench, waiting)
    assert (found.state, found.attempts) == (RehearsalState.QUEUED, 0)
    # what stops it is the drain of this worker: neither that of another, nor the rehearsal itself
    with bench.database.transaction() as connection:
        workers.resume(connection, name, by="olga", now=bench.clock())
        workers.drain(connection, "another", ends=False, by="olga", now=bench.clock())
    claimed = route.claim(bench.zone, waiting)
    assert claimed is not None
    assert claimed.state is RehearsalState.RUNNING
