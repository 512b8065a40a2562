"""The route of counts for a twin: what comes out, what it costs once, and workers that die on every step."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from factories import make_pipeline
from heights import PEOPLE
from zones import Bench, cancel, check_books, given_heights

from domain.admission import check_policy
from domain.dataset import Dataset
from domain.errors import BudgetExceeded, Conflict, InvalidRequest
from domain.job import Job
from domain.model import parse
from domain.permissions import Role, User
from domain.rehearsal import RehearsalRequest
from domain.release import opened
from domain.states import JobState
from domain.twin import TableCounts
from domain.twin.basis import BLANK
from domain.twin.request import FILE, TwinRequest
from dpgate.verification import check_release
from store import datasets, rehearsals, twins
from store.sealing import open_sealed
from store.tables import accounts, releases, run_outputs
from twins.drawn.draw import draw_twin
from worker.certificate import public_key_pem
from worker.chunk import claim_chunk, keep
from worker.collect import output_context
from worker.execute import execute, execute_chunk
from worker.publish import arrange_release, begin, publish
from worker.rehearse import twin_of
from worker.scan.chunk import unpack_sums
from worker.start import charge, claim
from worker.sweep import sweep
from worker.twin.chunk import count_chunk, countings

_numbers = itertools.count(1)
TABLE = "participants.tsv"
HOLDER = User(name="holder", role=Role.RIGHTS_HOLDER)
ONE = [{"path": TABLE, "level": 1}]
TWO = [{"path": TABLE, "level": 2}]


def asked(tables: list[dict[str, Any]], *, epsilon: str = "100", **fields: Any) -> TwinRequest:
    return parse(TwinRequest, {"dataset": "heights", "tables": tables, "epsilon": epsilon, **fields})


def order(bench: Bench, tables: list[dict[str, Any]] = ONE, **fields: Any) -> str:
    """Counts on record, queued and announced to the workers, as the interface does it."""
    request, job_id = asked(tables, **fields), f"counts-{next(_numbers):06d}"
    with bench.database.transaction() as connection:
        dataset = datasets.newest(connection, "heights", HOLDER)
        check_policy(request, dataset)
        job = twins.submit(
            connection, job_id=job_id, request=request, dataset=dataset, by="holder", now=bench.clock()
        )
    if job.state is JobState.QUEUED:
        bench.sent.run_job(job_id)
    return job_id


def given_rich_heights(bench: Bench, **fields: Any) -> Dataset:
    return given_heights(bench, budget_epsilon="1000", **fields)


def vote(bench: Bench, dataset: Dataset, job_id: str, *, approves: bool = True) -> twins.Counts:
    with bench.database.transaction() as connection:
        return twins.vote(
            connection, dataset=dataset, job_id=job_id, user=HOLDER, approves=approves,
            reason="so", now=bench.clock(),
        )  # fmt: skip


def spent(bench: Bench) -> tuple[int, int]:
    (account,) = bench.rows(accounts)
    return account["reserved"], account["spent"]


def test_counts_within_their_noise(bench: Bench) -> None:
    given_rich_heights(bench)
    job_id = order(bench, TWO)
    bench.drive()
    release = bench.release(job_id)
    document = json.loads(release.files[FILE])
    counts = TableCounts.parse(document["tables"][TABLE])
    assert counts.level == 2
    assert counts.columns == ("height",)
    # at epsilon 100 the noise of a count is far below one person
    assert abs(counts.counts.people - len(PEOPLE)) <= 2
    assert (release.guarantee, release.cost, release.values) == ("pure_dp", {"epsilon": "100"}, ())
    assert check_release(release.model_dump(mode="json"), public_key_pem(bench.zone.keys.signing))
    predicate = opened(release.certificate)["predicate"]
    assert predicate["mechanism"]["name"] == "twin_counts"
    assert predicate["guarantee"]["class"] == "pure_dp"
    assert "add or remove" in predicate["guarantee"]["relation"]
    assert spent(bench) == (0, 100_000_000)
    assert not bench.rows(run_outputs)
    check_books(bench)


def test_exact_counts_are_sealed_and_noised_before_they_leave(bench: Bench) -> None:
    """Most counts differ from the exact ones where noise is wide: here one in a thousand is the same."""
    dataset = given_rich_heights(bench)
    job_id = order(bench, epsilon="0.002")
    execute(bench.zone, job_id)
    execute_chunk(bench.zone, job_id, 0)
    (row,) = bench.rows(run_outputs)
    plain = open_sealed(row["sealed"], key=bench.outputs_key(job_id), context=output_context(job_id, 0))
    exact = unpack_sums(plain)
    (counting,) = countings(asked(ONE), dataset.declaration)
    assert sum(exact) == len(PEOPLE) * len(counting.grids)
    bench.drive()
    document = json.loads(bench.release(job_id).files[FILE])
    noisy = [n for column in document["tables"][TABLE]["counts"]["ones"] for n in column]
    differing = sum(a != b for a, b in zip(noisy, exact, strict=True))
    assert differing > len(exact) / 2


def test_every_message_twice_draws_once(bench: Bench) -> None:
    given_rich_heights(bench)
    job_id = order(bench)
    bench.drive(times=2)
    assert bench.job(job_id).state is JobState.RELEASED
    assert len(bench.rows(releases)) == 1
    assert spent(bench) == (0, 100_000_000)
    check_books(bench)


def die_after_claim(bench: Bench, job_id: str) -> None:
    assert claim(bench.zone, job_id) is not None


def die_after_charge(bench: Bench, job_id: str) -> None:
    job = claim(bench.zone, job_id)
    assert job is not None
    assert charge(bench.zone, job)


def die_while_counting(bench: Bench, job_id: str) -> None:
    execute(bench.zone, job_id)
    chunk = claim_chunk(bench.zone, job_id, 0)
    assert chunk is not None
    count_chunk(bench.zone, chunk)  # and nothing of it is kept


def die_before_the_release_is_asked_for(bench: Bench, job_id: str) -> None:
    execute(bench.zone, job_id)
    chunk = claim_chunk(bench.zone, job_id, 0)
    assert chunk is not None
    keep(bench.zone, chunk, count_chunk(bench.zone, chunk))


def die_while_publishing(bench: Bench, job_id: str) -> None:
    die_before_the_release_is_asked_for(bench, job_id)
    arrange_release(bench.zone, job_id)
    bench.clock.forward(3600)
    assert begin(bench.zone, job_id)


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
def test_a_worker_that_dies_is_replaced_and_nothing_is_charged_twice(
    bench: Bench, die: Callable[[Bench, str], None]
) -> None:
    given_rich_heights(bench)
    job_id = order(bench)
    bench.sent.take()  # its messages die with it
    die(bench, job_id)
    for _ in range(6):
        bench.sent.take()
        bench.clock.forward(3600)
        sweep(bench.zone)
        bench.drive()
    assert bench.job(job_id).state is JobState.RELEASED
    assert len(bench.rows(releases)) == 1
    assert spent(bench) == (0, 100_000_000)
    publish(bench.zone, job_id)
    assert len(bench.rows(releases)) == 1
    check_books(bench)


def test_the_identical_order_is_free_and_another_is_refused_until_it_says_so(bench: Bench) -> None:
    given_rich_heights(bench)
    first = order(bench)
    with pytest.raises(Conflict, match="a second set costs again"):
        order(bench, TWO)  # while the first is on its way
    bench.drive()
    again = order(bench)
    assert bench.job(again).answered_by == first
    with pytest.raises(Conflict, match="a second set costs again"):
        order(bench, epsilon="50")
    other = order(bench, epsilon="50", again=True)
    bench.drive()
    assert bench.release(other).files != bench.release(first).files
    assert spent(bench) == (0, 150_000_000)
    check_books(bench)


def test_withdrawn_before_the_charge_the_budget_and_the_turn_come_back(bench: Bench) -> None:
    dataset = given_rich_heights(bench)
    job_id = order(bench)
    with bench.database.transaction() as connection:
        job: Job = twins.cancel(connection, dataset, job_id, by="holder", now=bench.clock())
    assert job.state is JobState.CANCELLED
    bench.drive()
    assert spent(bench) == (0, 0)
    order(bench, TWO)
    check_books(bench)


def test_withdrawn_after_the_charge_it_stands(bench: Bench) -> None:
    given_rich_heights(bench)
    job_id = order(bench)
    execute(bench.zone, job_id)
    cancel(bench, job_id)
    bench.drive()
    assert bench.job(job_id).state is JobState.CANCELLED
    assert spent(bench) == (0, 100_000_000)
    assert not bench.rows(run_outputs)
    check_books(bench)


def test_a_fifth_of_the_budget_unless_said_otherwise(bench: Bench) -> None:
    given_heights(bench, budget_epsilon="10")
    with pytest.raises(InvalidRequest, match="over a fifth"):
        order(bench, epsilon="2.1")
    order(bench, epsilon="2")
    with pytest.raises(BudgetExceeded):
        order(bench, epsilon="9", beyond_share=True, again=True)
    assert spent(bench) == (2_000_000, 0)


def test_zcdp_accounts_take_them_as_rho(bench: Bench) -> None:
    given_heights(bench, accounting="zcdp", budget_epsilon="10", budget_delta="0.000001")
    job_id = order(bench, epsilon="0.5", beyond_share=True)
    bench.drive()
    (currency,) = bench.release(job_id).cost
    assert currency == "rho"
    check_books(bench)


def test_twins_are_drawn_from_what_was_approved_and_from_nothing_else(bench: Bench) -> None:
    dataset = given_rich_heights(bench)
    job_id = order(bench)
    with pytest.raises(Conflict, match="Wait until it is RELEASED"):
        vote(bench, dataset, job_id)
    bench.drive()
    with bench.database.reading() as connection:
        assert twins.basis(connection, dataset.id) is BLANK
    vote(bench, dataset, job_id)
    with pytest.raises(Conflict, match="final"):
        vote(bench, dataset, job_id, approves=False)
    with bench.database.reading() as connection:
        basis = twins.basis(connection, dataset.id)
        counts = twins.counts_of(connection, basis)
    assert (basis.job_id, basis.level) == (job_id, 1)
    drawn = [draw_twin(dataset.declaration, basis, counts, seed=seed)[TABLE] for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(draw_twin(dataset.declaration, basis, counts, people=7)[TABLE].splitlines()) == 8
    # a rehearsal runs on the twin that its author would fetch
    with bench.database.transaction() as connection:
        rehearsal, _ = rehearsals.request(
            connection,
            rehearsal_id="rehearsal-of-counts",
            author="ada",
            dataset=dataset,
            request=RehearsalRequest(dataset="heights", pipeline=make_pipeline()),
            image_digest=bench.zone.image.digest,
            counts=job_id,
            now=bench.clock(),
        )
    assert twin_of(bench.zone, rehearsal, dataset.declaration).table(TABLE) == drawn[0]
    assert draw_twin(dataset.declaration)[TABLE] != drawn[0]
    # a second set that is refused changes nothing
    other = order(bench, epsilon="50", again=True)
    bench.drive()
    assert vote(bench, dataset, other, approves=False).state == "refused"
    with bench.database.reading() as connection:
        assert twins.basis(connection, dataset.id).job_id == job_id
        assert [counts.job.id for counts in twins.of_version(connection, dataset)] == [other, job_id]
    check_books(bench)
