"""A browser in which somebody logged in before: guesses at their name do not keep them out there."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from asking import Gateway, give_passwords, running_gateway
from form_browser import Browser

from gateway.login_line import LoginLine
from store import accounts

PASSWORD, OTHER = "four words that differ", "five words that differ now"
COOKIE = "dpgate_browser"
pytestmark = pytest.mark.usefixtures("swift_passwords")


@pytest.fixture
def gateway(sqlite_url: str) -> Iterator[Gateway]:
    with running_gateway(sqlite_url, "redis+socket:///none") as running:
        give_passwords(running, PASSWORD)
        yield running


@pytest.fixture
def browser(gateway: Gateway) -> Iterator[Browser]:
    opened = Browser(gateway)
    yield opened
    opened.close()


def restarted(gateway: Gateway) -> None:
    """Nothing that the process kept of addresses is left."""
    gateway.app.state.login_line = LoginLine()


def guess_until_the_name_waits(gateway: Gateway, name: str) -> None:
    restarted(gateway)
    for number in range(accounts.FREE_FAILURES + 1):
        stranger = Browser(gateway)
        stranger.log_in(name, f"guess number {number}")
        stranger.close()
    restarted(gateway)


def gets_in(browser: Browser, name: str, password: str = PASSWORD) -> bool:
    return browser.log_in(name, password).status_code == 303


def test_who_was_here_before_gets_in_while_their_name_waits_for_strangers(gateway, browser):
    assert gets_in(browser, "ada")
    browser.send("/account", "/logout")
    guess_until_the_name_waits(gateway, "ada")
    stranger = Browser(gateway)
    assert not gets_in(stranger, "ada"), "the control: without the cookie the name waits"
    stranger.close()
    assert gets_in(browser, "ada")


@pytest.mark.parametrize("change", ["another name", "another place", "another password", "no such form"])
def test_a_word_is_of_one_person_one_browser_and_one_password(gateway, browser, change):
    assert gets_in(browser, "ada")
    word, name, password = browser.http.cookies[COOKIE], "ada", PASSWORD
    assert accounts.place_of_browser(gateway.database, "ada", word) == word[:32]
    if change == "another name":
        name = "bob"
    elif change == "another place":
        word = "0" * 32 + word[32:]
    elif change == "another password":
        password = OTHER
        with gateway.database.transaction() as connection:
            accounts.set_password(connection, "ada", OTHER, datetime.now(UTC))
    else:
        word = word.upper() + "\u00e4"
    assert accounts.place_of_browser(gateway.database, name, word) == ""
    assert accounts.place_of_browser(gateway.database, "nobody", word) == ""
    guess_until_the_name_waits(gateway, name)
    thief = Browser(gateway)
    thief.http.cookies.set(COOKIE, word.encode("ascii", "ignore").decode())
    assert not gets_in(thief, name, password)
    thief.close()


def test_the_word_gives_no_right_and_says_nothing_of_the_password(gateway, browser):
    assert gets_in(browser, "ada")
    word = browser.http.cookies[COOKIE]
    other = Browser(gateway)
    other.http.cookies.set(COOKIE, word)
    assert other.get("/account").status_code == 303
    assert not gets_in(other, "ada", OTHER)
    other.close()
    browser.send("/account", "/logout")
    assert gets_in(browser, "ada")
    assert browser.http.cookies[COOKIE] != word, "a new one at each login"
