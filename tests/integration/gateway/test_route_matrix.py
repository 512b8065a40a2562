"""Every route of the interface x every kind of asker, generated from the application.

A new route is in it at once. Pages have a matrix of their own: they know sessions, not tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from asking import PEOPLE, Gateway, problem
from factories import IMAGE, declaration_fields, given_job, job_request_fields, policy_fields
from fastapi.routing import APIRoute
from gateways import all_routes, document, permissions
from given_projects import project_fields
from made_scrambles import given_offer

from domain.permissions import DEEDS, GRANTS, Permission
from gateway.access import OPEN_ROUTES
from gateway.app import PREFIX

JOB = "job-matrix"
PLACES = {
    "job_id": JOB,
    "scramble_id": "scramble-matrix",
    "number": "1",
    "rehearsal_id": "rehearsal-matrix",
    "profile_id": "profile-matrix",
    "name": "heights",
    "digest": IMAGE,
    "kind": "user",
    "holder": "ada",
    "token_id": "0123",
    "notice_id": "msg_0123",
    "webhook_id": "0123456789abcdef",
    "project": "sleep",
    "dataset": "heights",
    "member": "ada",
    "worker": "worker-one",
    "rule_id": "0123456789abcdef",
}
DELIVERY = "00000000-0000-4000-8000-000000000000"
KEY = "A" * 42 + "E="
PAGE = '<!DOCTYPE html>\n<html lang="en"><body><p class="banner open">For all.</p></body></html>'
BODIES: dict[str, Any] = {
    "PUT /jobs/{job_id}": job_request_fields(),
    "PUT /rehearsals/{rehearsal_id}": {
        "dataset": "heights",
        "pipeline": job_request_fields()["pipeline"],
    },
    "POST /rehearsals/{rehearsal_id}/forecast": {"mechanism": {"name": "sample_aggregate", "epsilon": "1"}},
    "PUT /profiles/{profile_id}": {"name": "clinic", "delivery": DELIVERY, "key": KEY},
    "POST /datasets": {"declaration": declaration_fields(name="other"), "delivery": DELIVERY},
    "PUT /datasets/{name}/allocations/{kind}/{holder}": {"amount": "1"},
    "PUT /datasets/{name}/policy": {
        "number": 1,
        "reason": "so",
        "policy": policy_fields(max_epsilon_per_job="2"),
    },
    "POST /datasets/{name}/withdrawal": {},
    "POST /datasets/{name}/erasure": {"name": "heights"},
    "POST /datasets/{name}/policy/simulation": {"policy": policy_fields()},
    "POST /datasets/{name}/twin/review": {"version": 1, "decision": "approve"},
    "PUT /datasets/{name}/twin/report": {"page": PAGE},
    "POST /datasets/{name}/twin/plan": {"epsilon": "1"},
    "PUT /datasets/{name}/twin/counts/{job_id}": {"tables": [{"path": "participants.tsv"}]},
    "POST /datasets/{name}/twin/counts/{job_id}/decision": {"decision": "approve"},
    "PUT /datasets/{name}/twin/scrambles/{scramble_id}": given_offer().model_dump(mode="json"),
    "POST /datasets/{name}/twin/scrambles/{scramble_id}/signature": {"decision": "refuse", "reason": "so"},
    "PUT /datasets/{name}/twin/scrambles/{scramble_id}/parts/{number}": {"content": "UEsFBg=="},
    "POST /datasets/{name}/twin/scrambles/{scramble_id}/withdrawal": {},
    "POST /datasets/{name}/twin/scrambles/{scramble_id}/download": {"terms": "1" * 64},
    "POST /jobs/{job_id}/comments": {"text": "Why?"},
    "POST /jobs/{job_id}/review/comments": {"text": "Why?"},
    "POST /users": {"name": "newcomer", "role": "data_user"},
    "POST /tokens": {"label": "laptop"},
    "PUT /channels/email": {"address": "ada@example.org"},
    "POST /channels/email/confirmation": {"code": "0123"},
    "POST /channels/webhooks": {"url": "https://hooks.example.org/"},
    "PUT /channels/off": {"off": ["comment"]},
    "POST /operation/notices/retry": {},
    "POST /projects": project_fields(),
    "PUT /projects/{project}/lead": {"lead": "bob"},
    "PUT /projects/{project}/grants/{dataset}": {"why": "Its ages."},
    "POST /projects/{project}/grants/{dataset}/approval": {"amounts": {"epsilon": "1"}},
    "POST /projects/{project}/grants/{dataset}/refusal": {"reason": "Not now."},
    "POST /projects/{project}/grants/{dataset}/change": {"amounts": {"epsilon": "1"}},
    "POST /projects/{project}/grants/{dataset}/end": {"reason": "It is done."},
    "PUT /operation/workers/{worker}/drain": {"ends": False},
    "POST /operation/stuck": {"kind": "queued", "subject": JOB},
    "PUT /operation/projects/{project}/lead": {"lead": "bob"},
    "POST /entitlements/roles": {"entitlement": "urn:mace:example:group:matrix#example", "role": "data_user"},
    "POST /datasets/{name}/entitlements": {"entitlement": "urn:mace:example:group:matrix#example"},
    "POST /projects/{project}/entitlements": {"entitlement": "urn:mace:example:group:matrix#example"},
    "POST /operation/providers/decision": {"token": "a.b.c"},
    "PUT /operation/maintenance": {"reason": "a disk is exchanged"},
}
QUERIES = {
    "POST /jobs/{job_id}/decision": "?decision=approve",
    "POST /jobs/{job_id}/review": "?decision=release",
}
WRONG = [
    "",
    "Bearer dpgate.0123456789abcdef.wrong",
    "Bearer ",
    "Bearer .",
    "Bearer dpgate.\x7f.\xff",
    "Basic YWRhOmFkYQ==",
    "{token}",
    "Token {token}",
    "Bearer {token}x",
    "Bearer x{token}",
    "Bearer {id}",
    "Bearer {id}.",
]
METHODS = {"GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS"}


@dataclass(frozen=True)
class Route:
    method: str
    template: str
    permissions: tuple[Permission, ...]

    @property
    def name(self) -> str:
        return f"{self.method} {self.template}"

    @property
    def request(self) -> dict[str, Any]:
        path = re.sub(r"\{(\w+)\}", lambda found: PLACES[found[1]], self.template)
        body = {"json": BODIES[self.name]} if self.name in BODIES else {}
        return {"method": self.method, "path": path + QUERIES.get(self.name, ""), **body}


def _named(route: APIRoute) -> Iterator[Route]:
    asked = tuple(permissions(route.dependant))
    for method in sorted(route.methods - {"HEAD"}):
        yield Route(method, route.path.removeprefix(PREFIX), asked)


DOCUMENT = Route("GET", "/openapi.json", ())
ROUTES = [
    DOCUMENT,
    *(route for found in all_routes() if found.path.startswith(PREFIX) for route in _named(found)),
]
GUARDED = [route for route in ROUTES if PREFIX + route.template not in OPEN_ROUTES]


@pytest.fixture(scope="module", autouse=True)
def a_job(shared_gateway: Gateway) -> None:
    with shared_gateway.database.transaction() as connection:
        given_job(connection, job_id=JOB)


def test_the_tables_hold_every_route_of_the_document():
    """The document and the list of routes come to it in two ways: nothing was lost on either."""
    documented = {
        f"{method.upper()} {path.removeprefix(PREFIX)}"
        for path, operations in document()["paths"].items()
        for method in operations
    }
    assert {route.name for route in ROUTES} - {DOCUMENT.name} == documented
    assert len(ROUTES) == len(documented) + 1 >= 129
    assert len(GUARDED) >= 124
    assert BODIES.keys() | QUERIES.keys() <= documented


def test_every_route_states_one_permission_or_is_open_by_name(subtests: pytest.Subtests):
    for route in GUARDED:
        with subtests.test(route.name):
            assert len(route.permissions) == 1, "it needs requires(...) or a place in OPEN_ROUTES"


def test_open_routes_exist_and_ask_for_nothing():
    opened = {PREFIX + route.template: route for route in ROUTES if PREFIX + route.template in OPEN_ROUTES}
    assert set(opened) == OPEN_ROUTES
    assert not any(route.permissions for route in opened.values())


def test_every_permission_is_asked_for_somewhere():
    asked = {permission for route in GUARDED for permission in route.permissions}
    # of a page that programs read, outside the interface
    assert asked == set(Permission) - {Permission.METRICS_READ}


def test_a_role_is_let_in_exactly_as_the_table_of_grants_says(
    shared_gateway: Gateway, subtests: pytest.Subtests
):
    for route in GUARDED:
        (permission,) = route.permissions
        for person in ("ada", "holder", "olga"):
            with subtests.test(f"{route.name} by {person}"):
                answer = shared_gateway.ask(by=person, **route.request)
                if PEOPLE[person] in GRANTS[permission]:
                    # what the object itself forbids has words of its own and is tested elsewhere
                    assert answer.status_code not in (401, 422), answer.text
                    assert '"code":"role"' not in answer.text
                else:
                    refused = problem(answer, status=403, kind="NotAllowed")
                    assert refused["code"] == "role"
                    assert refused["problem"].endswith(f" can {DEEDS[permission]}.")


@pytest.mark.parametrize(
    "are_all",
    [False, pytest.param(True, marks=pytest.mark.deep("each in turn is said above, by one reader"))],
)
def test_nobody_gets_in_without_a_token(shared_gateway: Gateway, subtests: pytest.Subtests, are_all: bool):
    """Said to each route are nothing, a wrong token and one of the other ways in turn; or all ways."""
    token = shared_gateway.tokens["ada"]
    for number, route in enumerate(GUARDED):
        with subtests.test(route.name):
            others = WRONG[2:]
            for authorization in WRONG if are_all else [*WRONG[:2], others[number % len(others)]]:
                stated = authorization.format(token=token, id=token.rpartition(".")[0]).encode("latin-1")
                headers = {"Authorization": stated} if stated else {}
                answer = shared_gateway.ask(headers=headers, **route.request)
                problem(answer, status=401, kind="Unauthenticated")
                assert answer.headers["www-authenticate"] == "Bearer", authorization


@pytest.mark.parametrize("name", ["token", "access_token", "authorization", "api_key"])
def test_a_token_in_the_address_is_not_looked_at(shared_gateway: Gateway, name: str):
    answer = shared_gateway.ask("GET", "/me", params={name: shared_gateway.tokens["ada"]})
    problem(answer, status=401, kind="Unauthenticated")
    answer = shared_gateway.ask("GET", "/me", headers={"Cookie": f"{name}={shared_gateway.tokens['ada']}"})
    problem(answer, status=401, kind="Unauthenticated")


def test_other_methods_are_refused_and_the_right_ones_named(
    shared_gateway: Gateway, subtests: pytest.Subtests
):
    templates = sorted({route.template for route in ROUTES})
    assert len(templates) >= 101
    for template in templates:
        with subtests.test(template):
            routes = [route for route in ROUTES if route.template == template]
            declared = {route.method for route in routes}
            declared |= {"HEAD"} if template == DOCUMENT.template else set()
            for method in METHODS - declared:
                answer = shared_gateway.ask(method, routes[0].request["path"].split("?")[0], by="ada")
                assert answer.status_code == 405, method
                assert method == "HEAD" or problem(answer, status=405) == {}
                assert set(answer.headers["allow"].split(", ")) <= declared


def test_unknown_paths_are_not_found_and_never_redirected(shared_gateway: Gateway, subtests: pytest.Subtests):
    for path in ("", "/", "/nothing", "/jobs/", "/me/", "/docs", "/datasets/heights/data", "//me", "/ME"):
        with subtests.test(path):
            problem(shared_gateway.ask("GET", path, by="ada"), status=404)
