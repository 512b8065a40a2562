"""Counts for a twin with a delta, by the whole route: what they cost, exactly, and what they promise."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from heights import PEOPLE
from test_twin_route import (
    ONE,
    TABLE,
    TWO,
    asked,
    die_after_charge,
    die_after_claim,
    die_before_the_release_is_asked_for,
    die_while_counting,
    die_while_publishing,
    order,
)
from zones import Bench, check_books, given_heights, open_bench

from domain.dataset import Dataset
from domain.errors import InvalidRequest
from domain.release import opened
from domain.states import JobState
from domain.twin import TableCounts
from domain.twin.request import FILE
from dpgate.verification import check_release
from store.sealing import open_sealed
from store.tables import accounts, ledger_entries, releases, run_outputs
from worker.certificate import public_key_pem
from worker.collect import output_context
from worker.execute import execute, execute_chunk
from worker.scan.chunk import unpack_sums
from worker.sweep import sweep
from worker.twin.chunk import countings

EPSILON, DELTA = "20", "0.000000001"
# micro-epsilons, and deltas of 10**-18
PRICE = {"epsilon": 20_000_000, "delta": 10**9}


def given_rich_heights(bench: Bench, **fields: Any) -> Dataset:
    policy = {"guarantees": ["pure_dp", "approx_dp"]}
    return given_heights(bench, budget_epsilon="1000", budget_delta="0.00001", policy=policy, **fields)


def ask(bench: Bench, **fields: Any) -> str:
    return order(bench, TWO, **{"epsilon": EPSILON, "delta": DELTA, **fields})


def booked(bench: Bench) -> dict[str, tuple[int, int]]:
    """Reserved and spent by currency."""
    return {row["currency"]: (row["reserved"], row["spent"]) for row in bench.rows(accounts)}


def charged(bench: Bench) -> dict[str, list[int]]:
    """What the ledger's charges took, by currency."""
    currency = {row["id"]: row["currency"] for row in bench.rows(accounts)}
    taken: dict[str, list[int]] = {name: [] for name in currency.values()}
    for entry in bench.rows(ledger_entries):
        if entry["action"] == "charge":
            taken[currency[entry["account_id"]]].append(entry["amount"])
    return taken


def check_charged_once(bench: Bench, job_id: str) -> None:
    assert bench.job(job_id).state is JobState.RELEASED
    assert len(bench.rows(releases)) == 1
    assert booked(bench) == {name: (0, amount) for name, amount in PRICE.items()}
    assert charged(bench) == {name: [amount] for name, amount in PRICE.items()}
    check_books(bench)


def test_epsilon_and_delta_are_charged_and_the_class_is_approx_dp(bench: Bench) -> None:
    given_rich_heights(bench)
    job_id = ask(bench)
    assert booked(bench) == {name: (amount, 0) for name, amount in PRICE.items()}
    bench.drive()
    check_charged_once(bench, job_id)
    release = bench.release(job_id)
    assert (release.guarantee, release.cost) == ("approx_dp", {"epsilon": EPSILON, "delta": DELTA})
    document = json.loads(release.files[FILE])["tables"][TABLE]
    assert document["counts"]["noise"] == "gaussian"
    # at epsilon 20 the noise of a count is about one person
    assert abs(TableCounts.parse(document).counts.people - len(PEOPLE)) <= 8
    assert check_release(release.model_dump(mode="json"), public_key_pem(bench.zone.keys.signing))
    predicate = opened(release.certificate)["predicate"]
    assert predicate["guarantee"]["class"] == "approx_dp"
    assert predicate["mechanism"]["parameters"]["tables"][TABLE]["noise"] == "discrete_gaussian"
    assert "pure_dp" not in json.dumps(predicate)
    assert not bench.rows(run_outputs)


@pytest.fixture
def lone_bench(sqlite_url: str, tmp_path: Path) -> Iterator[Bench]:
    """The two databases differ in nothing that the tests below look at."""
    with open_bench(sqlite_url, tmp_path) as opened_bench:
        yield opened_bench


def test_exact_counts_are_sealed_and_noised_before_they_leave(lone_bench: Bench) -> None:
    """Most counts differ from the exact ones where the noise is as wide as the table."""
    dataset = given_rich_heights(lone_bench)
    job_id = order(lone_bench, ONE, epsilon="0.1", delta=DELTA)
    execute(lone_bench.zone, job_id)
    execute_chunk(lone_bench.zone, job_id, 0)
    (row,) = lone_bench.rows(run_outputs)
    plain = open_sealed(row["sealed"], key=lone_bench.outputs_key(job_id), context=output_context(job_id, 0))
    (counting,) = countings(asked(ONE, epsilon="0.1", delta=DELTA), dataset.declaration)
    exact = unpack_sums(plain)
    assert sum(exact) == len(PEOPLE) * len(counting.grids)
    lone_bench.drive()
    document = json.loads(lone_bench.release(job_id).files[FILE])["tables"][TABLE]
    noisy = [n for column in document["counts"]["ones"] for n in column]
    assert sum(a != b for a, b in zip(noisy, exact, strict=True)) > len(exact) / 2


@pytest.mark.parametrize(
    "die",
    [
        die_after_claim,
        die_after_charge,
        die_while_counting,
        die_before_the_release_is_asked_for,
        die_while_publishing,
    ],
    ids=lambda die: die.__name__,
)
def test_a_worker_that_dies_is_replaced_and_neither_is_charged_twice(
    lone_bench: Bench, die: Callable[[Bench, str], None]
) -> None:
    bench = lone_bench
    given_rich_heights(bench)
    job_id = ask(bench)
    bench.sent.take()  # its messages die with it
    die(bench, job_id)
    for _ in range(6):
        bench.sent.take()
        bench.clock.forward(3600)
        sweep(bench.zone)
        bench.drive(times=2)
    check_charged_once(bench, job_id)


def test_accounts_of_rho_are_charged_in_rho_alone(lone_bench: Bench) -> None:
    given_rich_heights(lone_bench, accounting="zcdp")
    job_id = ask(lone_bench, epsilon="1", beyond_share=True)
    lone_bench.drive()
    release = lone_bench.release(job_id)
    assert (set(release.cost), release.guarantee) == ({"rho"}, "approx_dp")
    (taken,) = charged(lone_bench)["rho"]
    assert booked(lone_bench)["rho"] == (0, taken)
    check_books(lone_bench)


def test_a_delta_that_the_budget_does_not_hold_reserves_nothing(lone_bench: Bench) -> None:
    given_rich_heights(lone_bench)
    with pytest.raises(InvalidRequest, match="over a fifth"):
        ask(lone_bench, delta="0.0000021")
    assert set(booked(lone_bench).values()) == {(0, 0)}
