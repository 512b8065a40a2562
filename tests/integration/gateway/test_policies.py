"""Policies over the interface: read, change, simulate; and what they decide at a submission."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from asking import Gateway, problem
from factories import given_dataset, given_image, given_job, job_request_fields, policy_fields
from given_projects import given_grant, given_project

from domain.states import JobState
from store import job_lists

PATH = "/datasets/heights/policy"
PAC = {"name": "pac", "nats": "0.03125"}


def change(
    gateway: Gateway, *, number: int = 1, by: str = "holder", reason: str = "so", **fields: Any
) -> Any:
    body = {"number": number, "reason": reason, "policy": policy_fields(**fields)}
    return gateway.ask("PUT", PATH, by=by, json=body)


def submit(gateway: Gateway, job_id: str, **fields: Any) -> Any:
    return gateway.ask("PUT", f"/jobs/{job_id}", by="ada", json=job_request_fields(**fields))


@pytest.fixture
def heights(gateway: Gateway) -> Gateway:
    with gateway.database.transaction() as connection:
        given_dataset(connection)
        given_image(connection)
    return gateway


@pytest.fixture(scope="module")
def untouched(shared_gateway: Gateway) -> Gateway:
    """The same for tests that change nothing."""
    with shared_gateway.database.transaction() as connection:
        given_dataset(connection)
    return shared_gateway


def test_a_change_is_read_back_with_its_reason_by_its_rights_holder_alone(heights: Gateway):
    answer = change(heights, reason="  bob joins  ", data_users=["ada", "bob"])
    assert answer.status_code == 200
    assert answer.json()["changed"] == ["data_users"]
    own, other = (heights.ask("GET", PATH, by=name).json() for name in ("holder", "ada"))
    assert (own["number"], own["reason"], own["changed_by"]) == (2, "bob joins", "holder")
    assert (other["number"], other["reason"], other["changed_by"], other["changed"]) == (2, None, None, None)
    assert other["policy"]["data_users"] == ["ada", "bob"]
    history = heights.ask("GET", f"{PATH}/history", by="holder").json()
    assert [(one["number"], one["changed"]) for one in history] == [(2, ["data_users"]), (1, [])]
    assert heights.ask("GET", "/datasets/heights", by="bob").status_code == 200


def test_two_changes_from_the_same_number_are_one_change(heights: Gateway):
    assert change(heights, max_epsilon_per_job="2").status_code == 200
    refused = change(heights, max_epsilon_per_job="3")
    assert "number 2 is in effect" in problem(refused, status=409, kind="Conflict")["problem"]
    assert change(heights, number=2, max_epsilon_per_job="3").status_code == 200


@pytest.mark.parametrize("person", ["ada", "bob", "rival", "olga"])
def test_nobody_else_changes_or_looks_behind(untouched: Gateway, person: str):
    expected = 404 if person == "rival" else 403
    before = untouched.rows()
    assert change(untouched, by=person, data_users=["*"]).status_code == expected
    assert untouched.ask("GET", f"{PATH}/history", by=person).status_code == expected
    body = {"policy": policy_fields()}
    assert untouched.ask("POST", f"{PATH}/simulation", by=person, json=body).status_code == expected
    assert untouched.rows() == before


def test_a_reviewer_sees_the_data_set_and_changes_nothing(heights: Gateway):
    assert change(heights, reviewers=["rival"]).status_code == 200
    assert heights.ask("GET", PATH, by="rival").json()["reason"] is None
    assert change(heights, number=2, by="rival", data_users=["*"]).status_code == 404
    assert heights.ask("GET", f"{PATH}/history", by="rival").status_code == 404


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"max_epsilon_per_job": "-1"}, "policy.max_epsilon_per_job"),
        ({"max_epsilon": "1"}, "policy.max_epsilon"),
        ({"mechanisms": []}, "policy.mechanisms"),
        ({"votes": 2}, "policy.votes"),
        ({"approve_jobs": True, "approve_jobs_above": "1"}, "policy.approve_jobs_above"),
        ({"reviewers": ["ada"]}, "reviewers"),
        ({"timing": {"mode": "coarse"}}, "policy.timing"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_changes(untouched: Gateway, fields: dict[str, Any], field: str):
    before = untouched.rows()
    assert problem(change(untouched, **fields), status=422)["field"] == field
    assert untouched.rows() == before


@pytest.mark.parametrize("reason", ["", "  ", "x" * 1001, "\u202e"])
def test_a_change_needs_a_readable_reason(untouched: Gateway, reason: str):
    answer = change(untouched, reason=reason, max_epsilon_per_job="2")
    assert problem(answer, status=422)["field"] == "reason"


def test_jobs_above_the_threshold_wait_and_others_run(heights: Gateway):
    change(heights, approve_jobs_above="0.5")
    assert submit(heights, "job-small1", epsilon="0.5").json()["state"] == "QUEUED"
    assert submit(heights, "job-large1", epsilon="0.6").json()["state"] == "SUBMITTED"


def test_what_the_policy_no_longer_allows_is_refused_and_costs_nothing(heights: Gateway):
    before = heights.ask("GET", "/datasets/heights/budget", by="ada").json()
    change(heights, mechanisms=["trusted_query"])
    assert "does not allow sample_aggregate" in problem(submit(heights, "job-00001"), status=403)["problem"]
    assert heights.ask("GET", "/datasets/heights/budget", by="ada").json() == before


def test_a_job_shows_the_time_of_the_policy_it_was_submitted_under(heights: Gateway):
    with heights.database.transaction() as connection:
        given_job(connection, job_id="job-before")
    change(heights, timing={"mode": "coarse", "step_seconds": 5})
    said = heights.ask("GET", "/jobs/job-before", by="ada").json()["timing"]
    assert "computed from public values" in said
    assert "rounded up to 5 s" in submit(heights, "job-later1").json()["timing"]


def test_a_project_stays_below_its_limit_whoever_is_quicker(heights: Gateway):
    with heights.database.transaction() as connection:
        given_project(connection)
        given_grant(connection, amounts={"epsilon": "5"})
    change(heights, max_epsilon_per_project="1")

    def client(number: int) -> int:
        return int(submit(heights, f"job-{number:05d}", project="sleep", block_size=5 + number).status_code)

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(client, range(4))) == [201, 201, 409, 409]
    with heights.database.reading() as connection:
        assert len(job_lists.on_dataset(connection, "heights", limit=9)) == 2
    accounts = heights.ask("GET", "/datasets/heights/budget", by="holder").json()["accounts"]
    assert [a["reserved"] for a in accounts] == ["1", "1"]


def test_a_simulation_says_what_would_have_been_and_stores_nothing(heights: Gateway):
    with heights.database.transaction() as connection:
        given_job(connection, job_id="job-small1", state=JobState.RELEASED, epsilon="0.2")
        given_job(connection, job_id="job-large1", epsilon="1")
    before = heights.rows()
    proposed = {"policy": policy_fields(approve_jobs_above="0.2", max_epsilon_per_job="0.9")}
    found = heights.ask("POST", f"{PATH}/simulation", by="holder", json=proposed).json()
    assert (found["total"], found["simulated"], found["changed"]) == (2, 2, 1)
    assert found["admissions_then"] == {"runs at once": 2, "waits for approval": 0, "refused": 0}
    assert found["admissions_now"] == {"runs at once": 1, "waits for approval": 0, "refused": 1}
    (changed,) = [job for job in found["jobs"] if job["changes"]]
    assert (changed["job"], changed["epsilon"], changed["now"]["exit"]) == ("job-large1", "1", None)
    assert "1 is over the 0.9" in changed["now"]["reasons"][0]
    assert heights.rows() == before
    wrong = {"policy": policy_fields(reviewers=["ada"])}
    assert heights.ask("POST", f"{PATH}/simulation", by="holder", json=wrong).status_code == 422
