"""What an operator can find out of a provider before people do, and what would be decided on a token."""

from __future__ import annotations

import html
import time
from typing import Any

import pytest
from asking import Gateway
from form_browser import Browser
from issuer import MEMBER, STEWARD, Issuer, rsa
from test_login_faults import old
from with_provider import gateway_with_provider

from domain.permissions import Role, User
from gateway import readiness
from gateway.oidc.faults import SENTENCES, Fault
from store.clock import database_time
from store.sessions import open_session


@pytest.fixture(autouse=True)
def _each_look_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "KEPT_S", -1.0)


gateway = gateway_with_provider()


def looked(gateway: Gateway) -> dict[str, tuple[bool | None, str]]:
    (one,) = gateway.ask("GET", "/operation/providers", by="olga").json()
    return {found["what"]: (found["well"], found["says"]) for found in one["found"]}


def decided(gateway: Gateway, token: str) -> dict[str, tuple[bool | None, str]]:
    answer = gateway.ask("POST", "/operation/providers/decision", by="olga", json={"token": token})
    assert answer.status_code == 200
    return {found["what"]: (found["well"], found["says"]) for found in answer.json()}


def logins(gateway: Gateway) -> str:
    return str(gateway.ask("GET", "/health/ready").json()["logins"])


def test_a_provider_that_is_well(gateway: Gateway, issuer: Issuer):
    assert logins(gateway) == "unknown"
    issuer.document = {
        "authorization_response_iss_parameter_supported": True,
        "backchannel_logout_supported": True,
        "end_session_endpoint": f"{issuer.url}/logout",
    }
    issuer.instead["/token"] = (400, {"error": "invalid_grant"})
    found = looked(gateway)
    assert all(well for well, _ in found.values())
    assert found["keys"][1] == "2 that can sign with RS256 or ES256."
    assert logins(gateway) == "ok"


@pytest.mark.parametrize(
    ("instead", "document", "keys", "what", "says"),
    [
        ({"/token": (401, {"error": "invalid_client"})}, {}, 1, "client", SENTENCES[Fault.CLIENT_SECRET][0]),
        ({"/token": (200, {"access_token": "x"})}, {}, 1, "client", "took a made-up code"),
        ({}, {"issuer": "http://127.0.0.1/"}, 1, "discovery", SENTENCES[Fault.OTHER_NAME][0]),
        ({"/.well-known/openid-configuration": (0, None)}, {}, 1, "discovery", SENTENCES[Fault.DOWN][0]),
        ({}, {}, 0, "keys", "0 that can sign"),
    ],
)
def test_what_is_wrong_is_said(
    gateway: Gateway, issuer: Issuer, instead: Any, document: Any, keys: int, what: str, says: str
):
    issuer.instead, issuer.document, issuer.keys = instead, document, [rsa()][:keys]
    well, found = looked(gateway)[what]
    assert well is False
    assert says in found


def test_a_clock_that_is_off(gateway: Gateway):
    gateway.app.state.providers.main.clock = lambda: time.time() - 3600
    assert looked(gateway)["clock"][0] is False


def test_a_provider_that_is_away_is_a_word_and_keeps_the_platform_ready(gateway: Gateway, issuer: Issuer):
    issuer.instead = {"/.well-known/openid-configuration": (503, {})}
    looked(gateway)
    assert logins(gateway) == "provider_down"
    issuer.instead = {}
    looked(gateway)
    assert logins(gateway) == "ok"


def test_the_console_says_the_same_and_keeps_no_token(
    gateway: Gateway, issuer: Issuer, caplog: pytest.LogCaptureFixture
):
    with gateway.database.transaction() as connection:
        olga = User(name="olga", role=Role.OPERATOR)
        session = open_session(connection, olga, database_time(connection))
    browser = Browser(gateway, base_url="http://127.0.0.1")
    browser.http.cookies.set("dpgate_session", session)
    caplog.set_level("DEBUG")
    before = gateway.rows()
    for token in (issuer.token(), issuer.token(exp=int(time.time()) - 60)):
        answer = browser.send("/operation/providers", "/operation/providers", access_token=token)
        shown = html.unescape(answer.text)
        assert answer.status_code == 200
        assert all(says in shown for _, says in decided(gateway, token).values())
        assert token not in shown
    # nor is it shown again where the form is refused
    foreign = browser.post("/operation/providers", {"access_token": token, "csrf": "x"})
    long = browser.send("/operation/providers", "/operation/providers", access_token=token + 16384 * "x")
    assert (foreign.status_code, long.status_code) == (403, 422)
    gateway.ask("PUT", "/operation/maintenance", by="olga", json={"reason": "disks are exchanged"})
    other = browser.send("/operation/providers", "/operation/providers", access_token=token)
    assert other.status_code == 503
    before |= {"maintenance": 1, "audit_events": before["audit_events"] + 1}
    for trace in (foreign.text, long.text, other.text, caplog.text):
        assert token not in trace
    assert gateway.rows() == before
    browser.close()


def test_what_would_be_decided_on_a_token_and_why(gateway: Gateway, issuer: Issuer):
    before = gateway.rows()
    found = decided(gateway, issuer.token(eduperson_entitlement=[MEMBER, STEWARD]))
    assert found["who"] == (True, "a person, 'subject-1', called 'Ada.Lovelace'.")
    assert found["entitled"] == (True, f"the claim is there: {MEMBER}, {STEWARD}.")
    assert found["here"] == (True, "role rights holder, a new user.")
    none = decided(gateway, issuer.token(eduperson_entitlement=[]))
    assert none["here"] == (False, "nothing gives a role: they would be turned away.")
    missing = decided(gateway, issuer.token(eduperson_entitlement=None, scope="x"))
    assert "claim is missing" in missing.get("entitled", missing.get("refused"))[1] or "refused" in missing
    service = decided(gateway, issuer.token(sub="nightly", client_id="nightly", eduperson_entitlement=None))
    assert service["here"] == (True, "role data user, a new user.")
    elsewhere = decided(gateway, issuer.token(key=old(), iss="https://elsewhere.example"))
    assert SENTENCES[Fault.UNKNOWN_KEY][0] in elsewhere["refused"][1]
    assert f"it is of 'https://elsewhere.example'; known here: {issuer.url}" in elsewhere["refused"][1]
    lasting = {"iat": int(time.time()) - 7200, "exp": int(time.time()) + 7200}
    past = decided(gateway, issuer.token(eduperson_entitlement=[STEWARD], **lasting))
    assert past["refused"][1].startswith("the token was made too long ago")
    late = decided(gateway, issuer.token(exp=int(time.time()) - 60))
    assert SENTENCES[Fault.EXPIRED][0] in late["refused"][1]
    # nothing was written, not even a count
    assert gateway.rows() == before
    assert gateway.app.state.providers.refusals.counts() == {}
