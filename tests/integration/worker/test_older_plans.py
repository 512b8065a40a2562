"""Jobs that were running when the platform was upgraded to a version that numbers chunks in another way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa
from levels import NotingSandbox, noting, two_level_fields
from zones import Bench, cancel, check_books, given_heights, submit

from domain.states import JobState
from store import datasets, runs
from store.sealing import seal
from store.tables import chunks, run_outputs
from worker import chunk as chunk_module
from worker.collect import output_context, pack
from worker.older_plan import DEALING, start_again_if_older
from worker.publish import arrange_release

OLD_RUNS = 4
OLD_CHUNKS = 2


def running(bench: Bench, **overrides: Any) -> tuple[Bench, NotingSandbox, str]:
    """A charged job of two levels: four group runs, each with what three people's runs wrote."""
    bench, sandbox = noting(bench)
    given_heights(bench)
    job_id = submit(bench, **two_level_fields(), **overrides)
    bench.deliver(bench.sent.queue.popleft())
    bench.sent.take()
    return bench, sandbox, job_id


def as_older(bench: Bench, job_id: str, *, done: int) -> None:
    """As the version before the participant level had chunks left it: both levels in each group run."""
    with bench.database.transaction() as connection:
        runs.discard(connection, job_id)
        runs.plan(connection, job_id=job_id, count=OLD_CHUNKS)
        for number in range(done):
            claim = runs.claim(connection, job_id=job_id, number=number, lease_until=bench.clock())
            sealed = {
                run: seal(
                    pack((0,), width=1), key=bench.outputs_key(job_id), context=output_context(job_id, run)
                )
                for run in range(2 * number, 2 * number + 2)
            }
            assert runs.finish(connection, job_id=job_id, number=number, claim=str(claim), sealed=sealed)


def resent(bench: Bench, job_id: str) -> None:
    """What is left, as the sweep of the new version sends it, until nothing is."""
    for _ in range(2):
        with bench.database.reading() as connection:
            waiting = runs.waiting(connection, job_id)
        for number in waiting:
            bench.sent.run_chunk(job_id, number)
        bench.drive()


@pytest.mark.parametrize("done", [0, 1])
def test_all_runs_start_again_and_nothing_of_the_old_ones_is_released(bench: Bench, done: int) -> None:
    bench, sandbox, job_id = running(bench)
    as_older(bench, job_id, done=done)
    resent(bench, job_id)
    assert bench.job(job_id).state is JobState.RELEASED
    assert len(sandbox.take("participant")) == 12
    assert len(sandbox.take("group")) == OLD_RUNS
    (value,) = bench.release(job_id).values
    assert 150 < value.value < 190  # the old outputs were at the lower bound: with one of them, below 142
    check_books(bench)


def test_a_job_whose_runs_were_all_done_is_released_from_them(bench: Bench) -> None:
    bench, sandbox, job_id = running(bench)
    as_older(bench, job_id, done=OLD_CHUNKS)
    resent(bench, job_id)
    assert chunk_module.claim_chunk(bench.zone, job_id, 0) is None
    arrange_release(bench.zone, job_id)
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    assert not sandbox.take("group")


def test_without_it_old_numbers_mean_something_else(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old second chunk is taken for one of people: half of the group runs never come."""
    bench, sandbox, job_id = running(bench)
    as_older(bench, job_id, done=1)
    monkeypatch.setattr(chunk_module, "start_again_if_older", lambda *_: None)
    resent(bench, job_id)
    assert not sandbox.take("group")
    assert len(bench.rows(run_outputs)) < OLD_RUNS


Change = Callable[[Bench, str], None]


def one_more_chunk(bench: Bench, job_id: str) -> None:
    with bench.database.transaction() as connection:
        connection.execute(chunks.insert().values(job_id=job_id, number=9, state="WAITING", attempts=0))


def another_cut(bench: Bench, job_id: str) -> None:
    """As many chunks, but the one that is done made other runs."""
    with bench.database.transaction() as connection:
        connection.execute(run_outputs.update().where(run_outputs.c.run == 0).values(run=3))


@pytest.mark.parametrize("is_older", [True, False])
def test_people_whose_runs_nobody_knows_where_to_find_start_again(bench: Bench, is_older: bool) -> None:
    """A version that did not keep where runs are made gave their outcomes other names, too."""
    bench, sandbox, job_id = running(bench)
    bench.deliver(("chunk", job_id, 0))
    assert sandbox.take("participant")
    if is_older:
        with bench.database.transaction() as connection:
            connection.execute(chunks.update().values(ran_in=None))
    assert chunk_module.claim_chunk(bench.zone, job_id, 1) is not None
    assert [row["state"] for row in bench.rows(chunks)].count("DONE") == (0 if is_older else 1)


def another_dealing(bench: Bench, job_id: str) -> None:
    """A version that put people into blocks by a hash kept no rule with its chunks."""
    with bench.database.transaction() as connection:
        done = sa.and_(chunks.c.job_id == job_id, chunks.c.state == "DONE")
        kept = dict(connection.execute(sa.select(chunks.c.ran_in).where(done)).scalar_one())
        assert kept.pop("dealing") == DEALING
        connection.execute(chunks.update().where(done).values(ran_in=kept))


@pytest.mark.parametrize(
    ("change", "again"), [(None, 0), (one_more_chunk, 1), (another_cut, 1), (another_dealing, 1)]
)
def test_only_another_plan_starts_again(bench: Bench, change: Change | None, again: int) -> None:
    given_heights(bench)
    job_id = submit(bench)
    bench.deliver(bench.sent.queue.popleft())
    first, second = bench.sent.take()
    bench.deliver(first)
    assert len(bench.rows(run_outputs)) == 2
    if change:
        change(bench, job_id)
    assert chunk_module.claim_chunk(bench.zone, job_id, second[2]) is not None
    assert len(bench.rows(chunks)) == 2
    assert len(bench.rows(run_outputs)) == (0 if again else 2)


def test_a_job_that_is_over_is_left_alone(bench: Bench) -> None:
    bench, _, job_id = running(bench)
    job = bench.job(job_id)
    cancel(bench, job_id)
    with bench.database.transaction() as connection:
        schedule = job.request.schedule(datasets.of_job(connection, job).declaration, slots=2)
        start_again_if_older(connection, job, schedule)
        assert not runs.progress(connection, job_id).chunks
