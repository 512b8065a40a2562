"""Dictionary, spending, bounds, citations, events: who reads what, on both databases."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from asking import Gateway, problem
from certified import given_release
from factories import declaration_fields, given_dataset, given_job, make_release, policy_fields

from domain.states import Actor, JobState
from store import audit, jobs


@pytest.fixture(scope="module")
def told(shared_gateway: Gateway) -> Gateway:
    """A data set for ada and bob with a job of each: one released, one that waits."""
    now = datetime.now(UTC)
    with shared_gateway.database.transaction() as connection:
        given_dataset(
            connection,
            budget_epsilon="4",
            policy=policy_fields(data_users=["ada", "bob"], approve_jobs=True),
        )
        released = given_job(connection, job_id="job-of-ada", state=JobState.RUNNING, epsilon="1")
        given_release(connection, make_release(job_id=released.id))
        for after, actor in (
            (JobState.AGGREGATING, Actor.WORKER),
            (JobState.IN_REVIEW, Actor.WORKER),
            (JobState.RELEASED, Actor.POLICY),
        ):
            before = jobs.get(connection, released.id).state
            assert jobs.move(connection, released.id, before, after, actor=actor, now=now)
        given_job(connection, job_id="job-of-bob", author="bob", epsilon="0.5")
        audit.append(
            connection, at=now, actor="holder", action="job.decide", subject="job-of-ada",
            decision="RELEASED", reason="the mean is 41",
        )  # fmt: skip
    return shared_gateway


def get(gateway: Gateway, path: str, by: str) -> Any:
    answer = gateway.ask("GET", path, by=by)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_dictionary_is_what_was_declared(told: Gateway):
    found = get(told, "/datasets/heights/dictionary", "ada")
    assert [column["column"] for column in found["columns"]] == ["participant_id", "age", "sex", "height"]
    sought = get(told, "/datasets/heights/dictionary?q=HEIGHT", "ada")
    assert [(column["lower"], column["upper"]) for column in sought["columns"]] == [(1.0, 2.2)]


def test_the_draft_of_an_assessment_is_the_rights_holders(told: Gateway):
    found = get(told, "/datasets/heights/assessment", "holder")
    assert found["text"].startswith("# Data protection impact assessment: Heights")
    problem(told.ask("GET", "/datasets/heights/assessment", by="ada"), status=403)
    problem(told.ask("GET", "/datasets/nothing/assessment", by="holder"), status=404)


def test_a_data_user_reads_their_own_entries_and_the_total(told: Gateway):
    found = get(told, "/datasets/heights/budget/entries", "ada")
    assert {entry["author"] for entry in found["entries"]} == {"ada"}
    (course,) = found["courses"]
    assert (course["currency"], course["cap"]) == ("epsilon", "4")
    newest = course["standings"][-1]
    assert (newest["spent"], newest["reserved"]) == ("1", "0.5")
    asked = get(told, "/datasets/heights/budget/entries?user=bob", "ada")
    assert asked["entries"] == []


def test_the_rights_holder_reads_everybodys_and_filters(told: Gateway):
    found = get(told, "/datasets/heights/budget/entries", "holder")
    assert [(e["author"], e["action"], e["amount"]) for e in found["entries"]] == [
        ("bob", "reserve", "0.5"), ("ada", "charge", "1"), ("ada", "reserve", "1"),
    ]  # fmt: skip
    of_bob = get(told, "/datasets/heights/budget/entries?user=bob", "holder")
    assert [entry["job"] for entry in of_bob["entries"]] == ["job-of-bob"]
    assert of_bob["courses"][0]["standings"][-1]["spent"] == "0"


def test_entries_come_part_by_part_and_each_once(told: Gateway):
    path, parts = "/datasets/heights/budget/entries?limit=2", []
    while path:
        answer = told.ask("GET", path, by="holder")
        parts.append([(entry["job"], entry["action"]) for entry in answer.json()["entries"]])
        assert answer.json()["total"] == 3
        path = answer.links.get("next", {"url": ""})["url"].removeprefix("/api/v1")
    assert parts == [
        [("job-of-bob", "reserve"), ("job-of-ada", "charge")], [("job-of-ada", "reserve")],
    ]  # fmt: skip
    own = told.ask("GET", "/datasets/heights/budget/entries?user=ada&limit=1", by="ada")
    assert own.links["next"]["url"].endswith("/entries?user=ada&limit=1&before=2")
    assert get(told, "/datasets/heights/budget/entries?before=1", "holder")["entries"] == []


def test_the_account_of_a_user_is_theirs_alone(told: Gateway):
    body = {"amount": "2"}
    told.ask("PUT", "/datasets/heights/allocations/user/bob", by="holder", json=body)
    path = "/datasets/heights/budget/entries?account=user:bob"
    for person in ("bob", "holder"):
        assert get(told, path, person)["courses"][0]["cap"] == "2"
    problem(told.ask("GET", path, by="ada"), status=404, kind="NotFound")
    for wrong in ("account=secret", "account=user:", "user=%00", "extra=1", "before=0", "limit=10001"):
        problem(told.ask("GET", f"/datasets/heights/budget/entries?{wrong}", by="ada"), status=422)


def test_the_bounds_follow_what_was_spent(told: Gateway):
    found = get(told, "/datasets/heights/attacker", "ada")
    so_far = [b for b in found["bounds"] if b["what"] == "all releases so far" and b["people"] == 1]
    assert [(b["about"], b["epsilon"], b["odds_grow_by"], b["from_50_percent"]) for b in so_far] == [
        ("that they are in the data", "1", "2.72", "73.2 %"),
        ("what their data say", "1", "7.39", "88.1 %"),
    ]
    assert {sentence["about"] for sentence in found["sentences"]} >= {"Reviews", "When a release is out"}


def test_a_release_is_cited_by_those_who_may_read_it(told: Gateway):
    found = get(told, "/jobs/job-of-ada/citation", "ada")
    assert "release release-job-of-ada" in found["text"]
    assert found["bibtex"].startswith("@misc{heights-2026-")
    problem(told.ask("GET", "/jobs/job-of-ada/citation", by="bob"), status=404)
    problem(told.ask("GET", "/jobs/job-of-bob/citation", by="bob"), status=409)


@pytest.mark.parametrize(
    "path", ["/datasets/heights/dictionary", "/datasets/heights/attacker", "/datasets/heights/budget/entries"]
)
def test_nothing_is_said_about_a_data_set_that_is_not_ones_own(told: Gateway, path: str):
    absent = told.ask("GET", path.replace("heights", "absent"), by="rival")
    hidden = told.ask("GET", path, by="rival")
    assert hidden.status_code == absent.status_code == 404
    assert hidden.text.replace("heights", "absent") == absent.text


def test_events_are_for_those_whom_they_concern_and_reasons_for_the_rights_holder(told: Gateway):
    own = get(told, "/audit/events?action=job.decide", "holder")
    assert [event["details"]["reason"] for event in own] == ["the mean is 41"]
    (seen,) = get(told, "/audit/events?action=job.decide", "olga")
    assert "reason" not in seen["details"]
    assert get(told, "/audit/events", "rival") == []
    newest, *_ = everything = get(told, "/audit/events?limit=1000", "olga")
    assert [event["number"] for event in everything] == list(range(newest["number"], 0, -1))
    older = get(told, f"/audit/events?limit=1&before={newest['number']}", "olga")
    assert [event["number"] for event in older] == [newest["number"] - 1]
    for wrong in ("actor=%00", "since=yesterday", "limit=0", "limit=100000", "before=x", "nothing=1"):
        problem(told.ask("GET", f"/audit/events?{wrong}", by="olga"), status=422)


def test_a_data_set_cannot_have_the_name_of_a_page(told: Gateway):
    body = {
        "declaration": declaration_fields(name="new"),
        "delivery": "00000000-0000-4000-8000-000000000000",
    }
    before = told.rows()
    refused = problem(told.ask("POST", "/datasets", by="holder", json=body), status=422)
    assert refused["field"] == "declaration.name"
    assert told.rows() == before
