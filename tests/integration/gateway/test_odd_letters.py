"""Letters that a database, an encoding or a header may not take, in every place of every route.

PostgreSQL takes no NUL, UTF-8 no half of a surrogate pair. Whatever comes is refused in words or kept;
nothing of it is a fault, now or when somebody reads it later.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from asking import PEOPLE, Gateway, running_gateway
from factories import given_dataset, given_image, given_job
from given_projects import given_project
from services import PostgreSQL
from test_route_matrix import BODIES, GUARDED, JOB, PLACES, QUERIES, Route

from domain.permissions import GRANTS

IN_ADDRESSES = ("a%00b", "%ed%a0%80", "a%0d%0aSet-Cookie:%20b=c", "%2e%2e")
IN_BODIES = ("a\x00b", "a\ud800b", "\u202e\ufffe\U0010ffff\x1b[31m")
LISTS = sorted({route.template for route in GUARDED if route.method == "GET" and "{" not in route.template})


@pytest.fixture(scope="module")
def shared_gateway(postgresql: PostgreSQL, redis_socket: str) -> Iterator[Gateway]:
    """On the database that takes less; what is sent reaches the place where it would be kept."""
    with running_gateway(postgresql.fresh(), redis_socket) as running:
        with running.database.transaction() as connection:
            given_image(connection)
            given_dataset(connection)
            given_job(connection, job_id=JOB)
            given_project(connection, "sleep")
        yield running


def person_for(route: Route) -> str:
    return next(name for name, role in PEOPLE.items() if role in GRANTS[route.permissions[0]])


def test_in_an_address(shared_gateway: Gateway, subtests: pytest.Subtests):
    naming = [route for route in GUARDED if "{" in route.template]
    assert len(naming) >= 86
    for route in naming:
        body = {"json": BODIES[route.name]} if route.name in BODIES else {}
        with subtests.test(route.name):
            for part in re.findall(r"\{(\w+)\}", route.template):
                for odd in IN_ADDRESSES:
                    places = PLACES | {part: odd}
                    path = re.sub(r"\{(\w+)\}", lambda found, at=places: at[found[1]], route.template)
                    answer = shared_gateway.ask(
                        route.method, path + QUERIES.get(route.name, ""), by=person_for(route), **body
                    )
                    assert 400 <= answer.status_code < 500, (path, answer.text)
                    assert "set-cookie" not in answer.headers


def test_in_every_text_of_a_body(shared_gateway: Gateway, subtests: pytest.Subtests):
    taking = [route for route in GUARDED if route.name in BODIES]
    assert len(taking) == len(BODIES)
    for route in taking:
        with subtests.test(route.name):
            for body in _spoiled(BODIES[route.name]):
                sent = json.dumps(body).encode()  # half of a pair travels as its escape
                request = route.request | {"content": sent, "headers": {"Content-Type": "application/json"}}
                request.pop("json")
                answer = shared_gateway.ask(by=person_for(route), **request)
                assert answer.status_code < 500, (sent, answer.text)


def test_in_what_is_asked_of_a_list_and_afterwards_all_lists_are_readable(shared_gateway: Gateway):
    for template in LISTS:
        for person in PEOPLE:
            for query in ("", "?state=%00&dataset=%00&actor=%00&subject=%00&since=%00&limit=%00&after=%00"):
                answer = shared_gateway.ask("GET", template + query, by=person)
                assert answer.status_code < 500, (template + query, person, answer.text)


def _spoiled(body: Any) -> Iterator[Any]:
    """The body once for each text in it and each odd text in that place."""
    for path in _texts(body):
        for odd in IN_BODIES:
            changed = copy.deepcopy(body)
            inner = changed
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = odd
            yield changed


def _texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, str) and path:
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, (*path, key))
    elif isinstance(value, list | tuple):
        for at, inner in enumerate(value[:2]):
            yield from _texts(inner, (*path, at))
