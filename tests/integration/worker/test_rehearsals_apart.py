"""What a rehearsal prints is shown as it is, so it must never run beside a job that it could listen to."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest
from test_rehearsals import ask, read
from zones import Bench, given_heights, open_bench, submit

from domain.rehearsal import RehearsalState
from domain.states import Actor, JobState
from store import jobs
from store.apart import SETTLED_AFTER
from worker import rehearse, start
from worker.execute import execute


@pytest.fixture
def bench(database_url: str, tmp_path: Path) -> Iterator[Bench]:
    with open_bench(database_url, tmp_path) as opened:
        given_heights(opened)
        yield opened


def state_of(bench: Bench, job_id: str) -> JobState:
    with bench.database.reading() as connection:
        return jobs.get(connection, job_id).state


def test_a_rehearsal_waits_while_a_job_runs(bench: Bench):
    waiting, job_id = ask(bench), submit(bench, epsilon="1")
    execute(bench.zone, job_id)
    assert state_of(bench, job_id) is JobState.RUNNING
    rehearse.rehearse(bench.zone, waiting)
    assert read(bench, waiting).state is RehearsalState.QUEUED
    bench.drive()
    assert state_of(bench, job_id) is JobState.RELEASED
    rehearse.rehearse(bench.zone, waiting)
    assert read(bench, waiting).state is RehearsalState.DONE


def test_a_job_that_waits_comes_before_a_rehearsal(bench: Bench):
    waiting, job_id = ask(bench), submit(bench, epsilon="1")
    assert rehearse.claim(bench.zone, waiting) is None
    assert start.claim(bench.zone, job_id) is not None


def test_a_job_waits_for_the_end_of_a_rehearsal_and_is_called_then(bench: Bench):
    found = rehearse.claim(bench.zone, ask(bench))
    assert found is not None
    job_id = submit(bench, epsilon="1")
    bench.sent.take()
    execute(bench.zone, job_id)
    assert state_of(bench, job_id) is JobState.QUEUED
    rehearse.run_claimed(bench.zone, found)
    rehearse.wake_jobs(bench.zone)
    assert bench.sent.take() == [("job", job_id)]
    assert start.claim(bench.zone, job_id) is not None


def test_a_job_that_was_cancelled_in_the_middle_may_still_be_dying(bench: Bench):
    waiting, job_id = ask(bench), submit(bench, epsilon="1")
    execute(bench.zone, job_id)
    with bench.database.transaction() as connection:
        assert jobs.move(
            connection, job_id, JobState.RUNNING, JobState.CANCELLED, actor=Actor.DATA_USER, now=bench.clock()
        )
    assert rehearse.claim(bench.zone, waiting) is None
    bench.clock.forward((SETTLED_AFTER + timedelta(seconds=1)).total_seconds())
    assert rehearse.claim(bench.zone, waiting) is not None


def test_of_two_claims_at_once_one_wins(bench: Bench):
    for number in range(8):
        waiting = ask(bench, "raise SystemExit(1)")  # over after one run
        with ThreadPoolExecutor(2) as pool:
            a_rehearsal = pool.submit(rehearse.claim, bench.zone, waiting)
            job_id = submit(bench, epsilon=f"{number + 1}")
            a_job = pool.submit(start.claim, bench.zone, job_id)
        assert (a_rehearsal.result() is None) != (a_job.result() is None)
        if found := a_rehearsal.result():
            rehearse.run_claimed(bench.zone, found)
        with bench.database.transaction() as connection:
            before = jobs.get(connection, job_id).state
            jobs.move(
                connection, job_id, before, JobState.CANCELLED, actor=Actor.DATA_USER, now=bench.clock()
            )
        if found is None:
            rehearse.rehearse(bench.zone, waiting)
        bench.sent.take()
