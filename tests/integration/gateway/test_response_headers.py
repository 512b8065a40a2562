"""What every answer says to browsers and caches, whoever asked for whatever."""

from __future__ import annotations

import pytest
from asking import Gateway

from gateway.headers import HEADERS

REQUESTS = [
    ("GET", "/health", None, 200),
    ("GET", "/openapi.json", None, 200),
    ("GET", "/me", "ada", 200),
    ("GET", "/jobs", "ada", 200),
    ("GET", "/me", None, 401),
    ("GET", "/users", "ada", 403),
    ("GET", "/nothing", "ada", 404),
    ("DELETE", "/me", "ada", 405),
    ("OPTIONS", "/jobs", None, 405),
    ("HEAD", "/health", None, 405),
    ("POST", "/users", "olga", 422),
]


def test_on_every_answer(shared_gateway: Gateway, subtests: pytest.Subtests):
    for method, path, person, status in REQUESTS:
        with subtests.test(f"{method} {path} by {person}"):
            answer = shared_gateway.ask(method, path, by=person)
            assert answer.status_code == status
            assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
            assert "server" not in answer.headers
            odd = ("access-control", "x-powered", "set-cookie")
            assert not [name for name in answer.headers if name.startswith(odd)]


def test_on_a_body_that_is_too_large(shared_gateway: Gateway):
    answer = shared_gateway.ask("POST", "/users", by="olga", content=bytes(5 << 20))
    assert answer.status_code == 413
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS


def test_another_origin_is_given_no_leave(shared_gateway: Gateway):
    asked = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "PUT"}
    answer = shared_gateway.ask("OPTIONS", "/jobs/job-00000000", headers=asked)
    assert answer.status_code == 405
    assert "access-control-allow-origin" not in answer.headers


def test_the_address_asked_for_is_never_sent_back(shared_gateway: Gateway):
    for path in ("/jobs/", "/nothing", "/me"):
        answer = shared_gateway.ask("GET", path, headers={"Host": "evil.example"})
        assert not answer.is_redirect
        assert "evil.example" not in answer.text + str(answer.headers)
