"""What can go wrong with a login at a provider: each fault has its own sentence, line in the log and count,
and lets nobody in."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
import sqlalchemy as sa
from asking import Gateway, problem, running_gateway
from form_browser import Browser
from issuer import AUDIENCE, CLIENT, STEWARD, Issuer, ec, rsa, running_issuer
from with_provider import gateway_with_provider, settings

from gateway.oidc.faults import SENTENCES, Fault, refused
from gateway.oidc.keys import REST_S
from gateway.oidc.wire import AT_ONCE
from store.tables import audit_events

NOW = int(time.time())
old = partial(rsa, "of-last-year")
DOCUMENT = "/.well-known/openid-configuration"


gateway = gateway_with_provider()


@dataclass(frozen=True)
class Wrong:
    """One fault of a login in a browser. `instead`, `document` are the provider's, `came` the browser's."""

    fault: Fault
    instead: dict[str, tuple[int, Any]] = field(default_factory=dict)
    document: dict[str, Any] = field(default_factory=dict)
    claims: dict[str, Any] = field(default_factory=dict)
    came: dict[str, str] = field(default_factory=dict)
    without: str = ""
    keys: Callable[[], list[Any]] = lambda: [rsa(), ec()]


FAULTS = {
    "a wrong client secret": Wrong(Fault.CLIENT_SECRET, {"/token": (401, {"error": "invalid_client"})}),
    "a code that was used": Wrong(Fault.CODE_USED, {"/token": (400, {"error": "invalid_grant"})}),
    "a client without it": Wrong(Fault.REFUSED, {"/token": (400, {"error": "unauthorized_client"})}),
    "an error of its own": Wrong(Fault.REFUSED, {"/token": (400, {"error": "<b>call Mallory</b>"})}),
    "the provider is down": Wrong(Fault.DOWN, {"/token": (0, None)}),
    "the provider is overloaded": Wrong(Fault.DOWN, {"/token": (503, b"<html>busy</html>")}),
    "a page instead of an answer": Wrong(Fault.BAD_ANSWER, {"/token": (200, b"<html>hello</html>")}),
    "an endpoint that moved": Wrong(Fault.BAD_ANSWER, {"/token": (302, {})}),
    "no tokens": Wrong(Fault.NO_TOKENS, {"/token": (200, {"token_type": "Bearer"})}),
    "a stale key": Wrong(Fault.UNKNOWN_KEY, keys=lambda: [old()]),
    "a clock ahead": Wrong(Fault.NOT_YET, claims={"iat": NOW + 86_400}),
    "a clock behind": Wrong(Fault.EXPIRED, claims={"iat": NOW - 900, "exp": NOW - 600}),
    "a time before the calendar": Wrong(Fault.UNREADABLE_TIME, claims={"iat": -1}),
    "another login's token": Wrong(Fault.OTHER_LOGIN, claims={"nonce": "x"}),
    "a missing claim": Wrong(Fault.MISSING_CLAIM, claims={"eduperson_entitlement": None, "sub": "new"}),
    "it was declined": Wrong(Fault.DECLINED, came={"error": "access_denied"}),
    "the provider's trouble": Wrong(Fault.DOWN, came={"error": "temporarily_unavailable"}),
    "scopes that it refuses": Wrong(Fault.REFUSED, came={"error": "invalid_scope"}),
    "another provider's answer": Wrong(Fault.OTHER_ISSUER, came={"iss": "https://elsewhere.example"}),
    "no name where one is promised": Wrong(
        Fault.NO_ISSUER, document={"authorization_response_iss_parameter_supported": True}, without="iss"
    ),
    "a login of somebody else's browser": Wrong(Fault.NOT_BEGUN, came={"state": "x"}),
}


def test_each_fault_has_its_sentence_its_count_and_its_event(
    gateway: Gateway, issuer: Issuer, caplog: pytest.LogCaptureFixture, subtests: pytest.Subtests
):
    caplog.set_level(logging.INFO, logger="gateway.oidc")
    provider = gateway.app.state.providers.main
    for what, wrong in FAULTS.items():
        with subtests.test(what):
            browser = Browser(gateway, base_url="http://127.0.0.1")
            issuer.document, issuer.id_claims, issuer.keys = wrong.document, wrong.claims, wrong.keys()
            issuer.instead = {"/userinfo": (403, {})}
            provider.published._document, provider.published._keys_at = {}, None
            leaving = browser.get("/login/oidc", params={"next": "/account"})
            came = issuer.approve(leaving.headers["location"]) | wrong.came
            issuer.instead |= wrong.instead
            caplog.clear()
            came.pop(wrong.without, None)
            answer = browser.get("/login/oidc/back", params=came)
            assert answer.status_code in (401, 403)
            problem_text, fix = SENTENCES[wrong.fault]
            assert problem_text[1:] in answer.text.replace("&#39;", "'")
            assert fix.split("`")[0] in answer.text.replace("&#39;", "'")
            assert "Mallory" not in answer.text + caplog.text
            assert f"not let in by browser: {wrong.fault}" in caplog.text
            assert browser.get("/account").status_code == 303
            browser.close()
    assert len({one.fault for one in FAULTS.values()}) >= 12
    assert gateway.rows()["sessions"] == 0
    counted = gateway.app.state.providers.refusals.counts()
    assert sum(counted.values()) == len(FAULTS)
    with gateway.database.reading() as connection:
        events = connection.execute(audit_events.select()).all()
    assert {one.details["why"] for one in events} == set(counted) == {one.fault for one in FAULTS.values()}
    # those that come about elsewhere have their own line, count and event too
    caplog.clear()
    for fault in set(Fault) - set(counted):
        gateway.app.state.providers.refusals.note(gateway.database, refused(fault), way="token")
        assert caplog.messages.count(f"not let in by token: {fault}") == 1
    counted = gateway.app.state.providers.refusals.counts()
    assert set(counted) == set(Fault)
    with gateway.database.reading() as connection:
        whys = connection.execute(sa.select(audit_events.c.details["why"])).scalars()
        assert set(whys) == set(Fault)
    shown = gateway.portal.call(
        lambda: gateway.http.get("/metrics", headers={"Authorization": f"Bearer {gateway.tokens['olga']}"})
    ).text
    for reason, count in counted.items():
        assert f'dpgate_logins_not_let_in_total{{reason="{reason}"}} {count}\n' in shown


@pytest.mark.parametrize(
    ("instead", "document", "fault"),
    [
        ({DOCUMENT: (0, None)}, {}, Fault.DOWN),
        ({DOCUMENT: (404, {})}, {}, Fault.BAD_ANSWER),
        ({}, {"issuer": "http://127.0.0.1/"}, Fault.OTHER_NAME),
        ({}, {"authorization_endpoint": None}, Fault.NO_ENDPOINT),
        ({}, {"authorization_endpoint": "http://idp.example/"}, Fault.NO_ENDPOINT),
    ],
)
def test_what_keeps_a_login_from_beginning(
    gateway: Gateway, issuer: Issuer, instead: Any, document: Any, fault: Fault
):
    issuer.instead, issuer.document = instead, document
    browser = Browser(gateway, base_url="http://127.0.0.1")
    answer = browser.get("/login/oidc")
    assert answer.status_code == 401
    assert SENTENCES[fault][0][1:] in answer.text
    assert gateway.app.state.providers.refusals.counts() == {fault: 1}
    browser.close()


def test_nobody_waits_for_a_provider_that_did_not_answer(gateway: Gateway, issuer: Issuer):
    """Sixty anonymous requests for a login, at a provider that hangs, kept every page from everybody."""
    provider = gateway.app.state.providers.main
    now = 5_000.0  # of a clock that counts from anywhere
    provider.published._clock = lambda: now
    issuer.instead = {DOCUMENT: (0, None)}
    browser, before = Browser(gateway, base_url="http://127.0.0.1"), issuer.asked[DOCUMENT]
    assert [browser.get("/login/oidc").status_code for _ in range(5)] == [401] * 5
    assert issuer.asked[DOCUMENT] == before + 1
    issuer.instead = {}
    provider.published._clock = lambda: now + REST_S
    # nor for more questions at once than there are places, be it that the document is known
    places = provider.wire._places
    for _ in range(AT_ONCE):
        assert places.acquire(blocking=False)
    assert browser.get("/login/oidc").status_code == 401
    assert issuer.asked[DOCUMENT] == before + 1
    places.release(AT_ONCE)
    provider.published._clock = lambda: now + 2 * REST_S
    assert browser.get("/login/oidc").status_code == 303
    assert issuer.asked[DOCUMENT] == before + 2
    browser.close()


def test_two_logins_in_two_tabs_do_not_end_each_other(gateway: Gateway, issuer: Issuer):
    browser = Browser(gateway, base_url="http://127.0.0.1")
    begun = [browser.get("/login/oidc", params={"next": f"/account?tab={tab}"}) for tab in range(20)]
    came = [issuer.approve(one.headers["location"]) for one in begun]
    # a browser does not gather cookies without end: of twenty the last eight are left
    assert sum(name.startswith("dpgate_attempt") for name in browser.http.cookies) == 8
    for tab in (19, 12, 15):
        answer = browser.get("/login/oidc/back", params=came[tab])
        assert (answer.status_code, answer.headers["location"]) == (303, f"/account?tab={tab}")
    assert browser.get("/login/oidc/back", params=came[0]).status_code == 401
    assert browser.get("/account").status_code == 200
    browser.close()


def test_a_name_is_required_where_it_is_promised_and_only_there(gateway: Gateway, issuer: Issuer):
    browser = Browser(gateway, base_url="http://127.0.0.1")
    came = issuer.approve(browser.get("/login/oidc").headers["location"])
    del came["iss"]
    assert browser.get("/login/oidc/back", params=came).status_code == 303
    browser.close()


def test_a_person_who_is_called_like_a_service_is_somebody_else(gateway: Gateway, issuer: Issuer):
    """Control: without the kind in the key of an identity both would be one user, with one name."""
    service = issuer.token(sub="nightly", client_id="nightly", eduperson_entitlement=None)
    person = issuer.token(sub="nightly", preferred_username="nightly", eduperson_entitlement=[STEWARD])
    found = [me(gateway, token) for token in (service, person, service)]
    assert [(one["name"], one["role"]) for one in found] == [
        ("nightly", "data_user"), ("nightly-2", "rights_holder"), ("nightly", "data_user"),
    ]  # fmt: skip


def me(gateway: Gateway, token: str) -> dict[str, str]:
    return gateway.ask("GET", "/me", headers={"Authorization": f"Bearer {token}"}).json()


def test_with_two_providers_each_token_goes_to_its_own(sqlite_url: str, issuer: Issuer, tmp_path: Path):
    issuer.instead, issuer.document, issuer.id_claims, issuer.keys = {}, {}, {}, [rsa(), ec()]
    with running_issuer() as second:
        second.keys = [old()]
        more = {
            "name": "second",
            "issuer": second.url,
            "audience": AUDIENCE,
            "client_id": CLIENT,
            "client_secret_file": tmp_path / "client-secret",
            "claim": "realm_access.roles",
            "roles": {"stewards": "rights_holder"},
        }
        given = settings(issuer, tmp_path) | {"oidc_more": [more]}
        with running_gateway(sqlite_url, "redis+socket:///none", **given) as gateway:
            roles = {"realm_access": {"roles": ["stewards"]}, "eduperson_entitlement": None}
            theirs = second.token(key=old(), **roles)
            # the same subject at another provider is somebody else
            assert me(gateway, issuer.token()) == {"name": "ada-lovelace", "role": "data_user"}
            assert me(gateway, theirs) == {"name": "ada-lovelace-2", "role": "rights_holder"}
            bearer = {"Authorization": f"Bearer {second.token(key=old(), iss=issuer.url, **roles)}"}
            problem(gateway.ask("GET", "/me", headers=bearer), status=401)
            asked = second.asked.total() + issuer.asked.total()
            refused = gateway.ask("GET", "/me", headers={"Authorization": "Bearer opaque"})
            assert problem(refused, status=401)["problem"] == SENTENCES[Fault.UNREADABLE][0]
            assert second.asked.total() + issuer.asked.total() == asked
            browser = Browser(gateway, base_url="http://127.0.0.1")
            assert browser.get("/login").text.count("Log in with your organisation") == 2
            second.id_claims = roles | {"preferred_username": "Grace", "sub": "s-9"}
            second_rsa = rsa()
            second.keys = [second_rsa]
            gateway.app.state.providers.for_browser("second").published._keys_at = None
            leaving = browser.get("/login/oidc", params={"provider": "second"})
            came = second.approve(leaving.headers["location"])
            mixed_up = browser.get("/login/oidc/back/second", params=came | {"iss": issuer.url})
            assert mixed_up.status_code == 401
            leaving = browser.get("/login/oidc", params={"provider": "second"})
            answer = browser.get(
                "/login/oidc/back/second", params=second.approve(leaving.headers["location"])
            )
            assert answer.status_code == 303
            assert "You are grace, rights holder." in browser.get("/account").text
            assert browser.get("/login/oidc", params={"provider": "third"}).status_code == 404
            assert browser.get("/login/oidc/back/third").status_code == 401
            browser.close()
            _send_on_to_another(gateway, honest=issuer, hostile=second)


def _send_on_to_another(gateway: Gateway, *, honest: Issuer, hostile: Issuer) -> None:
    """A hostile provider sends somebody who logs in at it on to another one, with the nonce and the challenge
    of a login that its helper has begun there. The code would come back to it (RFC 9700, 4.4)."""
    helper, victim = (Browser(gateway, base_url="http://127.0.0.1") for _ in range(2))
    begun, sent = (
        dict(
            parse_qsl(
                urlsplit(browser.get("/login/oidc", params={"provider": name}).headers["location"]).query
            )
        )
        for browser, name in ((helper, "main"), (victim, "second"))
    )
    asked = hostile.asked["/token"]
    # the honest one knows one address of ours, and does not name itself in its answers
    came = honest.approve(f"{honest.url}/authorization?{urlencode(begun | {'state': sent['state']})}")
    del came["iss"]
    answer = victim.get(urlsplit(begun["redirect_uri"]).path, params=came)
    assert answer.status_code == 401
    assert SENTENCES[Fault.OTHER_ISSUER][0][1:] in answer.text
    assert hostile.asked["/token"] == asked
    # the control: with that code the helper would be the victim
    taken = helper.get("/login/oidc/back", params=came | {"state": begun["state"]})
    assert (taken.status_code, helper.get("/account").status_code) == (303, 200)
    for browser in (helper, victim):
        browser.close()
