"""Somebody who has the database account of the gateway, on a real worker zone.

An attack that mandates stop is also made on data that none guards, and one that the zone's ledger stops on a
zone whose ledger was taken away: there it works.
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
    ask_to_erase,
    change_request,
    empty_accounts,
    forget,
    given_guarded,
    heights,
    hits,
    put_back,
    raise_caps,
    refusals,
    remember,
    run_to_the_draw,
    show_under,
    start_without_charge,
)
from zones import Bench, given_heights, open_bench, submit

from domain.job import Reason
from domain.states import JobState
from dpgate.mandates import Custody
from store import audit, policies
from store.tables import run_outputs
from worker.erasing import erase

ERASURE = "00000001-0000-4000-8000-000000000000"


@pytest.fixture
def bench(sqlite_url: str, tmp_path: Path) -> Iterator[Bench]:
    with open_bench(sqlite_url, tmp_path) as it:
        yield it


def test_heights_of_unguarded_people_come_out_and_the_trail_is_intact(bench: Bench, tmp_path: Path) -> None:
    """What a mandate is for: nobody has signed for these data, so the worker believes the rows."""
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


def test_a_policy_and_a_cap_that_nobody_signed_give_nothing(bench: Bench, tmp_path: Path) -> None:
    given_guarded(bench, Custody(tmp_path / "custody"))
    before = remember(bench, tmp_path)
    allow_everything(bench)
    job_id = ask(bench, epsilon=WANTED)
    bench.drive()
    job = bench.job(job_id)
    assert (job.state, job.reason) == (JobState.QUEUED, Reason.MANDATE_DIFFERS)
    put_back(bench, before)
    # nor do they have it destroyed; and that they tried is on record when their rows are gone again
    ask_to_erase(bench, erasure_id=ERASURE)
    erase(bench.zone)
    assert bench.zone.sealed.keys.names() == ["heights"]
    put_back(bench, before)
    assert refusals(bench) == [f"{job_id} MANDATE_DIFFERS", f"{ERASURE} UNSIGNED"]


def test_a_cap_that_nobody_signed_is_not_spent(bench: Bench, tmp_path: Path) -> None:
    """Under the policy that was signed, with an account that was raised."""
    given_guarded(bench, Custody(tmp_path / "custody"))
    first = ask(bench, epsilon=DECLARED)
    bench.drive()
    assert bench.job(first).state is JobState.RELEASED
    raise_caps(bench)
    second = submit(bench, epsilon="0.001")
    bench.drive()
    job = bench.job(second)
    assert (job.state, job.reason) == (JobState.QUEUED, Reason.MANDATE_DIFFERS)


def test_guarded_data_under_another_name_give_nothing(bench: Bench, tmp_path: Path) -> None:
    """A data set of the intruder's own making, which holds the snapshot of one that is guarded."""
    guarded = given_guarded(bench, Custody(tmp_path / "custody"))
    own = given_heights(bench, {"one": 170.0}, name="mine", new_people=True, nominal_size=12)
    show_under(bench, own.id, snapshot=str(guarded.snapshot))
    job_id = submit(bench, dataset="mine", epsilon="1")
    bench.drive()
    job = bench.job(job_id)
    assert (job.state, job.reason) == (JobState.QUEUED, Reason.MANDATE_MISSING)


@pytest.mark.parametrize("remembers", [False, True], ids=["without a ledger", "with it"])
def test_sealed_outputs_that_were_put_back_are_drawn_once(
    bench: Bench, tmp_path: Path, remembers: bool
) -> None:
    given_guarded(bench)
    job_id = ask(bench, epsilon=DECLARED)
    run_to_the_draw(bench)
    message, before = bench.sent.queue.popleft(), remember(bench, tmp_path)
    bench.deliver(message)
    answers = {tuple(heights(bench, job_id))}
    for _ in range(2):
        put_back(bench, before)
        if not remembers:
            forget(bench)
        bench.deliver(message)
        if bench.job(job_id).state is JobState.RELEASED:
            answers.add(tuple(heights(bench, job_id)))
    assert len(answers) == (1 if remembers else 3)
    assert refusals(bench) == ([f"{job_id} LEDGER_BEHIND"] if remembers else [])


def test_rows_of_one_job_that_were_put_back_alone_are_not_drawn_again(bench: Bench, tmp_path: Path) -> None:
    """The trail goes on as it should, so that no head is missing."""
    given_guarded(bench)
    job_id = ask(bench, epsilon=DECLARED)
    run_to_the_draw(bench)
    message, before = bench.sent.queue.popleft(), remember(bench, tmp_path)
    bench.deliver(message)
    put_back(bench, before, only=("jobs", "chunks", "run_outputs", "releases"))
    bench.deliver(message)
    assert bench.job(job_id).state is JobState.RUNNING
    assert refusals(bench) == [f"{job_id} NOT_IN_LEDGER"]


@pytest.mark.parametrize("remembers", [False, True], ids=["without a ledger", "with it"])
def test_a_job_that_nobody_charged_sees_no_data(bench: Bench, remembers: bool) -> None:
    given_guarded(bench)
    job_id = ask(bench, epsilon=DECLARED)
    bench.sent.take()
    start_without_charge(bench, job_id)
    if not remembers:
        forget(bench)
    for number in range(2):
        bench.zone.messages.run_chunk(job_id, number)
    bench.drive()
    after = bench.job(job_id).state
    assert after is (JobState.RUNNING if remembers else JobState.RELEASED)
    assert refusals(bench) == ([f"{job_id} NOT_IN_LEDGER"] if remembers else [])
    assert bool(bench.rows(run_outputs)) is False


def test_a_job_that_was_changed_after_its_charge_sees_no_data(bench: Bench) -> None:
    given_guarded(bench)
    job_id = ask(bench, epsilon="0.1")
    bench.deliver(bench.sent.queue.popleft())
    change_request(bench, job_id, epsilon=WANTED)
    bench.drive()
    assert bench.job(job_id).state is JobState.RUNNING
    assert refusals(bench) == [f"{job_id} NOT_IN_LEDGER"]


def test_an_account_that_was_emptied_is_noticed(bench: Bench) -> None:
    given_guarded(bench)
    first = ask(bench, epsilon=DECLARED)
    bench.drive()
    assert bench.job(first).state is JobState.RELEASED
    empty_accounts(bench)
    second = submit(bench, epsilon=DECLARED)
    bench.drive()
    job = bench.job(second)
    assert (job.state, job.reason) == (JobState.QUEUED, Reason.LEDGER_BEHIND)
    assert refusals(bench) == [f"{second} LEDGER_BEHIND"]
