"""The route of a trusted query: what comes out, what it costs, and what it never touches."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from factories import given_user
from heights import COLUMNS, PEOPLE, table_text
from zones import Bench, cancel, check_books, given_delivery, given_heights, imported, move, open_bench

from domain.errors import BudgetExceeded
from domain.model import parse
from domain.query import QueryRequest
from domain.release import opened
from domain.states import Actor, JobState
from dpgate.query_file import TWIN_KEY
from dpgate.verification import check_release
from store import datasets, jobs
from store.sealing import open_sealed
from store.tables import chunks, run_outputs
from worker.certificate import public_key_pem
from worker.collect import output_context
from worker.execute import execute, execute_chunk
from worker.importing import import_dataset
from worker.scan.chunk import choice_key, pack_sums, unpack_sums
from worker.scan.scan import scan
from worker.scan.source import plain_file

_numbers = itertools.count(1)
HEIGHT = {"kind": "mean", "column": "height"}
TALL = {"kind": "count", "where": [{"column": "height", "operator": ">", "value": 170}]}
VISITS = [
    {"name": "participant_id", "kind": "person"},
    {"name": "score", "kind": "integer", "lower": 0, "upper": 10},
    {"name": "site", "kind": "categorical", "categories": ["north", "south"]},
]


def ask(bench: Bench, query: dict[str, Any], *, epsilon: str = "1", **fields: Any) -> str:
    """A query on record, queued and announced to the workers."""
    request = parse(QueryRequest, {"dataset": "heights", "query": query, "epsilon": epsilon, **fields})
    job_id, now = f"query-{next(_numbers):06d}", bench.clock()
    with bench.database.transaction() as connection:
        dataset = datasets.newest(connection, request.dataset, given_user(connection, "ada"))
        job, _ = jobs.submit(
            connection,
            job_id=job_id,
            author="ada",
            dataset=dataset,
            request=request,
            image_digest=None,
            now=now,
        )
        if job.state is JobState.SUBMITTED:
            move(connection, job_id, JobState.SUBMITTED, JobState.QUEUED, Actor.POLICY, now)
    if job.state is JobState.SUBMITTED:
        bench.sent.run_job(job_id)
    return job_id


def visits_text() -> str:
    rows = [(name, score, site) for name in PEOPLE for score in range(5) for site in ("north", "south")]
    lines = ("participant_id,score,site", *(f"{name},{score},{site}" for name, score, site in rows))
    return "".join(f"{line}\r\n" for line in lines)


def given_visits(bench: Bench) -> None:
    """A second table with many rows of each of the twelve people."""
    tables = [
        {"path": "participants.tsv", "columns": COLUMNS},
        {"path": "visits.csv", "columns": VISITS, "rows_per_person": "many"},
    ]
    files = {"participants.tsv": table_text(PEOPLE), "visits.csv": visits_text()}
    import_dataset(bench.zone, given_delivery(bench, files, tables=tables).id)


def test_a_mean_within_its_noise(bench: Bench) -> None:
    given_heights(bench)
    job_id = ask(bench, HEIGHT, epsilon="100")
    bench.drive()
    release = bench.release(job_id)
    mean, count = release.values
    assert mean.value == pytest.approx(sum(PEOPLE.values()) / len(PEOPLE), abs=3)
    assert (count.name, round(count.value)) == ("count", 12)
    assert mean.lower_95 is not None
    assert mean.lower_95 <= mean.value <= mean.upper_95
    assert (release.guarantee, release.cost) == ("pure_dp", {"epsilon": "100"})
    assert release.files["result.csv"].splitlines()[0] == "output,value,lower_95,upper_95"
    assert [after for _, after in bench.moves(job_id)] == [
        "QUEUED",
        "PREPARING",
        "RUNNING",
        "AGGREGATING",
        "IN_REVIEW",
        "RELEASED",
    ]
    check_books(bench)


def test_the_certificate_says_what_was_asked(bench: Bench) -> None:
    given_heights(bench)
    job_id = ask(bench, TALL)
    bench.drive()
    release = bench.release(job_id)
    assert check_release(release.model_dump(mode="json"), public_key_pem(bench.zone.keys.signing))
    predicate = opened(release.certificate)["predicate"]
    assert predicate["mechanism"]["name"] == "trusted_query"
    assert predicate["mechanism"]["chosen"] == {
        "epsilon": "1",
        "kind": "count",
        "where": [{"column": "height", "operator": ">", "value": 170.0}],
    }
    assert predicate["mechanism"]["parameters"] == {
        "rows": 1,
        "bounds": [],
        "noise": "discrete_laplace",
        "noise_scale": "1",
    }
    assert (predicate["image"], predicate["pipeline"]) == (None, None)
    assert json.dumps(predicate)


def test_groups_and_many_rows_of_a_sealed_table(bench: Bench) -> None:
    given_visits(bench)
    query = {
        "kind": "mean",
        "column": "score",
        "by": ["site"],
        "table": "visits.csv",
        "contribution": {"rows": 4},
    }
    job_id = ask(bench, query, epsilon="500")
    bench.drive()
    release = bench.release(job_id)
    assert [value.name for value in release.values] == [
        "north: mean",
        "north: count",
        "south: mean",
        "south: count",
    ]
    assert sum(round(value.value) for value in release.values[1::2]) == 12 * 4
    assert release.files["result.csv"].splitlines()[0] == "site,output,value,lower_95,upper_95"
    assert release.files["result.csv"].splitlines()[2].startswith("north,count,")


def test_which_rows_count_is_a_secret_of_the_version(bench: Bench, tmp_path) -> None:
    """The key is the worker zone's, and of the version's random id: neither the rows nor a twin tell it."""
    given_visits(bench)
    query = {
        "kind": "histogram",
        "column": "score",
        "edges": [1, 2, 3, 4],
        "table": "visits.csv",
        "contribution": {"rows": 3},
    }
    job_id = ask(bench, query)
    execute(bench.zone, job_id)
    execute_chunk(bench.zone, job_id, 0)
    (row,) = bench.rows(run_outputs)
    plain = open_sealed(row["sealed"], key=bench.outputs_key(job_id), context=output_context(job_id, 0))
    dataset, request = imported(bench, bench.job(job_id).dataset_id), bench.job(job_id).request
    assert isinstance(request, QueryRequest)
    (tmp_path / "visits.csv").write_text(visits_text(), newline="")

    def on_disk(key: bytes) -> tuple[int, ...]:
        return scan(plain_file(tmp_path / "visits.csv"), request, dataset.declaration, key=key)

    key = choice_key(bench.zone, dataset)
    assert unpack_sums(plain) == on_disk(key)
    assert key not in (TWIN_KEY, bytes(32))
    # two keys may choose alike by chance, twenty do not
    assert {on_disk(bytes([number]) * 32) for number in range(20)} != {on_disk(key)}
    assert choice_key(bench.zone, dataset.model_copy(update={"snapshot": None})) == key
    assert choice_key(bench.zone, dataset.model_copy(update={"id": "another"})) != key


def test_a_release_names_how_rows_were_limited(bench: Bench) -> None:
    """From the question alone: words that are the same whoever has how many rows."""
    given_visits(bench)
    limits = {}
    for name, rule in {"rows": {"rows": 4}, "one": {"reduce": "least"}}.items():
        job_id = ask(
            bench,
            {"kind": "count", "by": ["site"], "table": "visits.csv", "contribution": rule},
        )
        bench.drive()
        limits[name] = opened(bench.release(job_id).certificate)["predicate"]["mechanism"]["limit"]
    assert limits["rows"].startswith(
        "At most 4 rows of each person count: where more take part, 4 are chosen"
    )
    assert limits["one"].startswith("Each person counts once, with the least of their rows: in the group")
    job_id = ask(bench, HEIGHT)
    bench.drive()
    assert "limit" not in opened(bench.release(job_id).certificate)["predicate"]["mechanism"]


def test_un_noised_sums_are_sealed_in_a_fixed_length(bench: Bench) -> None:
    given_heights(bench)
    job_id = ask(bench, TALL)
    execute(bench.zone, job_id)
    execute_chunk(bench.zone, job_id, 0)
    (row,) = bench.rows(run_outputs)
    plain = open_sealed(row["sealed"], key=bench.outputs_key(job_id), context=output_context(job_id, 0))
    assert unpack_sums(plain) == (sum(height > 170 for height in PEOPLE.values()),)
    assert len(pack_sums([0, -(2**100)])) == len(pack_sums([2**100, 7])) == 32
    assert unpack_sums(pack_sums([0, -(2**100), 5])) == (0, -(2**100), 5)
    bench.drive()
    assert not bench.rows(run_outputs)
    assert not bench.rows(chunks)


def test_every_message_twice_draws_once(bench: Bench) -> None:
    given_heights(bench)
    job_id = ask(bench, HEIGHT)
    bench.drive(times=2)
    assert bench.job(job_id).state is JobState.RELEASED
    assert len(bench.moves(job_id)) == 6
    check_books(bench)


def test_the_same_question_again_is_free_and_another_is_not(bench: Bench) -> None:
    given_heights(bench)
    first = ask(bench, HEIGHT)
    bench.drive()
    again = ask(bench, {"kind": "mean", "column": {"name": "height"}}, epsilon="1.0")
    assert bench.release(again).values == bench.release(first).values
    other = ask(bench, {"kind": "mean", "column": {"name": "height", "lower": 120}})
    bench.drive()
    assert bench.release(other).values != bench.release(first).values
    check_books(bench)


def test_a_budget_that_is_spent(bench: Bench) -> None:
    given_heights(bench, budget_epsilon="2")
    ask(bench, HEIGHT, epsilon="1.5")
    with pytest.raises(BudgetExceeded):
        ask(bench, TALL, epsilon="1")
    bench.drive()
    check_books(bench)


def test_zcdp_accounts_take_a_query_as_rho(bench: Bench) -> None:
    given_heights(bench, accounting="zcdp", budget_epsilon="10", budget_delta="0.000001")
    count, mean, median = (
        ask(bench, query) for query in (TALL, HEIGHT, {"kind": "quantile", "column": "height"})
    )
    bench.drive()
    # epsilon^2/2 of one sum, half of it for two that share epsilon, epsilon^2/8 of an exponential mechanism
    costs = [bench.release(job_id).cost for job_id in (count, mean, median)]
    assert costs == [{"rho": "0.5"}, {"rho": "0.25"}, {"rho": "0.125"}]
    check_books(bench)


def test_cancelled_before_the_scan_gives_the_budget_back(bench: Bench) -> None:
    given_heights(bench)
    job_id = ask(bench, HEIGHT)
    cancel(bench, job_id)
    bench.drive()
    assert bench.job(job_id).state is JobState.CANCELLED
    check_books(bench)


def test_a_snapshot_that_is_gone_stops_before_the_charge(bench: Bench) -> None:
    dataset = given_heights(bench)
    job_id = ask(bench, HEIGHT)
    for file in bench.zone.settings.snapshots_folder.rglob("manifests/*"):
        file.unlink()
    execute(bench.zone, job_id)
    assert bench.job(job_id).state is JobState.QUEUED
    assert imported(bench, dataset.id).snapshot is not None
    check_books(bench)


def test_a_table_that_does_not_open_waits_for_another_worker(bench: Bench, caplog) -> None:
    """The platform failed, not the data user: nothing is released, and no text of the engine is kept."""
    given_heights(bench)
    job_id = ask(bench, HEIGHT)
    execute(bench.zone, job_id)
    for blob in bench.zone.settings.snapshots_folder.rglob("blobs/*/*"):
        *whole, last = blob.read_bytes()
        blob.write_bytes(bytes([*whole, last ^ 1]))
    execute_chunk(bench.zone, job_id, 0)
    assert bench.job(job_id).state is JobState.RUNNING
    assert not bench.rows(run_outputs)
    assert "could not be scanned" in caplog.text
    assert "150" not in caplog.text.replace(job_id, "")


def test_a_worker_that_may_not_run_pipelines_may_scan(sqlite_url: str, tmp_path) -> None:
    """Nothing foreign runs, so there is nothing to isolate: a worker that is isolated for development only
    takes the query, and would refuse a pipeline."""
    with open_bench(sqlite_url, tmp_path, isolation="dev", scan_memory_mib=256, scan_threads=1) as bench:
        given_heights(bench)
        job_id = ask(bench, HEIGHT)
        bench.drive()
        assert bench.job(job_id).state is JobState.RELEASED
