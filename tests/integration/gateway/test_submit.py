"""Submitting a job: idempotent, atomic, and only its id goes to the workers."""

from __future__ import annotations

import base64
import json
import re
import socket
from pathlib import Path
from typing import Any

import anyio
import pytest
import redis
from asking import Gateway, problem, running_gateway
from factories import (
    declaration_fields,
    given_dataset,
    given_image,
    given_job,
    job_request_fields,
    policy_fields,
)

from domain.job import WORKERS_MISSING, own_id
from domain.states import JobState
from privacy.cost import Currency
from store import jobs, ledger, workers
from store.clock import database_time
from store.workers import Presence

JOB = "job-submit-1"
OWN = own_id("ada", JOB)
AT_ONCE = 12


@pytest.fixture
def heights(gateway: Gateway) -> Gateway:
    with gateway.database.transaction() as connection:
        given_image(connection)
        given_dataset(connection, policy=policy_fields(data_users=["ada", "bob"]))
    return gateway


def submit(gateway: Gateway, *, by: str = "ada", job_id: str = JOB, **fields: Any):
    return gateway.ask("PUT", f"/jobs/{job_id}", by=by, json=job_request_fields(**fields))


def announce(gateway: Gateway, name: str, profile: str) -> None:
    with gateway.database.transaction() as connection:
        told = Presence(name, f"start of {name}", "1", "3.11", profile, "supervised", 1, {})
        workers.announce(connection, told, now=database_time(connection), skew_s=0)


def listed(gateway: Gateway) -> dict[str, Any]:
    (job,) = gateway.ask("GET", "/jobs", by="ada").json()
    return job


def messages(url: str) -> list[dict[str, Any]]:
    with redis.Redis(unix_socket_path=url.removeprefix("redis+socket://")) as client:
        return [json.loads(raw) for raw in reversed(client.lrange("dpgate", 0, -1))]


def reserved(gateway: Gateway) -> int:
    with gateway.database.reading() as connection:
        account = ledger.find_account(
            connection, cohort="heights", kind="cohort", holder="heights", currency=Currency.EPSILON
        )
        assert account is not None
        return account.reserved


def test_new_is_201_the_same_is_200_another_is_409(heights: Gateway):
    first = submit(heights)
    assert (first.status_code, first.json()["state"]) == (201, "QUEUED")
    assert first.json()["reason"] == listed(heights)["reason"] == WORKERS_MISSING
    announce(heights, "one", "standard")
    first = heights.ask("GET", f"/jobs/{OWN}", by="ada")
    assert first.json()["reason"] is listed(heights)["reason"] is None
    before = heights.rows()
    assert (submit(heights).status_code, submit(heights).json()) == (200, first.json())
    # another spelling of the same amount is the same request
    assert submit(heights, epsilon=0.5).status_code == 200
    for changed in ({"epsilon": "0.6"}, {"block_size": 6}, {"project": "p"}):
        found = problem(submit(heights, **changed), status=409, kind="Conflict")
        assert found["field"] == "job_id"
    assert heights.rows() == before
    assert reserved(heights) == 500_000


def test_ids_are_an_authors_own_and_tell_nothing_of_anothers(heights: Gateway):
    """Whether the id that bob chooses is ada's, too: he sees the same."""
    hers = submit(heights).json()
    told = [submit(heights, by="bob", job_id=chosen) for chosen in (JOB, "job-nobodys-1")]
    assert [answer.status_code for answer in told] == [201, 201]
    ids = [answer.json()["id"] for answer in told]
    assert len({hers["id"], *ids}) == 3
    plain = [re.sub(r'"(\w+_at|id)":"[^"]*"', "", answer.text) for answer in told]
    assert plain[0] == plain[1]
    for by, found in (("ada", hers["id"]), ("bob", ids[0])):
        assert heights.ask("GET", f"/jobs/{JOB}", by=by).json()["id"] == found
        assert heights.ask("GET", f"/jobs/{found}", by=by).json()["id"] == found
    problem(heights.ask("GET", f"/jobs/{hers['id']}", by="bob"), status=404, kind="NotFound")


