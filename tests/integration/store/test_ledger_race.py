"""The budget under real contention and crashes, on both databases (privacy.md T8)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import ledger_checks as checks
import pytest
from factories import NOW, given_dataset, given_image, given_job, given_user

from domain.errors import BudgetExceeded, Conflict
from domain.model import parse
from domain.states import Actor, JobState
from domain.twin.request import TwinRequest
from privacy.cost import Currency
from store import jobs, ledger, twins
from store.database import Database


@pytest.fixture
def wide(database_url) -> Iterator[Database]:
    """A connection for each client."""
    database = Database(database_url, pool_size=checks.CLIENTS + 1)
    yield database
    database.close()


def test_sixty_four_clients_and_one_budget(wide):
    checks.check_race(wide, ledger)


further = pytest.mark.deep("walks like the others, by other seeds")


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=further) for seed in (2, 3))])
def test_random_interleavings_with_crashes(wide, seed):
    checks.check_interleavings(wide, ledger, seed=seed)


def test_all_of_the_cap_can_be_taken_and_not_one_more(database):
    checks.check_exact(database, ledger)


def test_what_was_spent_is_gone(database):
    checks.check_spent(database, ledger)


def test_a_refund_gives_back_what_is_reserved_and_never_what_was_spent(database):
    checks.check_refund(database, ledger)


def test_nothing_is_settled_without_a_reservation(database):
    checks.check_unreserved(database, ledger)


def test_caps_are_positive_integers(database):
    checks.check_caps(database, ledger)


def test_every_currency_must_be_covered(database):
    checks.check_one_is_not_enough(database, ledger)


def test_a_currency_without_an_account_covers_nothing(database):
    checks.check_unknown_currency(database, ledger)


def test_shares_bind_in_addition(database):
    checks.check_shares(database, ledger)


def test_whole_jobs_compete_for_one_budget(wide):
    with wide.transaction() as connection:
        given_dataset(connection, budget_epsilon="3")
        given_image(connection)
        given_user(connection)

    def client(number: int) -> bool:
        try:
            with wide.transaction() as connection:
                given_job(connection, job_id=f"job-{number:05d}", block_size=3 + number % 20, epsilon="0.5")
        except BudgetExceeded:
            return False
        return True

    with ThreadPoolExecutor(24) as threads:
        assert sum(threads.map(client, range(24))) == 6
    assert checks.check_sums(wide) == {Currency.EPSILON: (3_000_000, 0)}


def test_counts_for_a_twin_and_jobs_compete_for_the_last_of_the_budget(wide):
    """They are asked for by another route and by another person, and there is enough for one of them."""
    with wide.transaction() as connection:
        dataset = given_dataset(connection, budget_epsilon="5")
        given_image(connection)
        given_user(connection)
        given_job(connection, job_id="job-before", epsilon="4")

    def client(number: int) -> bool:
        try:
            with wide.transaction() as connection:
                if number % 2:
                    given_job(connection, job_id=f"job-{number:05d}", block_size=3 + number, epsilon="1")
                else:
                    twins.submit(
                        connection, job_id=f"counts-{number:05d}", request=counts(again=bool(number)),
                        dataset=dataset, by="holder", now=NOW,
                    )  # fmt: skip
        except (BudgetExceeded, Conflict):
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(client, range(8))) == 1
    assert checks.check_sums(wide) == {Currency.EPSILON: (5_000_000, 0)}


def counts(**fields: Any) -> TwinRequest:
    order = {"dataset": "heights", "tables": [{"path": "participants.tsv", "level": 1}], "epsilon": "1"}
    return parse(TwinRequest, {**order, **fields})


def test_a_charge_and_a_cancellation_at_once_settle_once(wide):
    with wide.transaction() as connection:
        given_dataset(connection, budget_epsilon="8")
        found = [
            given_job(connection, state=JobState.PREPARING, block_size=3 + number).id for number in range(8)
        ]

    def settle(move: tuple[str, JobState, Actor]) -> tuple[str, JobState] | None:
        job_id, after, actor = move
        with wide.transaction() as connection:
            moved = jobs.move(
                connection, job_id, JobState.PREPARING, after, actor=actor, now=NOW + timedelta(seconds=1)
            )
        return (job_id, after) if moved else None

    moves = [
        (job_id, after, actor)
        for job_id in found
        for after, actor in [(JobState.RUNNING, Actor.WORKER), (JobState.CANCELLED, Actor.DATA_USER)]
    ]
    with ThreadPoolExecutor(16) as threads:
        settled = [move for move in threads.map(settle, moves) if move]
    assert sorted(job_id for job_id, _ in settled) == sorted(found)
    charged = sum(after is JobState.RUNNING for _, after in settled)
    assert checks.check_sums(wide) == {Currency.EPSILON: (0, charged * 500_000)}
