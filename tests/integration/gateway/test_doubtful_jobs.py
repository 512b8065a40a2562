"""One check before the charge: the interface asks what commands and pages ask, and takes it anyway."""

from __future__ import annotations

from typing import Any

import pytest
from asking import Gateway
from factories import (
    IMAGE,
    NOW,
    given_dataset,
    given_image,
    given_user,
    job_request_fields,
    make_job_request,
    make_shape,
    policy_fields,
)

from domain.model import parse
from domain.rehearsal import Preview, RehearsalRequest, TwinRuns
from dpgate.answers import refusal
from dpgate.errors import Doubtful, RequestRefused
from store import datasets, ledger, rehearsals

RAN = {"blocks": 6, "failed": 0, "outside": [0], "missing": [0]}
WIDE = "The noise on count reaches half of the range"


@pytest.fixture
def heights(gateway: Gateway) -> Gateway:
    with gateway.database.transaction() as connection:
        given_image(connection)
        given_dataset(connection, policy=policy_fields(max_epsilon_per_job="5"))
    return gateway


def job(**overrides: Any) -> dict[str, Any]:
    return job_request_fields(**{"anyway": False, "epsilon": "1", **overrides})


def record(**seen: Any) -> dict[str, Any]:
    pipeline = make_job_request().pipeline.digest
    return {"pipeline": pipeline, "whole": [41.0], "block_size": 10, "seen": RAN | seen}


def put(gateway: Gateway, body: dict[str, Any], job_id: str = "doubtful-1") -> Any:
    return gateway.ask("PUT", f"/jobs/{job_id}", by="ada", json=body)


def sentences(answer: Any) -> list[str]:
    """What speaks against it; the last problem says how to have it anyway."""
    assert answer.status_code == 409
    assert answer.json()["type"] == "urn:dpgate:problem:Doubtful"
    *found, last = answer.json()["problems"]
    assert {each["code"] for each in found} == {"doubtful"}
    assert last["code"] == "anyway"
    assert last["sentence"].startswith("Nothing was charged. To have it as it is, say anyway")
    return [each["sentence"] for each in found]


def untouched(gateway: Gateway) -> bool:
    """Whether nothing was reserved and no job is on record."""
    with gateway.database.reading() as connection:
        (account,) = ledger.list_accounts(connection, cohort="heights")
    return (account.reserved, account.spent, gateway.rows()["jobs"]) == (0, 0, 0)


def test_a_job_that_nobody_saw_on_the_twin_is_asked_back(heights: Gateway) -> None:
    (only,) = sentences(put(heights, job(epsilon="5")))
    assert only.startswith("There is no record of a run of this pipeline on the twin")
    assert untouched(heights)
    assert put(heights, job(epsilon="5", anyway=True)).status_code == 201
    # a repeat is the job on record, whatever is said with it
    assert put(heights, job(epsilon="5")).status_code == 200


def test_what_the_client_saw_on_the_twin_is_looked_at(heights: Gateway) -> None:
    assert put(heights, job(epsilon="5", on_twin=record())).status_code == 201
    (failed,) = sentences(put(heights, job(epsilon="4", on_twin=record(failed=2)), "doubtful-2"))
    assert failed.startswith("2 of 6 blocks of the twin failed")
    (size,) = sentences(put(heights, job(epsilon="4", on_twin=record(means=[9.8])), "doubtful-2"))
    assert size.startswith("On the whole twin mean_age is 41, and 9.8 on average over its blocks")
    few = record(means=[9.8, 9.8])
    assert put(heights, job(epsilon="4", on_twin=few), "doubtful-2").status_code == 422
    (noise,) = sentences(put(heights, job(epsilon="0.1", on_twin=record()), "doubtful-2"))
    assert noise.startswith("The noise on mean_age reaches half of the range")
    other = {**record(), "pipeline": "sha256:" + "0" * 64}
    assert put(heights, job(epsilon="4", on_twin=other), "doubtful-2").status_code == 422


@pytest.mark.parametrize(("blocks", "said"), [(((40.0,), (42.0,)), 0), ((None, (42.0,)), 1)])
def test_the_last_rehearsal_is_looked_at_where_the_client_says_nothing(
    heights: Gateway, blocks: Any, said: int
) -> None:
    asked = parse(RehearsalRequest, {"dataset": "heights", "pipeline": job_request_fields()["pipeline"]})
    with heights.database.transaction() as connection:
        found, _ = rehearsals.request(
            connection, rehearsal_id="rehearsal-1", author="ada", request=asked, image_digest=IMAGE,
            dataset=datasets.newest(connection, "heights", given_user(connection)), now=NOW,
        )  # fmt: skip
        claimed = rehearsals.claim(connection, found.id, now=NOW, due_at=NOW, most_running=1)
        assert claimed is not None
        runs = TwinRuns(shape=make_shape(), numbers=(41.0,), blocks=blocks, seconds=0.1)
        rehearsals.finish(connection, claimed, runs=runs, preview=Preview(unable="few"), now=NOW)
    answer = put(heights, job(epsilon="5"))
    assert answer.status_code == (409 if said else 201)
    if said:
        assert sentences(answer)[0].startswith("1 of 2 blocks of the twin failed")


def test_a_query_whose_noise_drowns_it_is_asked_back(heights: Gateway) -> None:
    body = {"dataset": "heights", "query": {"kind": "count"}, "epsilon": "0.01"}
    (only,) = sentences(put(heights, body))
    assert only.startswith(WIDE)
    assert untouched(heights)
    assert put(heights, {**body, "anyway": True}).status_code == 201


def test_python_gets_the_same_error_as_from_its_own_check(heights: Gateway) -> None:
    body = {"dataset": "heights", "query": {"kind": "count"}, "epsilon": "0.01"}
    error = refusal(put(heights, body))
    assert isinstance(error, Doubtful)
    assert [said.startswith(WIDE) for said in error.cautions] == [True]


def test_a_platform_that_cannot_read_a_record_is_named_as_the_older_one(heights: Gateway) -> None:
    """As a gateway of before answers what a newer command tells of the twin."""
    error = refusal(put(heights, job(on_twin=record(medians=[41.0]))))
    assert isinstance(error, RequestRefused)
    (only,) = error.problems
    assert str(only).startswith("This platform is older than the dpgate here")
    assert "Ask the operator to update the platform" in only.fix
    assert untouched(heights)
