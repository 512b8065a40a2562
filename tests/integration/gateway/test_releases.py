"""A release is read when its job is RELEASED, by those who may; an identical question gets it for free."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from asking import Gateway, problem
from factories import given_dataset, given_job, job_request_fields, policy_fields

from domain.states import JobState
from store.tables import audit_events, ledger_entries

JOB = "job-released-1"


def test_there_is_nothing_to_read_before(shared_gateway: Gateway, subtests: pytest.Subtests):
    for number, state in enumerate(state for state in JobState if state is not JobState.RELEASED):
        with subtests.test(state):
            with shared_gateway.database.transaction() as connection:
                # each asks another question: an identical one would be answered by the release
                job = given_job(
                    connection, state=state, job_id=f"job-{state.lower()}", epsilon=f"0.{number + 11}"
                )
            release, review = f"/jobs/{job.id}/release", f"/jobs/{job.id}/review"
            for person in ("ada", "holder"):
                found = problem(shared_gateway.ask("GET", release, by=person), status=409, kind="Conflict")
                assert "41.5" not in str(found)
            problem(shared_gateway.ask("GET", release, by="olga"), status=403)
            problem(shared_gateway.ask("GET", review, by="ada"), status=403)
            shown = shared_gateway.ask("GET", review, by="holder")
            assert shown.status_code == (200 if state is JobState.IN_REVIEW else 409)


def test_the_release_is_read_by_author_and_rights_holder(gateway: Gateway):
    with gateway.database.transaction() as connection:
        given_job(connection, state=JobState.IN_REVIEW, job_id=JOB)
    assert gateway.ask("POST", f"/jobs/{JOB}/review?decision=release", by="holder").is_success
    for person in ("ada", "holder"):
        release = gateway.ask("GET", f"/jobs/{JOB}/release", by=person).json()
        assert release["values"][0]["value"] == 41.5
        assert release["files"] == {"result.tsv": "mean_age\n41.5\n"}
    problem(gateway.ask("GET", f"/jobs/{JOB}/release", by="olga"), status=403)
    problem(gateway.ask("GET", f"/jobs/{JOB}/release", by="bob"), status=404)


def test_a_withheld_release_is_never_read(gateway: Gateway):
    with gateway.database.transaction() as connection:
        given_job(connection, state=JobState.IN_REVIEW, job_id=JOB)
    withheld = {"decision": "withhold", "reason": "Too close to one person."}
    assert gateway.ask("POST", f"/jobs/{JOB}/review", by="holder", json=withheld).status_code == 200
    for person, what in (("ada", "release"), ("holder", "release"), ("holder", "review")):
        problem(gateway.ask("GET", f"/jobs/{JOB}/{what}", by=person), status=409, kind="Conflict")
    problem(gateway.ask("POST", f"/jobs/{JOB}/review?decision=release", by="holder"), status=409)


@pytest.mark.parametrize("person", ["ada", "bob"])
def test_an_identical_question_is_answered_at_no_cost(gateway: Gateway, person: str):
    with gateway.database.transaction() as connection:
        given_dataset(connection, policy=policy_fields(data_users=["ada", "bob"]))
        given_job(connection, state=JobState.RELEASED, job_id=JOB)
    entries = gateway.rows()["ledger_entries"]
    answer = gateway.ask("PUT", "/jobs/job-again-1", by=person, json=job_request_fields())
    assert answer.status_code == 201
    assert answer.json()["state"] == "RELEASED"
    assert answer.json()["charged_at"] is None
    own = answer.json()["id"]
    assert gateway.rows()["ledger_entries"] == entries
    first = gateway.ask("GET", f"/jobs/{JOB}/release", by="ada")
    assert gateway.ask("GET", "/jobs/job-again-1/release", by=person).json() == first.json()
    with gateway.database.reading() as connection:
        query = sa.select(audit_events).where(audit_events.c.subject == own)
        (event,) = connection.execute(query)
        assert not connection.execute(sa.select(ledger_entries).where(ledger_entries.c.job_id == own)).first()
    assert (event.actor, event.action) == (person, "job.submit")
    assert event.details == {"state": "RELEASED", "answered_by": JOB}


def test_another_question_is_not_answered_by_it(gateway: Gateway):
    with gateway.database.transaction() as connection:
        given_job(connection, state=JobState.RELEASED, job_id=JOB)
    answer = gateway.ask("PUT", "/jobs/job-other-1", by="ada", json=job_request_fields(epsilon="0.500001"))
    assert (answer.json()["state"], answer.json()["answered_by"]) == ("QUEUED", None)
