"""What is taken up again, what is given up, and what a late or cancelled worker may keep: nothing."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path

import pytest
import sqlalchemy as sa
from test_query_route import ask
from waiting import wait_until
from zones import Bench, cancel, check_books, given_heights, open_bench, submit

from domain.errors import PlatformError
from domain.job import Reason
from domain.schedule import LONGEST_CHUNK_S
from domain.states import JobState
from store import job_lists, jobs, runs
from store.sealing import open_sealed, seal
from store.stuck import stuck
from store.tables import accounts, chunks, datasets, ledger_entries, releases, run_outputs
from store.tables import jobs as job_rows
from worker.cancelling import first_lease_s, staging, watched
from worker.chunk import claim_chunk, keep, order_of, run
from worker.collect import output_context
from worker.execute import execute, execute_chunk
from worker.publish import arrange_release, begin, publish
from worker.start import charge, claim
from worker.sweep import mend_preparing, mend_running, resend_queued, sweep

OPEN = (JobState.AGGREGATING, JobState.RUNNING, JobState.PREPARING, JobState.QUEUED)


def spent(bench: Bench) -> tuple[int, int]:
    (account,) = bench.rows(accounts)
    return account["reserved"], account["spent"]


def running(bench: Bench, **fields: object) -> str:
    """A job that was charged and whose two chunks wait."""
    given_heights(bench)
    job_id = submit(bench, **fields)  # type: ignore[arg-type]
    bench.deliver(bench.sent.queue.popleft())
    return job_id


@pytest.mark.parametrize("state", ["SUBMITTED", "QUEUED", "PREPARING"])
def test_cancelled_before_the_charge_the_budget_comes_back(bench: Bench, state: str) -> None:
    given_heights(bench)
    job_id = submit(bench, queued=state != "SUBMITTED")
    job = claim(bench.zone, job_id) if state == "PREPARING" else None
    cancel(bench, job_id)
    if job is not None:
        assert not charge(bench.zone, job)
    bench.sent.run_job(job_id)
    bench.drive()
    sweep(bench.zone)
    assert bench.job(job_id).state is JobState.CANCELLED
    assert spent(bench) == (0, 0)
    check_books(bench)


def test_cancelled_while_blocks_run_the_charge_stands_and_nothing_is_kept(bench: Bench) -> None:
    job_id = running(bench)
    execute_chunk(bench.zone, job_id, 0)
    chunk = claim_chunk(bench.zone, job_id, 1)
    assert chunk is not None
    outputs = run(bench.zone, chunk)
    assert len(bench.rows(run_outputs)) == 2
    cancel(bench, job_id)
    keep(bench.zone, chunk, outputs)
    arrange_release(bench.zone, job_id)
    bench.drive()
    assert bench.job(job_id).state is JobState.CANCELLED
    assert spent(bench) == (0, 1_000_000_000)
    assert not bench.rows(run_outputs)
    assert not bench.rows(chunks)
    assert not bench.rows(releases)
    check_books(bench)


def test_a_lease_that_ran_out_is_run_again_and_the_late_finisher_keeps_nothing(bench: Bench) -> None:
    job_id = running(bench)
    late = claim_chunk(bench.zone, job_id, 0)
    assert late is not None
    late_outputs = run(bench.zone, late)
    assert claim_chunk(bench.zone, job_id, 0) is None
    bench.clock.forward(late.schedule.chunk_s + bench.zone.settings.lease_margin_s + 1)
    bench.sent.take()
    mend_running(bench.zone)
    assert ("chunk", job_id, 0) in bench.sent.queue
    again = claim_chunk(bench.zone, job_id, 0)
    assert again is not None
    keep(bench.zone, late, late_outputs)
    assert not bench.rows(run_outputs)
    keep(bench.zone, again, run(bench.zone, again))
    kept = bench.rows(run_outputs)
    keep(bench.zone, late, late_outputs)
    assert bench.rows(run_outputs) == kept
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    check_books(bench)


def test_chunks_that_never_succeed_end_the_job_and_the_charge_stands(bench: Bench) -> None:
    job_id = running(bench)
    execute_chunk(bench.zone, job_id, 1)
    for attempt in range(bench.zone.settings.max_attempts):
        assert bench.job(job_id).state is JobState.RUNNING, attempt
        assert claim_chunk(bench.zone, job_id, 0) is not None
        bench.clock.forward(3600)
        mend_running(bench.zone)
    job = bench.job(job_id)
    assert (job.state, job.reason) == (JobState.ERRORED, Reason.WORKERS_LOST)
    assert spent(bench) == (0, 1_000_000_000)
    bench.drive()
    check_books(bench)


def test_a_last_attempt_that_still_runs_is_waited_for(bench: Bench) -> None:
    """A chunk of the same job that waits for its first turn is no reason to give up either."""
    job_id = running(bench)
    for _ in range(bench.zone.settings.max_attempts - 1):
        assert claim_chunk(bench.zone, job_id, 0) is not None
        bench.clock.forward(3600)
        mend_running(bench.zone)
    last = claim_chunk(bench.zone, job_id, 0)
    assert last is not None
    mend_running(bench.zone)
    assert bench.job(job_id).state is JobState.RUNNING
    keep(bench.zone, last, run(bench.zone, last))
    bench.clock.forward(31)
    sweep(bench.zone)
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    check_books(bench)


def test_preparing_too_often_ends_the_job_with_a_refund(bench: Bench) -> None:
    given_heights(bench)
    job_id = submit(bench)
    for _ in range(bench.zone.settings.max_attempts):
        assert claim(bench.zone, job_id) is not None
        bench.clock.forward(61)
        mend_preparing(bench.zone)
    job = bench.job(job_id)
    assert (job.state, job.reason) == (JobState.ERRORED, Reason.WORKERS_LOST)
    assert spent(bench) == (0, 0)
    check_books(bench)


def test_a_missing_snapshot_is_tried_again_and_then_refunded(bench: Bench) -> None:
    dataset = given_heights(bench)
    assert dataset.snapshot is not None
    area = bench.zone.settings.snapshots_folder / "own" / str(dataset.data_key)
    manifest = area / "manifests" / dataset.snapshot.partition(":")[2]
    content = manifest.read_bytes()
    manifest.unlink()
    lost = submit(bench, epsilon="400")
    bench.drive()
    assert bench.job(lost).state is JobState.QUEUED
    manifest.write_bytes(content)
    bench.clock.forward(31)
    resend_queued(bench.zone)
    resend_queued(bench.zone)
    assert list(bench.sent.queue) == [("job", lost)]
    bench.drive()
    assert bench.job(lost).state is JobState.RELEASED
    manifest.unlink()
    job_id = submit(bench, epsilon="400", block_size=4)
    for _ in range(bench.zone.settings.max_attempts):
        execute(bench.zone, job_id)
    job = bench.job(job_id)
    assert (job.state, job.reason) == (JobState.ERRORED, Reason.SNAPSHOT_MISSING)
    check_books(bench)


def test_a_lost_publish_message_is_sent_again_after_its_time(bench: Bench) -> None:
    job_id = running(bench)
    for message in [m for m in bench.sent.take() if m[0] == "chunk"]:
        bench.deliver(message)
    bench.sent.take()
    bench.clock.forward(31)
    sweep(bench.zone)
    assert bench.sent.queue[0][:2] == ("publish", job_id)
    assert begin(bench.zone, job_id)  # and its worker dies here
    bench.sent.take()
    bench.clock.forward(31)
    sweep(bench.zone)
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    assert len(bench.rows(releases)) == 1
    check_books(bench)


def test_a_release_that_cannot_be_drawn_errors_and_its_outputs_go(bench: Bench) -> None:
    job_id = running(bench)
    for message in [m for m in bench.sent.take() if m[0] == "chunk"]:
        bench.deliver(message)
    damage(bench, job_id)
    bench.clock.forward(1)
    for _ in range(bench.zone.settings.max_attempts + 1):
        with pytest.raises(PlatformError):
            publish(bench.zone, job_id)
        bench.clock.forward(31)
        sweep(bench.zone)
    assert bench.job(job_id).state is JobState.ERRORED
    assert spent(bench) == (0, 1_000_000_000)
    assert not bench.rows(run_outputs)
    check_books(bench)


def damage(bench: Bench, job_id: str) -> None:
    with bench.database.transaction() as connection:
        connection.execute(run_outputs.update().values(sealed=os.urandom(49)))


def test_sealed_outputs_open_nowhere_else(bench: Bench) -> None:
    job_id = running(bench)
    execute_chunk(bench.zone, job_id, 0)
    key = bench.outputs_key(job_id)
    first, second = bench.rows(run_outputs)
    assert open_sealed(first["sealed"], key=key, context=output_context(job_id, first["run"]))
    for job, block in ((job_id, second["run"]), ("job-other-1", first["run"]), (job_id, 10)):
        with pytest.raises(PlatformError):
            open_sealed(first["sealed"], key=key, context=output_context(job, block))
    with pytest.raises(PlatformError):
        open_sealed(first["sealed"], key=bench.zone.keys.snapshots, context=output_context(job_id, 0))
    assert len(first["sealed"]) == len(seal(bytes(9), key=key, context="any"))


def test_cancel_meets_a_worker_that_is_just_finishing(bench: Bench) -> None:
    """On PostgreSQL both transactions are open at once; whichever comes first, no output is left."""
    if bench.database.is_sqlite:
        return  # one writer at a time: there is no such moment
    job_id = running(bench)
    chunk = claim_chunk(bench.zone, job_id, 0)
    assert chunk is not None
    other = bench.another()
    with other.database.transaction() as finishing:
        runs.finish(finishing, job_id=job_id, number=0, claim=chunk.claim, sealed={0: b"x", 1: b"x"})
        with bench.database.engine.connect() as connection:
            connection.exec_driver_sql("SET lock_timeout = '200ms'")
            with pytest.raises(Exception, match="lock timeout"):
                runs.discard(connection, job_id)
    cancel(bench, job_id)
    assert not bench.rows(run_outputs)
    other.close()


def test_a_lease_is_as_long_as_the_chunk_can_take_or_a_minute(bench: Bench) -> None:
    """Of a chunk of a quarter of an hour, whose worker is killed while it stages, others soon know."""
    job_id = running(bench)
    before = bench.clock()
    chunk = claim_chunk(bench.zone, job_id, 0)
    assert chunk is not None
    assert 60 < chunk.schedule.chunk_s < LONGEST_CHUNK_S
    assert timedelta(seconds=60) <= lease(bench) - before < timedelta(seconds=70)
    assert first_lease_s(bench.zone, 20) == 20 + bench.zone.settings.lease_margin_s


SIGN_S = 20  # how long a sign of life lasts: long, so that a busy host can look at it meanwhile


def test_a_worker_that_is_still_at_it_keeps_its_claim(sqlite_url: str, tmp_path: Path) -> None:
    """Staging may take longer than planned: the lease would run out one second later. A worker that is killed
    at its runs is missed within the margin, however long its chunk may be."""
    with open_bench(sqlite_url, tmp_path, lease_margin_s=SIGN_S) as bench:
        job_id = running(bench, wall_s=5)
        chunk = claim_chunk(bench.zone, job_id, 0)
        assert chunk is not None
        long_ago = replace(chunk, claimed_at=chunk.claimed_at - chunk.schedule.chunk_s - SIGN_S)
        whole = lease(bench)
        brief = chunk.schedule.model_copy(update={"runs": 1, "wall_s": 0.1, "nominal_size": 1})
        with staging(bench.zone, replace(chunk, schedule=brief)):
            bench.clock.forward(60)
            wait_until(lambda: lease(bench) > whole)
        bench.clock.forward(chunk.schedule.chunk_s + SIGN_S)
        with bench.zone.sandbox.open_slot(order_of(bench.zone, chunk), slot=0) as slot:
            with watched(bench.zone, long_ago, slot):
                wait_until(lambda: lease(bench) > bench.clock() + timedelta(seconds=SIGN_S - 2))
            bench.clock.forward(SIGN_S / 2)
            assert lease(bench) <= bench.clock() + timedelta(seconds=SIGN_S / 2)
            mend_running(bench.zone)
            assert claim_chunk(bench.zone, job_id, 0) is None
        bench.clock.forward(SIGN_S)  # nobody watches any more
        mend_running(bench.zone)
        again = claim_chunk(bench.zone, job_id, 0)
        assert again is not None
        whole = lease(bench)
        with watched(bench.zone, again, None):
            wait_until(lambda: lease(bench) <= bench.clock() + timedelta(seconds=SIGN_S))
        # what is left to wait for after the runs has its whole time again
        assert abs(lease(bench) - whole) < timedelta(seconds=2)


def lease(bench: Bench) -> datetime:
    until = next(row["lease_until"] for row in bench.rows(chunks) if row["number"] == 0)
    assert isinstance(until, datetime)
    return until


def test_nobody_waits_for_a_day_that_a_wrong_clock_has_named(sqlite_bench: Bench) -> None:
    """A job is charged, its chunks are claimed and its time is fixed a day ahead; the clock is set back."""
    bench, day_s = sqlite_bench, 86_400
    given_heights(bench, policy={"timing": {"mode": "coarse", "step_seconds": 60}})
    bench.clock.forward(day_s)
    claimed, arranged, queued = (ask(bench, {"kind": "count"}, epsilon=epsilon) for epsilon in "123")
    for job_id in (claimed, arranged):
        execute(bench.zone, job_id)
    assert claim_chunk(bench.zone, claimed, 0) is not None
    execute_chunk(bench.zone, arranged, 0)
    bench.clock.forward(-day_s)
    bench.sent.take()
    before = bench.clock()
    sweep(bench.zone)
    bench.drive()
    assert {bench.job(job_id).state for job_id in (claimed, arranged, queued)} == {JobState.RELEASED}
    assert bench.clock() - before < timedelta(minutes=4)
    check_books(bench)


def test_a_release_in_time_is_due_as_if_charged_when_the_clock_was_right(sqlite_bench: Bench) -> None:
    bench, day_s = sqlite_bench, 86_400
    given_heights(bench, policy={"timing": {"mode": "padded"}})
    bench.clock.forward(day_s)
    job_id = ask(bench, {"kind": "count"}, epsilon="1")
    execute(bench.zone, job_id)
    execute_chunk(bench.zone, job_id, 0)
    bench.clock.forward(-day_s)
    bench.sent.take()
    sweep(bench.zone)
    due_at = bench.job(job_id).due_at
    assert due_at is not None
    assert due_at - bench.clock() < timedelta(minutes=1)
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    sweep(bench.zone)
    assert bench.sent.take() == []


def test_nobody_waits_longer_by_as_much_as_a_clock_was_ahead(sqlite_bench: Bench) -> None:
    """A little ahead: too little for the time to be taken for wrong. Its message was lost."""
    bench = sqlite_bench
    given_heights(bench)
    resend_s = bench.zone.settings.resend_after_s
    bench.clock.forward(resend_s - 1)
    job_id = submit(bench)
    with bench.database.transaction() as connection:
        jobs.nudge(connection, job_id, now=bench.clock(), not_since_s=0)
    bench.sent.take()
    bench.clock.forward(1 - resend_s)  # set right
    sweep(bench.zone)
    assert bench.sent.take() == []
    bench.clock.forward(resend_s + 1)
    sweep(bench.zone)
    assert bench.sent.take() == [("job", job_id)]


def test_a_row_that_cannot_be_read_stops_no_other_job(sqlite_bench: Bench) -> None:
    """In each open state one is spoilt that was there first; the messages of all are lost."""
    bench = sqlite_bench.another(running_jobs=2 * len(OPEN))
    dataset = given_heights(bench)
    spoilt, whole = dict[JobState, str](), dict[JobState, str]()
    for state, found in product(OPEN, (spoilt, whole)):
        found[state] = job_id = submit(bench, epsilon="1")
        if state is JobState.PREPARING:
            assert claim(bench.zone, job_id)
        elif state is not JobState.QUEUED:
            execute(bench.zone, job_id)
        if state is JobState.AGGREGATING:
            for number in range(2):
                execute_chunk(bench.zone, job_id, number)
            bench.clock.forward(60)
            assert begin(bench.zone, job_id)
        bench.sent.take()
    assert [bench.job(whole[state]).state for state in OPEN] == list(OPEN)
    with bench.database.transaction() as connection:
        connection.execute(sa.update(job_rows).where(job_rows.c.id.in_(spoilt.values())).values(request={}))
    bench.clock.forward(2 * bench.zone.settings.resend_after_s + bench.zone.settings.prepare_timeout_s)
    for _ in range(3):
        sweep(bench.zone)
        bench.drive()
        bench.clock.forward(bench.zone.settings.resend_after_s + 1)
    assert {bench.job(job_id).state for job_id in whole.values()} == {JobState.RELEASED}
    with bench.database.reading() as connection:
        listed = job_lists.on_dataset(connection, dataset.name, limit=100)
        subjects = {each.subject for each in stuck(connection, now=bench.clock() + timedelta(hours=1))}
    assert {job.id for job in listed} == set(whole.values())
    assert subjects == set(spoilt.values())


def test_a_data_set_that_cannot_be_read_is_charged_for_nothing(sqlite_bench: Bench) -> None:
    """Its jobs wait where they are, whatever they had come to, and go on when the row is back."""
    bench = sqlite_bench
    dataset, other = given_heights(bench), given_heights(bench, name="others", new_people=True)
    waiting, going, beside = (
        submit(bench, epsilon="1", dataset=each) for each in ("heights", "heights", other.name)
    )
    assert claim(bench.zone, going)
    bench.sent.take()
    row = datasets.c.id == dataset.id
    with bench.database.transaction() as connection:
        was = connection.execute(sa.select(datasets.c.declaration).where(row)).scalar_one()
        connection.execute(
            sa.text("UPDATE datasets SET declaration = '{cut' WHERE id = :id"), {"id": dataset.id}
        )
    bench.clock.forward(2 * bench.zone.settings.resend_after_s + bench.zone.settings.prepare_timeout_s)
    for _ in range(3):
        sweep(bench.zone)
        bench.drive()
        bench.clock.forward(bench.zone.settings.resend_after_s + 1)
    assert bench.job(beside).state is JobState.RELEASED
    assert {bench.job(each).state for each in (waiting, going)} == {JobState.QUEUED}
    charged = {entry["job_id"] for entry in bench.rows(ledger_entries) if entry["action"] == "charge"}
    assert charged == {beside}
    with bench.database.transaction() as connection:
        connection.execute(sa.update(datasets).where(row).values(declaration=was))
    for _ in range(3):
        sweep(bench.zone)
        bench.drive()
        bench.clock.forward(bench.zone.settings.resend_after_s + 1)
    assert {bench.job(each).state for each in (waiting, going)} == {JobState.RELEASED}
