"""Attacks on sessions and forms. Each has a control: the same request from our own page succeeds."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from asking import Gateway, give_passwords, running_gateway
from form_browser import Browser

from gateway.pages.session import CSRF_FIELD, safe_next

PASSWORD = "four words that differ"
pytestmark = pytest.mark.usefixtures("swift_passwords")
FORM = {"label": "laptop", "scopes": "read", "days": "7"}


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory, sqlite_template) -> Iterator[Gateway]:
    path = tmp_path_factory.mktemp("attacks") / "dpgate.db"
    path.write_bytes(sqlite_template.read_bytes())
    with running_gateway(f"sqlite:///{path}", "redis+socket:///none") as running:
        give_passwords(running, PASSWORD)
        yield running


@pytest.fixture
def browser(gateway: Gateway) -> Iterator[Browser]:
    opened = Browser(gateway)
    opened.log_in("ada", PASSWORD)
    yield opened
    opened.close()


def made(gateway: Gateway) -> int:
    return gateway.rows()["api_tokens"]


def test_the_control_a_form_of_our_own_page_is_taken(gateway: Gateway, browser: Browser):
    before = made(gateway)
    own = {"Origin": "http://gateway", "Sec-Fetch-Site": "same-origin"}
    for headers in (own, {}):
        fields = {CSRF_FIELD: browser.csrf("/account"), **FORM}
        assert browser.post("/account/tokens", fields, headers=headers).status_code == 200
    assert made(gateway) == before + 2


@pytest.mark.parametrize(
    "value", [None, "", "x", "0" * 64, "\u20ac" * 64], ids=["absent", "empty", "short", "zeros", "not ASCII"]
)
def test_a_form_without_the_hidden_field(gateway: Gateway, browser: Browser, value: str | None):
    before = made(gateway)
    fields = FORM if value is None else FORM | {CSRF_FIELD: value}
    assert browser.post("/account/tokens", fields).status_code == 403
    assert made(gateway) == before


def test_the_hidden_field_of_another_session(gateway: Gateway, browser: Browser):
    before = made(gateway)
    mallory = Browser(gateway)
    mallory.log_in("bob", PASSWORD)
    for theirs in (mallory.csrf("/account"), Browser(gateway).csrf("/login")):
        assert browser.post("/account/tokens", FORM | {CSRF_FIELD: theirs}).status_code == 403
    assert made(gateway) == before
    mallory.close()


def test_the_hidden_field_in_the_address_or_a_header(browser: Browser):
    value = browser.csrf("/account")
    assert browser.post(f"/account/tokens?{CSRF_FIELD}={value}", FORM).status_code == 403
    assert browser.post("/account/tokens", FORM, headers={"X-CSRF": value}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://gateway.evil.example"},
        {"Origin": "http://gateway:8080"},
        {"Origin": "https://gateway"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://gateway"},
    ],
    ids=str,
)
def test_a_form_from_another_site_even_with_the_right_field(gateway: Gateway, browser: Browser, headers):
    before = made(gateway)
    fields = FORM | {CSRF_FIELD: browser.csrf("/account")}
    assert browser.post("/account/tokens", fields, headers=headers).status_code == 403
    assert made(gateway) == before


def test_a_login_that_another_site_sends(gateway: Gateway):
    victim, mallory = Browser(gateway), Browser(gateway)
    fields = {"name": "bob", "password": PASSWORD, CSRF_FIELD: mallory.csrf("/login")}
    assert victim.post("/login", fields).status_code == 403
    assert "dpgate_session" not in victim.http.cookies


def test_a_session_that_was_planted_is_not_the_one_that_is_logged_in(gateway: Gateway):
    planted = "planted-by-mallory-0123456789abcdefghijklmno"
    victim, mallory = Browser(gateway), Browser(gateway)
    victim.http.cookies.set("dpgate_session", planted, domain="gateway.local")
    victim.log_in("ada", PASSWORD)
    mallory.http.cookies.set("dpgate_session", planted)
    assert mallory.get("/account").status_code == 303


def test_a_new_login_ends_the_session_before_it(gateway: Gateway, browser: Browser):
    old = browser.http.cookies["dpgate_session"]
    fields = {"name": "ada", "password": PASSWORD, CSRF_FIELD: browser.csrf("/account")}
    assert browser.post("/login", fields).status_code == 303
    values = [cookie.value for cookie in browser.http.cookies.jar if cookie.name == "dpgate_session"]
    assert old not in values
    thief = Browser(gateway)
    thief.http.cookies.set("dpgate_session", old)
    assert thief.get("/account").status_code == 303


ELSEWHERE = [
    "https://evil.example/",
    "//evil.example/",
    "///evil.example/",
    "/\\evil.example/",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "evil.example",
    "/login?next=//evil.example",
    "/logout",
    "http:evil.example",
    " //evil.example",
    "/ /evil.example",
    "/" + "x" * 3000,
    "/\u2028//evil.example",
]


@pytest.mark.parametrize("target", ELSEWHERE)
def test_after_the_login_nobody_is_sent_elsewhere(gateway: Gateway, target: str):
    assert safe_next(target) == "/"
    browser = Browser(gateway)
    assert browser.log_in("ada", PASSWORD, target=target).headers["location"] == "/"
    assert browser.get(f"/login?next={quote(target)}").headers["location"] == "/"
    browser.close()


@pytest.mark.parametrize("target", ["/jobs", "/jobs?state=RUNNING&page=2", "/datasets/heights", "/a//b"])
def test_a_page_of_ours_is_where_one_goes_on(target: str):
    assert safe_next(target) == target


def test_flags_of_the_cookies(gateway: Gateway):
    browser = Browser(gateway)
    visit = browser.get("/login").headers["set-cookie"]
    answer = browser.log_in("ada", PASSWORD)
    (session,) = [one for one in answer.headers.get_list("set-cookie") if "dpgate_session" in one]
    for cookie in (visit, session):
        parts = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert parts == {"httponly", "path=/", "samesite=lax"}


def test_flags_of_the_cookies_over_https(sqlite_url: str):
    public = {"public_url": "https://dpgate.example"}
    with running_gateway(sqlite_url, "redis+socket:///none", **public) as gateway:
        cookie = Browser(gateway).get("/login").headers["set-cookie"]
    assert cookie.startswith("__Host-dpgate_visit=")
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert parts == {"httponly", "path=/", "samesite=lax", "secure"}


def test_behind_a_proxy_the_public_address_is_the_origin(sqlite_url: str):
    public = {"public_url": "https://dpgate.example"}
    with running_gateway(sqlite_url, "redis+socket:///none", **public) as gateway:
        browser = Browser(gateway)
        visit = browser.get("/login")
        name, _, value = visit.headers["set-cookie"].partition(";")[0].partition("=")
        field = visit.text.split(f'name="{CSRF_FIELD}" value="')[1][:64]
        form = {CSRF_FIELD: field, "name": "ada", "password": "x"}
        for origin, status in (("https://dpgate.example", 401), ("http://gateway", 403)):
            headers = {"Origin": origin, "Cookie": f"{name}={value}"}
            assert browser.post("/login", form, headers=headers).status_code == status


def test_the_cookie_opens_no_interface_and_a_token_no_page(gateway: Gateway, browser: Browser):
    cookie = f"dpgate_session={browser.http.cookies['dpgate_session']}"
    assert gateway.ask("GET", "/me", headers={"Cookie": cookie}).status_code == 401
    bearer = {"Authorization": f"Bearer {gateway.tokens['ada']}"}
    assert Browser(gateway).get("/account", headers=bearer).status_code == 303


def test_a_fragment_of_a_page_sends_the_whole_page_to_the_login(gateway: Gateway):
    answer = Browser(gateway).get("/account", headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/login")
