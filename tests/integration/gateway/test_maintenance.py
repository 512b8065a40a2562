"""Maintenance over the interface: what changes something waits, whatever route it takes; the rest goes on."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from asking import Gateway, problem, running_gateway
from factories import given_job, job_request_fields
from test_route_matrix import GUARDED, Route

from domain.maintenance import GOES_ON, waits
from domain.permissions import GRANTS
from store import audit, maintenance
from store.tables import audit_events

REASON = "the disks are exchanged"
SUBMIT = "/jobs/job-while-closed"
PERSON = {
    role: name for name, role in (("ada", "data_user"), ("holder", "rights_holder"), ("olga", "operator"))
}
# what is refused, route by route: a new route of this kind is noticed here
CHANGING = [route for route in GUARDED if waits(route.permissions[0], route.method)]


@pytest.fixture(scope="module")
def shared(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """One gateway for what changes nothing; what is kept of maintenance is tried on both databases below."""
    path = shutil.copy(sqlite_template, tmp_path_factory.mktemp("maintenance") / "dpgate.db")
    with running_gateway(f"sqlite:///{path}", "redis+socket:///none") as running:
        yield running


@pytest.fixture
def closed(shared: Gateway) -> Iterator[Gateway]:
    begin(shared)
    yield shared
    with shared.database.transaction() as connection:
        if maintenance.current(connection) is not None:
            maintenance.end(connection, by="olga", now=datetime.now(UTC))


def begin(gateway: Gateway, **fields: object) -> None:
    answer = gateway.ask("PUT", "/operation/maintenance", by="olga", json={"reason": REASON, **fields})
    assert answer.status_code == 200, answer.text


def ask(gateway: Gateway, route: Route) -> httpx.Response:
    """By somebody who may, about anything, with nothing in it: whether it waits is decided before."""
    role = sorted(GRANTS[route.permissions[0]])[0]
    return gateway.ask(route.method, re.sub(r"\{\w+\}", "anything", route.template), by=PERSON[role])


def test_every_route_that_changes_something_waits_and_says_so(closed: Gateway, subtests: pytest.Subtests):
    assert len(CHANGING) >= 48
    before = closed.rows()
    for route in CHANGING:
        with subtests.test(route.name):
            answer = ask(closed, route)
            refused = problem(answer, status=503, kind="UnderMaintenance")
            assert refused["problem"] == f"nothing new is taken now: {REASON}."
            assert answer.headers["retry-after"] == "300"
            assert closed.rows() == before


def test_reading_and_what_people_need_to_get_in_goes_on(closed: Gateway):
    reading = [route for route in GUARDED if route.method == "GET"]
    assert len(reading) > 10
    for route in reading:
        assert ask(closed, route).status_code != 503, route.name
    assert closed.ask("POST", "/tokens", by="ada", json={"label": "laptop"}).status_code == 201
    assert closed.ask("GET", "/health").status_code == 200
    changing = {route.permissions[0] for route in GUARDED if route.method != "GET"}
    # a permission that changes something waits unless the list of those that go on has it
    assert {route.permissions[0] for route in CHANGING} == changing - GOES_ON


def test_a_role_learns_that_it_may_not_before_it_learns_of_maintenance(closed: Gateway):
    problem(closed.ask("PUT", SUBMIT, by="olga", json=job_request_fields()), status=403, kind="NotAllowed")


def test_it_is_announced_changed_and_ended(gateway: Gateway):
    until = datetime.now(UTC) + timedelta(hours=2)
    begin(gateway, until=until.isoformat())
    seen = gateway.ask("GET", "/operation/maintenance", by="ada").json()
    assert (seen["on"], seen["reason"]) == (True, REASON)
    answer = gateway.ask("PUT", SUBMIT, by="ada", json=job_request_fields())
    assert 7100 < int(answer.headers["retry-after"]) <= 7200
    assert f"{until:%B %Y, %H:%M} UTC" in problem(answer, status=503)["fix"]
    begin(gateway, reason="and the switches too")
    again = gateway.ask("GET", "/operation/maintenance", by="ada").json()
    assert (again["reason"], again["until"], again["since"]) == ("and the switches too", None, seen["since"])
    assert gateway.ask("DELETE", "/operation/maintenance", by="olga").json()["on"] is False
    problem(gateway.ask("DELETE", "/operation/maintenance", by="olga"), status=409, kind="Conflict")
    assert gateway.ask("PUT", SUBMIT, by="ada", json=job_request_fields()).status_code != 503
    with gateway.database.reading() as connection:
        events = [row.action for row in connection.execute(audit_events.select()) if "maint" in row.action]
        assert audit.verify(connection).intact
    assert events == ["maintenance.begin", "maintenance.begin", "maintenance.end"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"reason": ""}, "reason"),
        ({"reason": "x" * 301}, "reason"),
        ({"until": "tomorrow"}, "until"),
        ({"until": "2026-01-01T00:00:00"}, "until"),
        ({"until": "2020-01-01T00:00:00Z"}, "until"),
        ({"because": "of me"}, "because"),
    ],
)
def test_a_wrong_announcement_changes_nothing(shared: Gateway, fields: dict[str, str], field: str):
    answer = shared.ask("PUT", "/operation/maintenance", by="olga", json={"reason": REASON, **fields})
    assert problem(answer, status=422)["field"] == field
    assert shared.ask("GET", "/operation/maintenance", by="ada").json()["on"] is False


def test_a_running_job_can_be_withdrawn_while_it_lasts(gateway: Gateway):
    with gateway.database.transaction() as connection:
        given_job(connection, job_id="job-to-withdraw")
    begin(gateway)
    assert gateway.ask("POST", "/jobs/job-to-withdraw/cancel", by="ada").status_code == 200
