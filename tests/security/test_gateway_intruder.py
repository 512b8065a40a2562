"""Somebody who has the database account of the gateway, on a real worker zone.

Each attack is first made where nothing stands against it: there it must work.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from gateway_intruder import (
    DECLARED,
    TARGETS,
    WANTED,
    allow_everything,
    ask,
    given_guarded,
    heights,
    hits,
    put_back,
    remember,
    run_to_the_draw,
    start_without_charge,
)
from zones import Bench, open_bench

from domain.states import JobState
from store import audit, policies


@pytest.fixture
def bench(sqlite_url: str, tmp_path: Path) -> Iterator[Bench]:
    with open_bench(sqlite_url, tmp_path) as it:
        yield it


def test_heights_come_out_and_the_trail_is_intact(bench: Bench, tmp_path: Path) -> None:
    given_guarded(bench)
    before = remember(bench, tmp_path)
    allow_everything(bench)
    job_id = ask(bench, epsilon=WANTED)
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    assert hits(heights(bench, job_id)) == len(TARGETS)
    put_back(bench, before)
    with bench.database.reading() as connection:
        assert audit.verify(connection).intact
        edition = policies.in_effect(connection, "heights")
    assert edition is not None
    assert (edition.number, edition.policy.max_epsilon_per_job) == (1, DECLARED)


def test_sealed_outputs_that_were_put_back_are_drawn_again(bench: Bench, tmp_path: Path) -> None:
    given_guarded(bench)
    job_id = ask(bench, epsilon=DECLARED)
    run_to_the_draw(bench)
    message, before = bench.sent.queue.popleft(), remember(bench, tmp_path)
    answers = set()
    for _ in range(3):
        bench.deliver(message)
        answers.add(tuple(heights(bench, job_id)))
        put_back(bench, before)
    assert len(answers) == 3


def test_a_job_that_nobody_charged_is_run_and_drawn(bench: Bench) -> None:
    given_guarded(bench)
    job_id = ask(bench, epsilon=DECLARED)
    bench.sent.take()
    start_without_charge(bench, job_id)
    for number in range(2):
        bench.zone.messages.run_chunk(job_id, number)
    bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
