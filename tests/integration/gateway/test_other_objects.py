"""Every route of the interface that names an object, asked by those whom it does not concern.

Generated from the application: whoever adds a route that forgets to look at the object fails here. What is
another's answers to the byte as what does not exist, and nothing changes.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asking import PEOPLE, Gateway, problem
from factories import NOW, given_dataset, given_image, given_job, job_request_fields, policy_fields
from given_projects import given_grant, given_project
from test_route_matrix import BODIES, GUARDED, QUERIES, Route

from domain.dataset import Dataset
from domain.entitlement import Right
from domain.model import parse
from domain.notice import NoticeKind
from domain.permissions import GRANTS, Permission, User
from domain.profile_request import ProfileRequest
from domain.rehearsal import RehearsalRequest
from domain.states import JobState
from store import channels, entitlements, notices, profiles, rehearsals, tokens
from store.tokens import Caller

P = Permission
# what these routes name belongs to the platform, and its operators are the same for all of it
OF_THE_PLATFORM = {
    P.USER_ADD, P.USER_READ, P.USER_DISABLE, P.IMAGE_READ, P.IMAGE_APPROVE, P.OPERATION_READ,
    P.OPERATION_CHANGE, P.AUDIT_VERIFY,
}  # fmt: skip
# operators see every job, and may cancel it
FOR_OPERATORS = {P.JOB_READ, P.JOB_CANCEL}
# the part of an address that names what is another's; the others stay as they are
OWNED = ("job_id", "rehearsal_id", "profile_id", "token_id", "notice_id", "webhook_id", "project", "name")
ABSENT = {
    "job_id": "job-absent-00",
    "rehearsal_id": "rehearsal-absent",
    "profile_id": "profile-absent",
    "token_id": "0123456789abcdef",
    "notice_id": "msg_00000000000000000000000000000000",
    "webhook_id": "0123456789abcdef",
    "project": "absent",
    "name": "absent",
}
# an id that a rights holder chooses can be another's: that it is, and nothing else, is told
CHOSEN = {"PUT /profiles/{profile_id}"}
NAMING = [
    route
    for route in GUARDED
    if route.permissions[0] not in OF_THE_PLATFORM
    and route.name not in CHOSEN
    and any(f"{{{part}}}" in route.template for part in OWNED)
]


@pytest.fixture(scope="module")
def adas(shared_gateway: Gateway) -> dict[str, str]:
    """One of each kind, of ada's or of the rights holder's; neither bob nor rival has to do with them."""
    now = datetime.now(UTC)
    ada = User(name="ada", role=PEOPLE["ada"])
    with shared_gateway.database.transaction() as connection:
        given_image(connection)
        dataset = given_dataset(connection, policy=policy_fields(data_users=["ada"], approve_jobs=True))
        given_project(connection, "sleep", members=("ada",))
        given_grant(connection, "sleep", "heights")
        given_job(connection, job_id="job-of-ada", now=now)
        given_job(connection, job_id="job-in-review", state=JobState.IN_REVIEW, epsilon="0.2", now=now)
        _given_rehearsal(connection, dataset)
        _given_profile(connection)
        token, _ = tokens.create(
            connection, Caller(ada), label="hers", scopes=Caller(ada).scopes, lasts=timedelta(days=1), now=now
        )
        hook, _ = channels.add_webhook(connection, "ada", "https://hooks.example.org/ada", now)
        notices.tell(connection, kind=NoticeKind.JOB_DECIDED, subject="job-of-ada", to=["ada"], now=now,
                     dataset="heights", state="QUEUED")  # fmt: skip
        (notice, *_) = notices.of_user(connection, "ada")
        reviewing = entitlements.make(
            connection, "urn:x:group:board#y", gives=Right.REVIEWER, about="heights", by="holder", now=now
        )
        sleeping = entitlements.make(
            connection, "urn:x:group:sleep#y", gives=Right.MEMBER, about="sleep", by="ada", now=now
        )
    return {
        "rule of name": reviewing.id,
        "rule of project": sleeping.id,
        "job_id": "job-of-ada",
        "scramble_id": "scramble-of-holder",
        "number": "1",
        "rehearsal_id": "rehearsal-of-ada",
        "profile_id": "profile-of-holder",
        "token_id": token.id,
        "notice_id": notice.notice.id,
        "webhook_id": hook.id,
        "project": "sleep",
        "name": "heights",
        "dataset": "heights",
        "kind": "user",
        "holder": "bob",
        "member": "bob",
    }


def _given_rehearsal(connection: Any, dataset: Dataset) -> None:
    asked = {"dataset": "heights", "pipeline": job_request_fields()["pipeline"]}
    rehearsals.request(
        connection,
        rehearsal_id="rehearsal-of-ada",
        author="ada",
        dataset=dataset,
        request=parse(RehearsalRequest, asked),
        image_digest="sha256:" + "1a" * 32,
        now=NOW,
    )


def _given_profile(connection: Any) -> None:
    asked = BODIES["PUT /profiles/{profile_id}"]
    profiles.request(
        connection,
        profile_id="profile-of-holder",
        owner="holder",
        request=parse(ProfileRequest, asked),
        now=NOW,
    )


def _path(route: Route, places: dict[str, str]) -> str:
    path = re.sub(r"\{(\w+)\}", lambda found: places[found[1]], route.template)
    return path + QUERIES.get(route.name, "")


def _is_anothers(part: str, route: Route) -> bool:
    """The id of a new order of counts is of one's own choice, too; the data set is what is another's."""
    return (part, route.name) != ("job_id", "PUT /datasets/{name}/twin/counts/{job_id}")


def _outsiders(route: Route) -> list[str]:
    may = GRANTS[route.permissions[0]]
    found = [person for person in ("bob", "rival", "olga") if PEOPLE[person] in may]
    return [person for person in found if person != "olga" or route.permissions[0] not in FOR_OPERATORS]


def test_these_are_most_routes_that_name_something():
    assert len(NAMING) >= 71
    assert {part for part in OWNED if any(f"{{{part}}}" in one.template for one in NAMING)} == set(OWNED)
    assert all(_outsiders(route) or route.permissions[0] is P.PROJECT_LEAD for route in NAMING)


def test_what_is_anothers_looks_absent(
    shared_gateway: Gateway, adas: dict[str, str], subtests: pytest.Subtests
):
    before = shared_gateway.rows()
    for route in NAMING:
        (part, *_) = [part for part in OWNED if f"{{{part}}}" in route.template and _is_anothers(part, route)]
        places = adas | {"rule_id": adas.get(f"rule of {part}", "")}
        if part == "name":
            places = places | {"job_id": "counts-of-their-own"}
        with subtests.test(route.name):
            _looks_absent(shared_gateway, route, places, part)
            assert shared_gateway.rows() == before


def _looks_absent(gateway: Gateway, route: Route, places: dict[str, str], part: str) -> None:
    body = {"json": BODIES[route.name]} if route.name in BODIES else {}
    for person in _outsiders(route):
        theirs = gateway.ask(route.method, _path(route, places), by=person, **body)
        absent = _path(route, places | {part: ABSENT[part]})
        nobodys = gateway.ask(route.method, absent, by=person, **body)
        assert theirs.status_code == nobodys.status_code == 404, (person, theirs.text, nobodys.text)
        assert theirs.text.replace(places[part], ABSENT[part]) == nobodys.text


@pytest.mark.parametrize("name", sorted(CHOSEN))
def test_an_id_that_is_taken_says_nothing_of_what_it_stands_for(
    shared_gateway: Gateway, adas: dict[str, str], name: str
):
    (route,) = [route for route in GUARDED if route.name == name]
    before = shared_gateway.rows()
    answer = shared_gateway.ask("PUT", _path(route, adas), by="rival", json=BODIES[name])
    refused = problem(answer, status=409, kind="Conflict")
    assert refused["problem"].startswith("this id stands for another")
    assert not [word for word in ("ada", "heights", "QUEUED", "SUBMITTED") if word in answer.text]
    assert shared_gateway.rows() == before


def test_those_whom_it_concerns_find_all_of_it(shared_gateway: Gateway, adas: dict[str, str]):
    """Or else the test above would succeed with objects that do not exist."""
    for person, path in (
        ("ada", "/jobs/{job_id}"),
        ("ada", "/rehearsals/{rehearsal_id}"),
        ("ada", "/projects/{project}"),
        ("ada", "/datasets/{name}"),
        ("holder", "/projects/{project}/grants/{dataset}"),
        ("holder", "/jobs/{job_id}/request"),
        ("holder", "/profiles/{profile_id}"),
    ):
        assert shared_gateway.ask("GET", path.format(**adas), by=person).is_success
    for path, key in (("/tokens", "token_id"), ("/notices", "notice_id")):
        listed = shared_gateway.ask("GET", path, by="ada").json()
        assert adas[key] in {one["id"] for one in listed}
    hooks = shared_gateway.ask("GET", "/channels", by="ada").json()["webhooks"]
    assert [hook["id"] for hook in hooks] == [adas["webhook_id"]]
