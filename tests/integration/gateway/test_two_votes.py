"""Reviews through the interface: two votes, hidden until both are in; comments; twins; reasons."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from asking import Gateway, problem
from factories import (
    given_dataset,
    given_image,
    given_job,
    given_user,
    job_request_fields,
    make_user,
    policy_fields,
)

from domain.permissions import Role
from domain.states import JobState
from store import datasets, policies, users

SECRET = "the mean is 41.5, as only a reviewer knows"
REVIEWERS, OTHERS = ("holder", "rival"), ("ada", "bob", "carol", "olga")
READING = ("", "/votes", "/request", "/comments", "/review", "/review/comments", "/release")


@pytest.fixture(scope="module")
def two(shared_gateway: Gateway) -> Gateway:
    """`holder` and `rival` review; `carol` is a rights holder of other data."""
    with shared_gateway.database.transaction() as connection:
        given_user(connection, "carol", Role.RIGHTS_HOLDER)
        shared_gateway.tokens["carol"] = users.renew_token(connection, name="carol")
        fields = policy_fields(
            approve_jobs=True, review_releases=True, reviewers=["rival"], votes=2, review_twin=True
        )
        given_dataset(connection, policy=fields)
        given_image(connection)
    return shared_gateway


def given(gateway: Gateway, job_id: str, state: JobState = JobState.SUBMITTED, epsilon: str = "0.01") -> str:
    with gateway.database.transaction() as connection:
        return given_job(connection, job_id=job_id, state=state, epsilon=epsilon).id


def vote(gateway: Gateway, job_id: str, by: str, decision: str, reason: str = SECRET) -> httpx.Response:
    step = "decision" if decision in ("approve", "reject") else "review"
    body = {"decision": decision, "reason": reason}
    return gateway.ask("POST", f"/jobs/{job_id}/{step}", by=by, json=body)


def seen(gateway: Gateway, job_id: str) -> dict[str, Any]:
    """Every answer about a job to everybody, without what makes two equal jobs differ."""
    answers = {}
    for person in (*REVIEWERS, *OTHERS):
        for rest in READING:
            answer = gateway.ask("GET", f"/jobs/{job_id}{rest}", by=person)
            answers[person, rest] = (answer.status_code, answer.text)
        for path in ("/reviews", "/reviews/decided", "/jobs"):
            answer = gateway.ask("GET", path, by=person)
            found = [one for one in answer.json() if job_id in str(one)] if answer.is_success else []
            answers[person, path] = (answer.status_code, str(found))
    return {key: (status, _without_own(text, job_id)) for key, (status, text) in answers.items()}


def _without_own(text: str, job_id: str) -> str:
    """Each release is signed as that of its job, at its time."""
    alike = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)", "then", text.replace(job_id, "JOB"))
    return re.sub(r'"(payload|sig)":"[^"]+"', r'"\1":"its own"', alike)


@pytest.mark.parametrize(
    ("state", "words"),
    [(JobState.SUBMITTED, ("approve", "reject")), (JobState.IN_REVIEW, ("release", "withhold"))],
)
def test_no_answer_to_anybody_tells_how_the_first_reviewer_voted(
    two: Gateway, state: JobState, words: tuple[str, str]
):
    pairs = [(f"job-hidden-{word}", word) for word in words]
    for job_id, word in pairs:
        given(two, job_id, state)
        assert vote(two, job_id, "rival", word).json()["state"] == state
    first, second = (seen(two, job_id) for job_id, _ in pairs)
    assert first == second
    assert SECRET not in str(first)
    tally = {person: first[person, "/votes"] for person in (*REVIEWERS, *OTHERS)}
    assert all('"votes_in":1,"votes_needed":2,"votes":[]' in tally[person][1] for person in REVIEWERS)
    assert {person: tally[person][0] for person in OTHERS} == {
        "ada": 403,
        "bob": 403,
        "carol": 404,
        "olga": 403,
    }


def test_after_the_last_vote_reviewers_read_all_reasons(two: Gateway):
    job_id = given(two, "job-decided-01")
    vote(two, job_id, "rival", "reject", "bounds too wide")
    assert vote(two, job_id, "holder", "approve", "").json()["state"] == "REJECTED"
    for person in REVIEWERS:
        approval, release = two.ask("GET", f"/jobs/{job_id}/votes", by=person).json()
        assert [(one["reviewer"], one["decision"], one["reason"]) for one in approval["votes"]] == [
            ("rival", "reject", "bounds too wide"), ("holder", "approve", ""),
        ]  # fmt: skip
        assert release["votes"] == []
        assert job_id in {one["subject"] for one in two.ask("GET", "/reviews/decided", by=person).json()}
        assert job_id not in {one["subject"] for one in two.ask("GET", "/reviews", by=person).json()}


def test_a_reason_for_withholding_reaches_nobody_but_reviewers(two: Gateway):
    job_id = given(two, "job-withheld-1", JobState.IN_REVIEW)
    for person in REVIEWERS:
        assert vote(two, job_id, person, "withhold").is_success
    assert two.ask("GET", f"/jobs/{job_id}", by="ada").json()["state"] == "WITHHELD"
    after = seen(two, job_id)
    for person in OTHERS:
        assert not any(SECRET in text for (who, _), (_, text) in after.items() if who == person)
    assert SECRET in after["holder", "/votes"][1]


def test_the_same_reviewer_twice_is_a_conflict(two: Gateway):
    job_id = given(two, "job-twice-001")
    vote(two, job_id, "rival", "approve")
    for decision in ("approve", "reject"):
        found = problem(vote(two, job_id, "rival", decision), status=409, kind="Conflict")
        assert found["problem"] == "you have voted on this; a vote cannot be changed."
    assert two.ask("GET", f"/jobs/{job_id}", by="ada").json()["state"] == "SUBMITTED"


def test_who_does_not_review_finds_nothing_to_decide(two: Gateway, subtests: pytest.Subtests):
    job_id = given(two, "job-strange-01")
    before = two.rows()
    for person in ("carol", "ada", "bob", "olga"):
        for decision in ("approve", "reject", "release", "withhold"):
            with subtests.test(f"{decision} by {person}"):
                absent = vote(two, "job-absent-00", person, decision)
                answer = vote(two, job_id, person, decision)
                assert answer.status_code == (404 if person == "carol" else 403)
                assert answer.content == absent.content
                assert two.rows() == before


@pytest.mark.parametrize("path", ["/datasets/heights/twin/review", "/datasets/absent/twin/review"])
def test_who_does_not_review_finds_no_twin(two: Gateway, path: str):
    body = {"version": 1, "decision": "refuse", "reason": "no"}
    assert two.ask("POST", path, by="carol", json=body).status_code == 404
    assert two.ask("GET", path, by="carol").status_code == 404
    assert two.ask("POST", path, by="ada", json=body).status_code == 403


def test_a_reviewer_changes_nothing_but_by_voting(two: Gateway):
    with two.database.transaction() as connection:
        shown = datasets.newest(connection, "heights", make_user("rival", Role.RIGHTS_HOLDER))
        policy = policies.in_effect(connection, "heights")
    assert policy is not None
    before = two.rows()
    assert two.ask("GET", "/datasets/heights", by="rival").json()["id"] == shown.id
    body = {"number": policy.number, "reason": "mine now", "policy": {"data_users": ["*"]}}
    for method, path, json in (
        ("PUT", "/datasets/heights/policy", body),
        ("PUT", "/datasets/heights/allocations/user/ada", {"amount": "1"}),
        ("PUT", "/datasets/heights/allocations/project/new", {"amount": "1", "members": ["ada"]}),
    ):
        assert problem(two.ask(method, path, by="rival", json=json), status=404, kind="NotFound")
    assert two.rows() == before


UNFIT: list[tuple[str, dict[str, str] | None, str]] = [
    ("", None, "decision"),
    ("", {}, "decision"),
    ("", {"decision": "maybe"}, "decision"),
    ("", {"decision": "release"}, "decision"),
    ("?decision=approve", {"decision": "reject", "reason": "no"}, "decision"),
    ("?decision=reject", None, "reason"),
    ("", {"decision": "reject"}, "reason"),
    ("", {"decision": "reject", "reason": " \n"}, "reason"),
    ("", {"decision": "reject", "reason": "x" * 1001}, "reason"),
    ("", {"decision": "approve", "reason": "\x00"}, "reason"),
    ("", {"decision": "approve", "why": "so"}, "why"),
]


def test_a_decision_that_cannot_be_taken_names_its_field(two: Gateway, subtests: pytest.Subtests):
    job_id = given(two, "job-fields-001")
    before = two.rows()
    for query, body, field in UNFIT:
        with subtests.test(f"{query} {str(body)[:80]!r}"):
            sent = {} if body is None else {"json": body}
            answer = two.ask("POST", f"/jobs/{job_id}/decision{query}", by="holder", **sent)
            assert problem(answer, status=422)["field"] == field
            assert two.rows() == before


def test_the_twin_waits_for_its_reviewers(two: Gateway):
    assert two.ask("GET", "/datasets/heights/twin", by="rival").is_success
    found = problem(two.ask("GET", "/datasets/heights/twin", by="ada"), status=409, kind="Conflict")
    assert "have not yet approved the twin of version 1" in found["problem"]
    # code that runs on the twin could print it
    rehearsal = {"dataset": "heights", "pipeline": job_request_fields()["pipeline"]}
    asked = two.ask("PUT", "/rehearsals/rehearsal-1", by="ada", json=rehearsal)
    assert problem(asked, status=409, kind="Conflict") == found
    review = two.ask("GET", "/datasets/heights/twin/review", by="ada").json()
    assert (review["state"], review["tally"]) == ("waiting", None)
    body = {"version": 1, "decision": "approve"}
    first = two.ask("POST", "/datasets/heights/twin/review", by="rival", json=body).json()
    assert (first["state"], first["tally"]["votes_in"], first["tally"]["votes"]) == ("waiting", 1, [])
    refused = two.ask(
        "POST", "/datasets/heights/twin/review", by="holder", json={**body, "decision": "refuse"}
    )
    assert problem(refused, status=422)["field"] == "reason"
    assert (
        two.ask("POST", "/datasets/heights/twin/review", by="holder", json=body).json()["state"] == "approved"
    )
    assert two.ask("GET", "/datasets/heights/twin", by="ada").headers["content-type"] == "application/zip"
    late = two.ask("POST", "/datasets/heights/twin/review", by="holder", json=body)
    assert problem(late, status=409)["field"] == "twin"


def test_comments_reach_those_whom_they_are_for(two: Gateway):
    waits = given(two, "job-talked-01")
    drawn = given(two, "job-talked-02", JobState.IN_REVIEW, "0.02")
    for person in ("ada", "rival"):
        text = {"text": f"from {person} <b>&"}
        assert two.ask("POST", f"/jobs/{waits}/comments", by=person, json=text).status_code == 201
    told = {"text": SECRET}
    assert two.ask("POST", f"/jobs/{drawn}/review/comments", by="rival", json=told).status_code == 201
    for person in (*REVIEWERS, "ada"):
        found = two.ask("GET", f"/jobs/{waits}/comments", by=person).json()
        assert [(one["author"], one["text"]) for one in found] == [
            ("ada", "from ada <b>&"), ("rival", "from rival <b>&"),
        ]  # fmt: skip
        problem(two.ask("POST", f"/jobs/{drawn}/comments", by=person, json=told), status=409)
    assert SECRET in two.ask("GET", f"/jobs/{drawn}/review/comments", by="holder").text
    for person in OTHERS:
        answers = [
            two.ask(method, f"/jobs/{drawn}/review/comments", by=person, **sent)
            for method, sent in (("GET", {}), ("POST", {"json": told}))
        ]
        assert {answer.status_code for answer in answers} <= {403, 404}
        assert not any(SECRET in answer.text for answer in answers)
        others = two.ask("GET", f"/jobs/{waits}/comments", by=person)
        assert others.status_code == {"ada": 200, "bob": 404, "carol": 404, "olga": 403}[person]
