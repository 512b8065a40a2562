"""The device flow of the command line, against a real provider on loopback."""

from __future__ import annotations

import pytest
from asking import running_gateway
from issuer import AUDIENCE, CLI, ROLES, Issuer

from domain.scopes import Scope
from dpgate.device_login import Confirmation, access_token
from dpgate.errors import DpgateError, NotLoggedIn, PlatformUnreachable

PENDING = (400, {"error": "authorization_pending"})


def ways(server: Issuer, **changed: object) -> dict[str, object]:
    return {"oidc": {"issuer": server.url, "client_id": CLI, "scope": "openid profile"} | changed}


def polled(issuer: Issuer, *answers: tuple[int, object]) -> tuple[str, list[float], list[Confirmation]]:
    issuer.polls = list(answers)
    waited: list[float] = []
    told: list[Confirmation] = []
    return access_token(ways(issuer), tell=told.append, wait=waited.append), waited, told


def test_a_confirmed_code_becomes_a_token_of_the_platform(issuer: Issuer, sqlite_url: str):
    settings = {
        "oidc_issuer": issuer.url,
        "oidc_audience": AUDIENCE,
        "oidc_cli_client_id": CLI,
        "oidc_roles": ROLES,
    }
    with running_gateway(sqlite_url, "redis+socket:///none", **settings) as gateway:
        shown = gateway.ask("GET", "/login").json()
        assert shown == ways(issuer) | {"password": False, "others": {}, "scopes": sorted(Scope)}
        found, waited, told = polled(issuer, PENDING, (200, {"access_token": issuer.token()}))
        assert waited == [5, 5]
        assert told == [Confirmation(f"{issuer.url}/device", "WDJB-MJHT")]
        bearer = {"Authorization": f"Bearer {found}"}
        made = gateway.ask("POST", "/tokens", headers=bearer, json={"label": "command-line"}).json()
        kept = {"Authorization": f"Bearer {made['token']}"}
        assert gateway.ask("GET", "/me", headers=kept).json()["name"] == "ada-lovelace"


def test_slower_when_asked(issuer: Issuer):
    slow = (400, {"error": "slow_down"})
    assert polled(issuer, slow, PENDING, (200, {"access_token": "x"}))[1] == [5, 10, 10]


@pytest.mark.parametrize(
    ("answers", "word"),
    [
        ([PENDING] * 20, "not confirmed in time"),
        ([(400, {"error": "access_denied"})], "declined"),
        ([(400, {"error": "expired_token"})], "not confirmed in time"),
    ],
)
def test_a_code_that_is_not_confirmed(issuer: Issuer, answers, word: str):
    with pytest.raises(NotLoggedIn, match=word):
        polled(issuer, *answers)


def test_a_provider_that_answers_otherwise(issuer: Issuer):
    with pytest.raises(PlatformUnreachable, match="does not answer as it should"):
        polled(issuer, (500, {}))


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ((401, {"error": "invalid_client"}), "invalid_client"),
        ((400, {"error": "invalid_grant"}), "invalid_grant"),
        ((400, {"error": "\x1b[2Jgone"}), "an unknown problem"),
        ((400, {}), "an unknown problem"),
        ((400, {"error": ["slow_down"]}), "an unknown problem"),
        ((200, {"access_token": ""}), "an unknown problem"),
    ],
)
def test_a_refusal_that_waiting_does_not_help_is_told_apart(issuer: Issuer, answer, named: str):
    with pytest.raises(DpgateError, match=named) as refused:
        polled(issuer, answer)
    assert not isinstance(refused.value, NotLoggedIn)


def test_a_connection_that_fails_is_tried_again_less_often(issuer: Issuer):
    issuer.started = {"expires_in": 300}
    try:
        gone = (0, None)
        found, waited, _ = polled(issuer, gone, gone, PENDING, (200, {"access_token": "x"}))
    finally:
        issuer.started = {}
    assert (found, waited) == ("x", [5, 10, 20, 20])


@pytest.mark.parametrize(
    ("started", "first"),
    [({"interval": -1}, 5), ({"interval": "soon"}, 5), ({"interval": 0.001}, 1), ({"expires_in": "late"}, 5)],
)
def test_times_that_make_no_sense_are_replaced(issuer: Issuer, started, first: float):
    issuer.started = started
    try:
        assert polled(issuer, (200, {"access_token": "x"}))[1] == [first]
    finally:
        issuer.started = {}


@pytest.mark.parametrize(
    "started",
    [
        {"user_code": "\x1b[2J"},
        {"user_code": ""},
        {"verification_uri": "javascript:alert(1)"},
        {"verification_uri": "https://idp.example/\x1b]0;"},
    ],
)
def test_what_a_terminal_must_not_show_is_not_told(issuer: Issuer, started):
    issuer.started, before = started, issuer.asked["/token"]
    try:
        with pytest.raises(PlatformUnreachable):
            polled(issuer)
    finally:
        issuer.started = {}
    assert issuer.asked["/token"] == before


@pytest.mark.parametrize(
    "changed",
    [
        {"issuer": "http://idp.example"},
        {"issuer": "http://127.0.0.1.idp.example"},
        {"issuer": "http://localhost@idp.example"},
        {"issuer": "ftp://x"},
        {"client_id": None},
        {"issuer": None},
    ],
)
def test_nothing_is_sent_in_the_clear_or_without_a_client(issuer: Issuer, changed):
    before = issuer.asked.total()
    with pytest.raises(DpgateError, match=r"is not https|no login from a terminal"):
        access_token(ways(issuer, **changed), tell=lambda _: None, wait=lambda _: None)
    assert issuer.asked.total() == before
