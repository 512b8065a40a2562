"""When jobs are due that are charged while others run, and what becomes of runs that are not ready."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import pytest
from zones import Bench, given_heights, submit

from domain.job import Job, Reason
from domain.schedule import QUEUEING_S
from domain.states import Actor, JobState
from store import datasets, jobs
from worker import chunk as chunks
from worker import time_grid
from worker.chunk import claim_chunk
from worker.collect import collect, unpack
from worker.execute import execute, execute_chunk
from worker.sweep import sweep

SLOW = 1


def charged(bench: Bench, *, wall_s: float = 0.5) -> tuple[Job, float]:
    """A job that runs, and the seconds of its schedule."""
    job_id = submit(bench, epsilon="1", wall_s=wall_s)
    execute(bench.zone, job_id)
    job = bench.job(job_id)
    assert job.slots
    with bench.zone.database.reading() as connection:
        declaration = datasets.of_job(connection, job).declaration
    return job, job.request.schedule(declaration, slots=job.slots).visible_after_s


def test_a_job_whose_runs_wait_for_the_host_is_not_due_before_it_can_be(sqlite_bench: Bench) -> None:
    given_heights(sqlite_bench, policy={"isolation": "exclusive"})
    (first, first_s), (second, second_s) = charged(sqlite_bench), charged(sqlite_bench)
    assert first.charged_at
    assert first.due_at
    assert second.due_at
    assert (first.due_at - first.charged_at).total_seconds() == pytest.approx(first_s)
    assert (second.due_at - first.due_at).total_seconds() == pytest.approx(second_s + QUEUEING_S)


@dataclass
class Clock:
    """Stands still but for those who wait for an edge of the grid, and for a run that is slow to end."""

    now: float

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_run_that_is_not_ready_at_its_turn_is_a_default_and_the_chunk_ends_in_time(
    sqlite_bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_heights(sqlite_bench, policy={"isolation": "exclusive", "timing": {"mode": "padded"}})
    job, _ = charged(sqlite_bench, wall_s=20)  # on a busy host a run takes its time
    chunk = claim_chunk(sqlite_bench.zone, job.id, 0)
    assert chunk is not None
    clock, ended = Clock(chunk.claimed_at), []

    def slow_to_end(*given: Any, **more: Any) -> tuple[int, ...] | None:
        clock.now += 1.5 * chunk.schedule.quantum_s * (len(ended) == SLOW)
        ended.append(clock.now)
        return collect(*given, **more)

    monkeypatch.setattr(time_grid, "time", clock)
    monkeypatch.setattr(chunks, "collect", slow_to_end)
    outputs = chunks.run(sqlite_bench.zone, chunk)
    failed = [run for run, packed in outputs.items() if unpack(packed) is None]
    assert failed == [SLOW + 1]
    assert len(outputs) > SLOW + 2
    schedule = chunk.schedule
    taken = schedule.first_run_s + len(outputs) * schedule.quantum_s + schedule.dying_s
    assert clock.now == pytest.approx(chunk.claimed_at + taken)


def test_no_chunk_is_begun_just_before_a_release(sqlite_bench: Bench) -> None:
    """One process does both: the release would be seen when the chunk ends."""
    given_heights(sqlite_bench, policy={"isolation": "exclusive", "timing": {"mode": "padded"}})
    (first, _), (second, _) = charged(sqlite_bench), charged(sqlite_bench)
    sqlite_bench.sent.take()
    execute_chunk(sqlite_bench.zone, first.id, 0)
    (published,) = sqlite_bench.sent.take()
    assert published[:2] == ("publish", first.id)
    sqlite_bench.clock.forward(published[2] - 0.5)
    execute_chunk(sqlite_bench.zone, second.id, 0)
    assert sqlite_bench.sent.take() == [("chunk", second.id, 0)], "it comes back"
    sqlite_bench.deliver((*published[:2], 0.5))
    execute_chunk(sqlite_bench.zone, second.id, 0)
    assert [kind for kind, *_ in sqlite_bench.sent.take()] == ["publish"]


def ended(bench: Bench, job_id: str, state: JobState, actor: Actor) -> None:
    with bench.zone.database.transaction() as connection:
        assert jobs.move(connection, job_id, JobState.RUNNING, state, actor=actor, now=bench.zone.now())


def two_of_whom_the_second_waits(bench: Bench) -> tuple[Job, Job, float]:
    """And the seconds of a schedule."""
    given_heights(bench, policy={"isolation": "exclusive"})
    (first, _), (second, second_s) = charged(bench), charged(bench)
    return first, second, second_s


def test_who_waits_for_a_job_that_is_cancelled_is_due_earlier(sqlite_bench: Bench) -> None:
    first, second, second_s = two_of_whom_the_second_waits(sqlite_bench)
    ended(sqlite_bench, first.id, JobState.CANCELLED, Actor.DATA_USER)
    waits = timedelta(seconds=second_s + QUEUEING_S)
    earliest = sqlite_bench.zone.now() + waits
    sweep(sqlite_bench.zone)
    due = sqlite_bench.job(second.id).due_at
    assert due
    assert second.due_at
    assert due < second.due_at
    assert earliest <= due <= sqlite_bench.zone.now() + waits
    sqlite_bench.clock.forward(1)
    sweep(sqlite_bench.zone)
    assert sqlite_bench.job(second.id).due_at == due


def test_how_runs_went_makes_nobody_earlier(sqlite_bench: Bench) -> None:
    """That a job ended as ERRORED can depend on data."""
    first, second, _ = two_of_whom_the_second_waits(sqlite_bench)
    ended(sqlite_bench, first.id, JobState.ERRORED, Actor.SWEEP)
    sweep(sqlite_bench.zone)
    assert sqlite_bench.job(second.id).due_at == second.due_at
    third, _ = charged(sqlite_bench)
    ended(sqlite_bench, third.id, JobState.CANCELLED, Actor.DATA_USER)
    sweep(sqlite_bench.zone)
    assert sqlite_bench.job(second.id).due_at == second.due_at


def test_a_user_has_no_more_than_so_many_jobs_under_way(sqlite_bench: Bench) -> None:
    bench = replace(
        sqlite_bench,
        zone=replace(
            sqlite_bench.zone, settings=sqlite_bench.zone.settings.model_copy(update={"running_jobs": 1})
        ),
    )
    given_heights(bench, policy={"isolation": "exclusive"})
    first, _ = charged(bench)
    second = submit(bench, epsilon="1", wall_s=0.5)
    execute(bench.zone, second)
    waits = bench.job(second)
    assert (waits.state, waits.reason, waits.charged_at) == (JobState.QUEUED, Reason.ENOUGH_UNDER_WAY, None)
    ended(bench, first.id, JobState.CANCELLED, Actor.DATA_USER)
    execute(bench.zone, waits.id)
    now = bench.job(waits.id)
    assert (now.state, now.reason) == (JobState.RUNNING, None)
