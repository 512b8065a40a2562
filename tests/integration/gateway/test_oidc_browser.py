"""A browser goes to the identity provider and comes back; whoever else comes back is not let in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from asking import Gateway, running_gateway
from form_browser import Browser
from issuer import CLIENT, STEWARD, Issuer, ec, rsa
from joserfc.jwk import RSAKey
from with_provider import NO_REDIS, settings

BACK = "http://127.0.0.1/login/oidc/back"


@pytest.fixture(scope="module")
def gateway(
    tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path, issuer: Issuer
) -> Iterator[Gateway]:
    folder = tmp_path_factory.mktemp("oidc")
    (folder / "dpgate.db").write_bytes(sqlite_template.read_bytes())
    url = f"sqlite:///{folder / 'dpgate.db'}"
    with running_gateway(url, NO_REDIS, **settings(issuer, folder)) as running:
        yield running


@pytest.fixture
def browser(gateway: Gateway, issuer: Issuer) -> Iterator[Browser]:
    issuer.id_claims, issuer.keys = {}, [rsa(), ec()]
    opened = Browser(gateway, base_url="http://127.0.0.1")
    yield opened
    opened.close()


def leave(browser: Browser, target: str = "/account") -> str:
    answer = browser.get("/login/oidc", params={"next": target})
    assert answer.status_code == 303, answer.text
    return answer.headers["location"]


def come_back(browser: Browser, parameters: dict[str, str]) -> httpx.Response:
    return browser.get("/login/oidc/back", params=parameters)


def is_in(browser: Browser) -> bool:
    return browser.get("/account").status_code == 200


def test_there_and_back(browser: Browser, issuer: Issuer):
    assert "Log in with your organisation" in browser.get("/login").text
    address = leave(browser)
    asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    assert asked["redirect_uri"] == BACK
    assert "openid" in asked["scope"].split()
    answer = come_back(browser, issuer.approve(address))
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert "You are ada-lovelace, researcher." in browser.get("/account").text
    assert not any(name.startswith("dpgate_attempt") for name in browser.http.cookies)


def test_every_attempt_has_values_of_its_own(browser: Browser):
    first, second = (parse_qs(urlsplit(leave(browser)).query) for _ in range(2))
    for name in ("state", "nonce", "code_challenge"):
        assert first[name] != second[name]
        assert len(first[name][0]) >= 43


def test_a_code_that_mallory_sends_us_to(browser: Browser, gateway: Gateway, issuer: Issuer):
    mallory = Browser(gateway, base_url="http://127.0.0.1")
    stolen = issuer.approve(leave(mallory))
    assert come_back(browser, stolen).status_code == 401
    leave(browser)
    assert come_back(browser, stolen).status_code == 401
    assert not is_in(browser)
    # control: in the browser that began it, the same answer is a login
    assert come_back(mallory, stolen).status_code == 303
    mallory.close()


@pytest.mark.parametrize(
    "change",
    [
        {"state": "x"},
        {"state": ""},
        {"iss": "https://elsewhere.example"},
        {"code": ""},
        {"code": "made-up"},
        {"error": "access_denied", "error_description": "<b>call Mallory</b>"},
    ],
    ids=lambda claims: next(iter(claims)),
)
def test_an_answer_that_was_changed_on_its_way(browser: Browser, issuer: Issuer, change: dict[str, str]):
    answer = come_back(browser, issuer.approve(leave(browser)) | change)
    assert answer.status_code == 401
    assert "Mallory" not in answer.text
    assert not is_in(browser)


def test_a_code_works_once(browser: Browser, gateway: Gateway, issuer: Issuer):
    address = leave(browser)
    answer = issuer.approve(address)
    ((name, kept),) = [one for one in browser.http.cookies.items() if one[0].startswith("dpgate_attempt")]
    assert come_back(browser, answer).status_code == 303
    again = Browser(gateway, base_url="http://127.0.0.1")
    again.http.cookies.set(name, kept)
    assert come_back(again, answer).status_code == 401
    assert not is_in(again)
    again.close()


NOW = int(time.time())


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "of another login"},
        {"nonce": None},
        {"aud": "another-client"},
        {"aud": [CLIENT, "another-client"]},
        {"azp": "another-client"},
        {"iss": "https://elsewhere.example"},
        {"exp": NOW - 60},
        {"sub": None},
    ],
    ids=lambda claims: next(iter(claims)),
)
def test_an_id_token_that_does_not_fit(browser: Browser, issuer: Issuer, claims):
    issuer.id_claims = claims
    assert come_back(browser, issuer.approve(leave(browser))).status_code == 401
    assert not is_in(browser)


def test_an_id_token_that_somebody_else_signed(browser: Browser, issuer: Issuer):
    issuer.keys = [RSAKey.generate_key(2048, {"kid": "rsa-1"}, private=True)]
    browser._gateway.app.state.providers.main.published._keys_at = None
    assert come_back(browser, issuer.approve(leave(browser))).status_code == 401
    browser._gateway.app.state.providers.main.published._keys_at = None


def test_somebody_without_a_role_reads_why(browser: Browser, issuer: Issuer):
    issuer.id_claims = {"sub": "no-role", "eduperson_entitlement": []}
    answer = come_back(browser, issuer.approve(leave(browser)))
    assert answer.status_code == 403
    assert "nothing entitles you to a role here" in answer.text


def test_the_role_comes_from_the_entitlement(browser: Browser, issuer: Issuer):
    issuer.id_claims = {"sub": "steward", "preferred_username": "Grace", "eduperson_entitlement": STEWARD}
    come_back(browser, issuer.approve(leave(browser)))
    assert "You are grace, rights holder." in browser.get("/account").text


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/\\evil.example"])
def test_back_is_never_another_site(browser: Browser, issuer: Issuer, target: str):
    answer = come_back(browser, issuer.approve(leave(browser, target)))
    assert answer.headers["location"] == "/"


@pytest.mark.parametrize("cookie", ["", "x", "e30=", "bnVsbA==", "W10=", "eyJzdGF0ZSI6MX0=", "\x7f"])
def test_a_cookie_that_we_did_not_write(browser: Browser, issuer: Issuer, cookie: str):
    answer = issuer.approve(leave(browser))
    (name,) = [one for one in browser.http.cookies if one.startswith("dpgate_attempt")]
    browser.http.cookies.clear()
    browser.http.cookies.set(name, cookie)
    assert come_back(browser, answer).status_code == 401


def test_the_session_is_a_new_one(browser: Browser, gateway: Gateway, issuer: Issuer):
    browser.http.cookies.set("dpgate_session", "planted", domain="127.0.0.1")
    come_back(browser, issuer.approve(leave(browser)))
    values = {cookie.value for cookie in browser.http.cookies.jar if cookie.name == "dpgate_session"}
    assert "planted" not in values
    assert len(values) == 1
