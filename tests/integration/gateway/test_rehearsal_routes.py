"""Rehearsals over the interface: asked for, read by their author alone, refused like a job."""

from __future__ import annotations

from typing import Any

import pytest
from asking import Gateway, problem
from factories import (
    NOW,
    given_dataset,
    given_image,
    job_request_fields,
    make_shape,
    manifest_fields,
    policy_fields,
)

from domain.job import own_id
from domain.rehearsal import MAX_WAITING, Preview, QuietMean, TwinRuns
from store import rehearsals

PLACE = "/rehearsals/rehearsal-0001"
OWN = own_id("ada", "rehearsal-0001")
RUNS = TwinRuns(
    shape=make_shape(), numbers=(41.0,), blocks=((40.0,), (42.5,), None), seconds=0.1, said="hello"
)
UNABLE = Preview(unable="few")


def body(**overrides: Any) -> dict[str, Any]:
    return {"dataset": "heights", "pipeline": job_request_fields()["pipeline"], **overrides}


@pytest.fixture
def ready(gateway: Gateway) -> Gateway:
    with gateway.database.transaction() as connection:
        given_image(connection)
        given_dataset(connection)
    return gateway


def finish(gateway: Gateway, *, preview: Preview = UNABLE) -> None:
    """What a worker writes down."""
    with gateway.database.transaction() as connection:
        found = rehearsals.claim(connection, OWN, now=NOW, due_at=NOW, most_running=1)
        assert found is not None
        assert rehearsals.finish(connection, found, runs=RUNS, preview=preview, now=NOW)


def test_a_rehearsal_is_asked_for_once_and_read(ready: Gateway):
    first = ready.ask("PUT", PLACE, by="ada", json=body())
    assert first.status_code == 201
    assert first.json()["state"] == "QUEUED"
    assert ready.ask("PUT", PLACE, by="ada", json=body()).status_code == 200
    other = problem(ready.ask("PUT", PLACE, by="ada", json=body(block_size=7)), status=409, kind="Conflict")
    assert other["code"] == "other_rehearsal"
    finish(ready)
    found = ready.ask("GET", PLACE, by="ada").json()
    assert found["state"] == "DONE"
    assert found["outputs"] == ["mean_age"]
    assert found["runs"]["said"] == "hello"
    assert found["preview"]["unable"] == "few"
    (listed,) = ready.ask("GET", "/rehearsals", by="ada").json()
    assert "runs" not in listed


def test_ids_are_an_authors_own_and_tell_nothing_of_anothers(ready: Gateway):
    with ready.database.transaction() as connection:
        given_dataset(connection, policy=policy_fields(data_users=["ada", "bob"]))
    hers = ready.ask("PUT", PLACE, by="ada", json=body()).json()
    his = ready.ask("PUT", PLACE, by="bob", json=body(block_size=7))
    assert his.status_code == 201
    assert his.json()["id"] != hers["id"]
    assert ready.ask("GET", PLACE, by="ada").json()["id"] == hers["id"]
    again = body(runs_of="rehearsal-0001")
    other = ready.ask("PUT", "/rehearsals/rehearsal-0002", by="bob", json=again)
    assert problem(other, status=409, kind="Conflict")["code"] == "other_runs"  # his own, which has not run


def test_it_costs_nothing(ready: Gateway):
    before = ready.ask("GET", "/datasets/heights/budget", by="ada").json()
    ready.ask("PUT", PLACE, by="ada", json=body())
    assert ready.ask("GET", "/datasets/heights/budget", by="ada").json() == before


def test_nobody_else_learns_of_it(ready: Gateway, subtests: pytest.Subtests):
    ready.ask("PUT", PLACE, by="ada", json=body())
    finish(ready)
    forecast = {"mechanism": {"name": "pac", "nats": "0.1"}}
    for other in ("holder", "rival", "olga", "bob"):
        with subtests.test(other):
            refused = problem(ready.ask("GET", PLACE, by=other), status=404, kind="NotFound")
            absent = ready.ask("GET", "/rehearsals/rehearsal-none", by=other)
            assert refused["code"] == "no_rehearsal"
            assert refused == problem(absent, status=404, kind="NotFound")
            assert ready.ask("GET", "/rehearsals", by=other).json() == []
            asked = ready.ask("POST", f"{PLACE}/forecast", by=other, json=forecast)
            problem(asked, status=404, kind="NotFound")


def test_a_data_set_of_others_does_not_exist(ready: Gateway):
    problem(ready.ask("PUT", PLACE, by="bob", json=body()), status=404, kind="NotFound")