def test_a_guess_at_anothers_choice_reads_nothing(heights: Gateway, monkeypatch: pytest.MonkeyPatch):
    """An id can be computed from its author and a guess. Reading a job takes time, which would confirm it."""
    submit(heights)
    read, job_of = [], jobs._job
    monkeypatch.setattr(jobs, "_job", lambda row: read.append(row.id) or job_of(row))
    for by in ("bob", "rival"):
        problem(heights.ask("GET", f"/jobs/{OWN}", by=by), status=404, kind="NotFound")
    assert read == []
    for by in ("ada", "holder", "olga"):
        assert heights.ask("GET", f"/jobs/{OWN}", by=by).status_code == 200
    assert OWN in read


def test_ids_of_everybody_would_tell(heights: Gateway, monkeypatch: pytest.MonkeyPatch):
    """So that the test above can fail: one name space, as it was before."""
    monkeypatch.setattr(jobs, "own_id", lambda _author, chosen: chosen)
    submit(heights)
    problem(submit(heights, by="bob"), status=409, kind="Conflict")
    assert submit(heights, by="bob", job_id="job-nobodys-1").status_code == 201


def test_a_job_of_a_version_before_keeps_its_id(heights: Gateway):
    with heights.database.transaction() as connection:
        given_job(connection, job_id=JOB, author="ada")
    assert heights.ask("GET", f"/jobs/{JOB}", by="ada").json()["id"] == JOB
    problem(submit(heights, epsilon="0.7"), status=409, kind="Conflict")
    assert submit(heights, by="bob").status_code == 201
    assert heights.ask("GET", f"/jobs/{JOB}", by="ada").json()["id"] == JOB


def test_a_repeat_is_answered_from_the_record_whatever_happened_since(heights: Gateway):
    first = submit(heights).json()
    with heights.database.transaction() as connection:
        given_dataset(connection, policy=policy_fields(data_users=["bob"]), nominal_size=600)
    again = submit(heights)
    assert (again.status_code, again.json()) == (200, first)


def test_what_each_worker_would_leave_to_others_is_refused_before_it_is_on_record(heights: Gateway):
    assert submit(heights).status_code == 201
    announce(heights, "first", "dev")
    before = heights.rows()
    found = problem(submit(heights, job_id="job-submit-2"), status=409, kind="Conflict")
    assert found["field"] == "dataset"
    assert found["fix"].endswith("dpgate up without --isolation dev.")
    assert heights.rows() == before
    assert submit(heights).status_code == 200, "what is on record is answered from it"
    announce(heights, "second", "standard")
    assert submit(heights, job_id="job-submit-2").status_code == 201


def test_identical_requests_at_once_make_one_job_and_one_reservation(heights: Gateway, redis_url: str):
    answers = []

    async def one() -> None:
        answers.append(await heights.ask_later("PUT", f"/jobs/{JOB}", by="ada", json=job_request_fields()))

    async def all_at_once() -> None:
        async with anyio.create_task_group() as group:
            for _ in range(AT_ONCE):
                group.start_soon(one)

    heights.portal.call(all_at_once)
    assert sorted(answer.status_code for answer in answers) == [200] * (AT_ONCE - 1) + [201]
    assert heights.rows()["jobs"] == heights.rows()["ledger_entries"] == 1
    assert reserved(heights) == 500_000
    assert len(messages(redis_url)) == 1


def test_the_budget_holds_against_many_at_once(heights: Gateway):
    async def one(number: int, statuses: list[int]) -> None:
        body = job_request_fields(epsilon="1", block_size=6 + number % 4)
        answer = await heights.ask_later("PUT", f"/jobs/job-race-{number:03d}", by="ada", json=body)
        statuses.append(answer.status_code)

    async def all_at_once() -> list[int]:
        statuses: list[int] = []
        async with anyio.create_task_group() as group:
            for number in range(AT_ONCE + 2):
                group.start_soon(one, number, statuses)
        return statuses

    statuses = heights.portal.call(all_at_once)
    assert sorted(statuses) == [201] * 10 + [409] * (AT_ONCE + 2 - 10)
    assert reserved(heights) == 10_000_000


