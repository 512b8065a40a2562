"""A scan that takes longer than public sizes say is late; it keeps its lease, so it ends in no fault."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from test_twin_route import given_rich_heights, order
from waiting import let_pass, wait_until
from zones import Bench

import worker.twin.chunk
from store.tables import chunks
from worker.cancelling import LOOK_EVERY_S
from worker.chunk import Chunk, claim_chunk
from worker.execute import execute
from worker.twin.chunk import count_chunk

count_really = worker.twin.chunk.count


def claimed_long_ago(bench: Bench) -> Chunk:
    """A chunk whose lease is about to run out."""
    given_rich_heights(bench)
    job_id = order(bench)
    execute(bench.zone, job_id)
    chunk = claim_chunk(bench.zone, job_id, 0)
    assert chunk is not None
    return replace(chunk, claimed_at=chunk.claimed_at - chunk.schedule.chunk_s - 3600)


def lease(bench: Bench) -> Any:
    (row,) = bench.rows(chunks)
    return row["lease_until"]


def time_for_a_renewal() -> None:
    let_pass(3 * LOOK_EVERY_S, because="a watch would have looked by then, and nothing says that none does")


def slowed(until: Callable[[], object]) -> Callable[..., tuple[int, ...]]:
    def count(*arguments: Any, **limits: Any) -> tuple[int, ...]:
        until()
        return count_really(*arguments, **limits)

    return count


def test_the_lease_is_renewed_while_a_scan_goes_on(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    chunk = claimed_long_ago(bench)
    before = lease(bench)
    renewed = slowed(lambda: wait_until(lambda: lease(bench) != before))
    monkeypatch.setattr(worker.twin.chunk, "count", renewed)
    assert count_chunk(bench.zone, chunk)


def test_without_the_watch_it_is_not(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    chunk = claimed_long_ago(bench)
    before = lease(bench)
    monkeypatch.setattr(worker.twin.chunk, "watched", lambda *_: nullcontext())
    monkeypatch.setattr(worker.twin.chunk, "count", slowed(time_for_a_renewal))
    assert count_chunk(bench.zone, chunk)
    assert lease(bench) == before
