"""Logging in and out in a browser, and one's own account."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from asking import Gateway, running_gateway
from form_browser import Browser

from store import accounts
from store.account_tables import sessions
from store.tables import audit_events

PASSWORD = "four words that differ"
pytestmark = pytest.mark.usefixtures("swift_passwords")
TOKEN = re.compile(r"dpgate\.[0-9a-f]{16}\.[\w-]{43}")


@pytest.fixture
def gateway(sqlite_url: str) -> Iterator[Gateway]:
    with running_gateway(sqlite_url, "redis+socket:///none") as running:
        with running.database.transaction() as connection:
            accounts.set_password(connection, "ada", PASSWORD, datetime.now(UTC))
        yield running


@pytest.fixture
def browser(gateway: Gateway) -> Iterator[Browser]:
    opened = Browser(gateway)
    yield opened
    opened.close()


def events(gateway: Gateway) -> list[tuple[str, str]]:
    with gateway.database.reading() as connection:
        query = sa.select(audit_events.c.actor, audit_events.c.action).order_by(audit_events.c.number)
        return [(row.actor, row.action) for row in connection.execute(query)]


def test_in_and_out_again(gateway: Gateway, browser: Browser):
    answer = browser.get("/account")
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/account")
    answer = browser.log_in("ada", PASSWORD, target="/account")
    assert (answer.status_code, answer.headers["location"]) == (303, "/account")
    assert "You are ada, researcher." in browser.get("/account").text
    assert browser.get("/login?next=/account").headers["location"] == "/account"
    kept = browser.http.cookies["dpgate_session"]
    assert browser.send("/account", "/logout").headers["location"] == "/login"
    browser.http.cookies.set("dpgate_session", kept)
    assert browser.get("/account").status_code == 303
    assert events(gateway) == [("ada", "session.open"), ("ada", "session.close")]


def test_only_a_hash_of_the_cookie_is_kept(gateway: Gateway, browser: Browser):
    browser.log_in("ada", PASSWORD)
    with gateway.database.reading() as connection:
        kept = str(connection.execute(sa.text("SELECT * FROM sessions")).all())
    assert browser.http.cookies["dpgate_session"] not in kept


def test_a_wrong_password_keeps_the_name_and_says_no_more(browser: Browser):
    wrong = browser.log_in("ada", "something else entirely")
    unknown = browser.log_in("nobody-here", "something else entirely")
    assert (wrong.status_code, unknown.status_code) == (401, 401)
    assert 'value="ada"' in wrong.text
    # "ada" may also stand in the form's token, which is hexadecimal
    wrong_said, unknown_said = (
        answer.text.replace(f'value="{name}"', 'value="NAME"')
        for answer, name in ((wrong, "ada"), (unknown, "nobody-here"))
    )
    assert wrong_said == unknown_said
    assert "something else" not in wrong.text


def test_what_was_typed_is_shown_as_text(browser: Browser):
    answer = browser.log_in('"><script>alert(1)</script>', "x" * 20)
    assert "<script>alert" not in answer.text
    assert "&lt;script&gt;" in answer.text


def test_after_five_failures_comes_a_wait_for_every_name(browser: Browser):
    for name in ("ada", "nobody-here"):
        statuses = [browser.log_in(name, "something else").status_code for _ in range(6)]
        assert statuses == [401] * 5 + [429]
    answer = browser.log_in("ada", PASSWORD)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 31


def test_a_session_ends_after_an_hour_or_twelve(gateway: Gateway, browser: Browser):
    now = datetime.now(UTC)
    for age, seen, status in (
        (timedelta(hours=11), timedelta(minutes=59), 200),
        (timedelta(hours=11), timedelta(minutes=61), 303),
        (timedelta(hours=12, minutes=1), timedelta(minutes=1), 303),
    ):
        browser.http.cookies.clear()
        browser.log_in("ada", PASSWORD)
        with gateway.database.transaction() as connection:
            connection.execute(sa.update(sessions).values(opened_at=now - age, seen_at=now - seen))
        assert browser.get("/account").status_code == status


def test_a_page_keeps_the_session_alive(gateway: Gateway, browser: Browser):
    browser.log_in("ada", PASSWORD)
    earlier = datetime.now(UTC) - timedelta(minutes=50)
    with gateway.database.transaction() as connection:
        connection.execute(sa.update(sessions).values(seen_at=earlier))
    assert browser.get("/account").status_code == 200
    with gateway.database.reading() as connection:
        assert connection.execute(sa.select(sessions.c.seen_at)).scalar_one() > earlier


def test_a_disabled_user_is_out_at_once(gateway: Gateway, browser: Browser):
    browser.log_in("ada", PASSWORD)
    made = TOKEN.search(browser.send("/account", "/account/tokens", label="x", scopes="read", days="1").text)
    assert gateway.ask("DELETE", "/users/ada", by="olga").json()["disabled"] is True
    assert browser.get("/account").status_code == 303
    assert browser.log_in("ada", PASSWORD).status_code == 401
    for token in (made[0], gateway.tokens["ada"]):
        answer = gateway.ask("GET", "/me", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401


def test_the_first_password_only_opens_the_page_for_another(gateway: Gateway, browser: Browser):
    added = gateway.ask("POST", "/users", by="olga", json={"name": "zoe", "role": "data_user"}).json()
    first = added["initial_password"]
    assert browser.log_in("zoe", first).status_code == 303
    assert browser.get("/jobs").headers.get("location") in ("/account", None)
    refused = browser.send("/account", "/account/tokens", label="x", scopes="read", days="1")
    assert refused.headers["location"] == "/account"
    again = {"old": first, "new": PASSWORD, "again": "another"}
    assert "again: is not the same." in browser.send("/account", "/account/password", **again).text
    changed = browser.send("/account", "/account/password", old=first, new=PASSWORD, again=PASSWORD)
    assert changed.status_code == 303
    assert "first choose" not in browser.get("/account").text.lower()
    assert "A new token" in browser.get("/account").text


def test_the_token_that_came_with_the_account_is_listed_until_it_is_ended(gateway: Gateway, browser: Browser):
    browser.log_in("ada", PASSWORD)
    token_id = gateway.tokens["ada"].split(".")[1]
    assert token_id in browser.get("/account").text
    browser.send("/account", f"/account/tokens/{token_id}/revocation")
    assert token_id not in browser.get("/account").text
    assert gateway.ask("GET", "/me", by="ada").status_code == 401


def test_the_first_password_ends_after_a_week(gateway: Gateway, browser: Browser):
    with gateway.database.transaction() as connection:
        first = accounts.set_initial_password(connection, "bob", datetime.now(UTC) - timedelta(days=8))
    assert browser.log_in("bob", first).status_code == 401


def test_a_new_password_logs_everybody_else_out(gateway: Gateway, browser: Browser):
    other = Browser(gateway)
    other.log_in("ada", PASSWORD)
    browser.log_in("ada", PASSWORD)
    assert "in 1 other browser" in browser.get("/account").text
    new = "another four words here"
    browser.send("/account", "/account/password", old=PASSWORD, new=new, again=new)
    assert browser.get("/account").status_code == 200
    assert other.get("/account").status_code == 303
    other.close()


@pytest.mark.parametrize(
    "new", ["short", "x" * 201, "aaaaaaaaaaaaaaaa", "it is all about ada here", PASSWORD]
)
def test_a_weak_password_is_not_taken(browser: Browser, new: str):
    browser.log_in("ada", PASSWORD)
    assert browser.send("/account", "/account/password", old=PASSWORD, new=new, again=new).status_code == 422


def test_a_token_is_shown_once_and_can_be_taken_back(gateway: Gateway, browser: Browser):
    browser.log_in("ada", PASSWORD)
    answer = browser.send("/account", "/account/tokens", label="laptop", scopes=["read", "submit"], days="7")
    token = TOKEN.search(answer.text)[0]
    page = browser.get("/account").text
    assert "laptop" in page
    assert not TOKEN.search(page)
    bearer = {"Authorization": f"Bearer {token}"}
    assert gateway.ask("GET", "/me", headers=bearer).status_code == 200
    token_id = token.split(".")[1]
    assert browser.send("/account", f"/account/tokens/{token_id}/revocation").status_code == 303
    assert gateway.ask("GET", "/me", headers=bearer).status_code == 401


def test_what_was_typed_for_a_token_stays(browser: Browser):
    browser.log_in("ada", PASSWORD)
    answer = browser.send("/account", "/account/tokens", label="My Laptop", scopes="submit", days="1000")
    assert answer.status_code == 422
    assert 'value="My Laptop"' in answer.text
    assert re.search(r'value="submit" checked', answer.text)
    assert "Use 366 or less." in answer.text
