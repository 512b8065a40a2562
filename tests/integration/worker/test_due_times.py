"""When jobs are due that are charged while others run: counted from when those are, which is public."""

from __future__ import annotations

import pytest
from zones import Bench, given_heights, submit

from domain.job import Job
from domain.schedule import QUEUEING_S
from store import datasets
from worker.execute import execute


def charged(bench: Bench) -> tuple[Job, float]:
    """A job that runs, and the seconds of its schedule."""
    job_id = submit(bench, mechanism={"name": "sample_aggregate", "epsilon": "1", "block_size": 3})
    execute(bench.zone, job_id)
    job = bench.job(job_id)
    assert job.slots
    with bench.zone.database.reading() as connection:
        declaration = datasets.of_job(connection, job).declaration
    return job, job.request.schedule(declaration, slots=job.slots).visible_after_s


def test_a_job_whose_runs_wait_for_the_host_is_not_due_before_it_can_be(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    given_heights(bench, policy={"isolation": "exclusive"})
    (first, first_s), (second, second_s) = charged(bench), charged(bench)
    assert first.charged_at
    assert first.due_at
    assert second.due_at
    assert (first.due_at - first.charged_at).total_seconds() == pytest.approx(first_s)
    assert (second.due_at - first.due_at).total_seconds() == pytest.approx(second_s + QUEUEING_S)