def test_the_message_carries_the_job_id_only(heights: Gateway, redis_url: str):
    submit(heights)
    (message,) = messages(redis_url)
    arguments, named, _ = json.loads(base64.b64decode(message["body"]))
    assert (arguments, named) == ([OWN], {})
    assert message["headers"]["task"] == "dpgate.run_job"
    # in base64, or in a random id of the queue's, three letters can stand by chance
    decoded = json.dumps({**message, "body": base64.b64decode(message["body"]).decode()})
    readable = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "", decoded)
    words = set(re.findall(r"[A-Za-z_.-]+|[0-9.]+", readable))
    assert "dpgate.run_job" in words
    assert not words & {"heights", "ada", "mean_age", "mean-age", "0.5"}


def test_a_job_that_waits_for_approval_sends_no_message(gateway: Gateway, redis_url: str):
    with gateway.database.transaction() as connection:
        given_image(connection)
        given_dataset(connection, policy=policy_fields(approve_jobs=True))
    assert submit(gateway).json()["state"] == "SUBMITTED"
    assert messages(redis_url) == []
    assert gateway.ask("POST", f"/jobs/{OWN}/decision?decision=approve", by="holder").is_success
    assert [json.loads(base64.b64decode(found["body"]))[0] for found in messages(redis_url)] == [[OWN]]


def test_a_registration_sends_the_id_of_its_row(gateway: Gateway, redis_url: str):
    body = {"declaration": declaration_fields(), "delivery": "00000000-0000-4000-8000-000000000000"}
    registered = gateway.ask("POST", "/datasets", by="holder", json=body)
    assert (registered.status_code, registered.json()["state"]) == (201, "IMPORTING")
    (message,) = messages(redis_url)
    assert json.loads(base64.b64decode(message["body"]))[0] == [registered.json()["id"]]
    assert "heights" not in json.dumps(message)


@pytest.mark.parametrize("broken", ["absent", "silent"])
def test_without_redis_a_job_is_still_taken_and_soon(
    database_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, broken: str
):
    path = tmp_path / "r"
    with (
        socket.socket(socket.AF_UNIX) as listener,
        running_gateway(database_url, f"redis+socket://{path}") as g,
    ):
        if broken == "silent":  # accepts, and never says a word
            listener.bind(str(path))
            listener.listen()
        with g.database.transaction() as connection:
            given_image(connection)
            given_dataset(connection)
        answer = submit(g)
        assert (answer.status_code, answer.json()["state"]) == (201, "QUEUED")
        # it gave up by itself: left alone, the queue would try for ever
        assert f"dpgate.run_job({OWN}) could not be sent now; the sweep will" in caplog.messages
        with g.database.reading() as connection:
            assert jobs.get(connection, OWN).state is JobState.QUEUED


def test_a_withdrawn_data_set_takes_nothing_new_and_stays_to_be_seen(heights: Gateway):
    submit(heights)
    for other in ("ada", "rival", "olga"):
        assert heights.ask("POST", "/datasets/heights/withdrawal", by=other, json={}).status_code in (
            403,
            404,
        )
    found = heights.ask("POST", "/datasets/heights/withdrawal", by="holder", json={})
    assert found.json() == {
        "dataset": "heights",
        "state": "WITHDRAWN",
        "cancelled": 1,
        "open": {"uncharged": 0, "running": 0, "in_review": 0, "ending": 0},
    }
    assert reserved(heights) == 0
    refused = problem(submit(heights, job_id="job-submit-2"), status=409, kind="Conflict")
    assert refused["problem"] == "heights was withdrawn by its rights holder: it takes nothing new."
    assert submit(heights).json()["state"] == "CANCELLED", "a repeat is answered from the record"
    assert heights.ask("GET", "/datasets/heights", by="ada").json()["state"] == "WITHDRAWN"