WRONG: list[tuple[dict[str, Any], str, int]] = [
    ({"block_size": 31}, "block_size", 422),
    ({"block_size": 0}, "block_size", 422),
    ({"block_size": "10"}, "block_size", 422),
    ({"dataset": "nothing"}, "dataset", 404),
    ({"runs_of": "rehearsal-none"}, "rehearsal", 404),
    ({"mechanism": {}}, "mechanism", 422),
]
UNFIT: list[tuple[dict[str, Any], str, int]] = [
    ({"image": "other"}, "pipeline.manifest.image", 403),
    ({"resources": {"wall_seconds": 3600}}, "pipeline.manifest.resources.wall_seconds", 422),
    ({"outputs": []}, "pipeline.manifest.outputs", 422),
]


def test_a_wrong_field_is_named_and_nothing_is_kept(ready: Gateway, subtests: pytest.Subtests):
    before = ready.rows()
    for change, field, status in WRONG:
        with subtests.test(str(change)):
            answer = ready.ask("PUT", PLACE, by="ada", json=body(**change))
            assert problem(answer, status=status)["field"] == field
            assert ready.rows() == before


def test_a_pipeline_is_refused_as_a_job_would_be(ready: Gateway, subtests: pytest.Subtests):
    for manifest, field, status in UNFIT:
        with subtests.test(str(manifest)):
            asked = body(pipeline={"manifest": manifest_fields(**manifest), "sources": []})
            assert problem(ready.ask("PUT", PLACE, by="ada", json=asked), status=status)["field"] == field


def test_a_twin_that_is_too_large_is_refused(ready: Gateway):
    with ready.database.transaction() as connection:
        given_dataset(connection, name="crowd", nominal_size=10_000_000)
    answer = ready.ask("PUT", PLACE, by="ada", json=body(dataset="crowd"))
    assert problem(answer, status=413, kind="TooLarge")["code"] == "twin_too_large"


def test_only_so_many_wait(ready: Gateway):
    for number in range(MAX_WAITING):
        place = f"/rehearsals/rehearsal-a{number:03d}"
        assert ready.ask("PUT", place, by="ada", json=body()).status_code == 201
    one_more = problem(ready.ask("PUT", PLACE, by="ada", json=body()), status=409, kind="Conflict")
    assert one_more["code"] == "rehearsals_wait"


def ask_forecast(gateway: Gateway, **mechanism: Any) -> Any:
    return gateway.ask("POST", f"{PLACE}/forecast", by="ada", json={"mechanism": mechanism})


def test_a_forecast_of_any_mechanism_comes_with_its_class(ready: Gateway):
    ready.ask("PUT", PLACE, by="ada", json=body())
    early = problem(ask_forecast(ready, name="pac", nats="0.1"), status=409, kind="Conflict")
    assert early["code"] == "rehearsal_state"
    finish(ready, preview=Preview(means=(QuietMean(output=0, block_size=10, offsets=(-0.5, 0.0, 0.5)),)))
    found = ask_forecast(
        ready, name="sample_aggregate", epsilon="0.7", noise="gaussian", delta="0.000001"
    ).json()
    assert (found["mechanism"], found["guarantee"]) == ("sample_aggregate", "approx_dp")
    assert found["guarantee_sentence"].startswith("Approximate differential privacy")
    (output,) = found["outputs"]
    assert (output["output"], output["amount"], found["unit"]) == ("mean_age", "0.7", "epsilon")
    chosen = next(rung for rung in output["rungs"] if rung["amount"] == "0.7")
    assert chosen["within_95"] > chosen["noise_95"] > 0


NO_FORECAST: list[tuple[dict[str, Any], str]] = [
    (
        {"name": "pac", "nats": "0.1"},
        f"Ask for a rehearsal with runs_of {OWN} and mechanism pac.",
    ),
    ({"name": "sample_aggregate", "epsilon": "1", "repeats": 3}, "Ask for another choice."),
    ({"name": "sample_aggregate", "epsilon": "1", "weights": {"nobody": 2}}, "Ask for another choice."),
]


def test_a_forecast_that_there_is_not_says_what_to_do(ready: Gateway, subtests: pytest.Subtests):
    ready.ask("PUT", PLACE, by="ada", json=body())
    finish(ready)
    for mechanism, fix in NO_FORECAST:
        with subtests.test(str(mechanism)):
            refused = problem(ask_forecast(ready, **mechanism), status=422, kind="InvalidRequest")
            assert (refused["field"], refused["fix"]) == ("mechanism", fix)
