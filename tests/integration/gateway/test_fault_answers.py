"""What nobody foresaw: one plain answer, and a log line without the error's text."""

from __future__ import annotations

import logging

import pytest
import sqlalchemy as sa
from asking import PROBLEM, Gateway
from factories import given_dataset, given_image, job_request_fields

from gateway.headers import HEADERS

SECRET = "row 17: age 103"


@pytest.fixture
def broken(gateway: Gateway) -> Gateway:
    """A gateway with routes that fail in ways that no one foresaw."""

    class Unprintable(Exception):
        def __str__(self) -> str:
            raise RuntimeError(SECRET)

    async def fails() -> None:
        raise ZeroDivisionError(SECRET)

    def fails_in_a_thread() -> None:
        raise KeyError(SECRET)

    def fails_and_cannot_say_why() -> None:
        raise Unprintable

    for number, endpoint in enumerate((fails, fails_in_a_thread, fails_and_cannot_say_why)):
        gateway.app.add_api_route(f"/api/v1/broken/{number}", endpoint)
    return gateway


async def get(gateway: Gateway, path: str):
    return await gateway.http.get(f"/api/v1{path}")


@pytest.mark.parametrize(("number", "kind"), [(0, "ZeroDivisionError"), (1, "KeyError"), (2, "Unprintable")])
def test_the_answer_and_the_log_have_no_detail(
    broken: Gateway, caplog: pytest.LogCaptureFixture, number: int, kind: str
):
    with caplog.at_level(logging.DEBUG):
        answer = broken.portal.call(get, broken, f"/broken/{number}")
    assert (answer.status_code, answer.headers["content-type"]) == (500, PROBLEM)
    body = answer.json()
    assert (body["type"], body["problems"]) == ("about:blank", [])
    assert body["detail"].startswith("The platform failed on this request.")
    assert answer.headers.items() >= {name.lower(): value for name, value in HEADERS.items()}.items()
    assert SECRET not in answer.text + caplog.text
    (line,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
    assert line.startswith(f"unexpected {kind} at gateway/test_fault_answers.py:")


def test_a_failing_database_says_nothing_of_its_statements(
    gateway: Gateway, caplog: pytest.LogCaptureFixture
):
    with gateway.database.transaction() as connection:
        given_image(connection)
        given_dataset(connection)
    with gateway.database.engine.connect() as connection, connection.begin():
        connection.execute(sa.text("ALTER TABLE jobs RENAME TO jobs_gone"))
    with caplog.at_level(logging.DEBUG):
        answer = gateway.ask("PUT", "/jobs/job-no-table", by="ada", json=job_request_fields())
    assert answer.status_code == 500
    for told in ("jobs_gone", "SELECT", "INSERT", "mean_age"):
        assert told not in answer.text + caplog.text
