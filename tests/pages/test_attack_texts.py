"""An attacker fills in every form of the console, and whoever reads the pages afterwards meets letters only.

The forms are found on the pages themselves: a new one is attacked at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import islice

import pytest
from browsing import Browser
from gateways import all_routes
from page_forms import Form, Page
from services import PostgreSQL
from serving import Console, Visitor, running_console
from shown import SHOWN
from story import tell
from told_data_sets import BREAKOUT, HOSTILE, SCRIPT
from told_drafts import HOSTILE_DRAFT
from told_job_drafts import HOSTILE_JOB_DRAFT
from told_reviews import HALF_DECIDED

from gateway import headers
from gateway.pages import layout
from store.database import Database

ATTACK = f"</title></textarea></svg>{SCRIPT}{BREAKOUT}"
# PostgreSQL takes no NUL, UTF-8 no half of a surrogate pair; what reorders text is no reason to fail either
ODD = "a\x00b\u202e\ufffe\U0010ffff\r\n\x1b[31m"
# elements that no template of ours makes
FOREIGN = """return [...document.querySelectorAll('script:not([src]), img:not([src^="/static/"]), [onerror]')]
    .map(element => element.outerHTML)"""
WHO = ("ada", "bob", "holder", "vera", "rival", "olga")
# they end what the rest of the test needs: one's own session, and other people
LAST = ("/logout", "/account/sessions", "/operation/people", "/removal", "/account/password")


@pytest.fixture(scope="module")
def attacked(postgresql: PostgreSQL, redis_socket: str) -> Iterator[Console]:
    """A console that is written to, on the database that takes less."""
    url = postgresql.fresh()
    database = Database(url)
    with database.transaction() as connection:
        tell(connection)
    database.close()
    with running_console(url, redis_socket) as running:
        yield running


@pytest.fixture(scope="module")
def asked() -> set[Hashable]:
    """What somebody was asked about already: the same code reads it whoever is next."""
    return set()


@pytest.mark.parametrize("person", WHO)
def test_whatever_is_typed_into_any_form_is_refused_or_kept_as_letters(
    attacked: Console, asked: set[Hashable], person: str
):
    with attacked.visit(person) as visitor:
        found = _forms(visitor, person)
        assert len(found) >= (1 if person == "rival" else 4)
        forms = [form for what, form in found.items() if what not in asked]
        asked.update(found)
        # where a form leads when it is taken: mostly to the same page, which is read once more afterwards
        onward: set[str] = set()
        for form in forms:
            for text, everywhere in ((ATTACK, False), (ATTACK, True), (ODD, False)):
                # with the number of a draft replaced, too, every button is refused in the same place
                for data in islice(form.filled(text, everywhere=everywhere), 1 if everywhere else None):
                    answer = visitor.client.post(form.action, data=data)
                    assert answer.status_code < 500, (form.action, text, answer.status_code)
                    assert Page(answer.text).foreign == [], form.action
                    if answer.is_redirect:
                        onward.add(answer.headers["location"])
        for address in sorted(onward):
            answer = visitor.client.get(address, follow_redirects=True)
            assert answer.status_code < 500, address
            assert Page(answer.text).foreign == [], address


@pytest.mark.parametrize("person", WHO)
def test_afterwards_every_page_can_be_read_and_nothing_of_it_lives(attacked: Console, person: str):
    with attacked.visit(person) as visitor:
        for path in _pages(person):
            answer = visitor.client.get(path, follow_redirects=True)
            assert answer.status_code < 500, path
            assert Page(answer.text).foreign == [], path


@pytest.mark.parametrize("person", ["ada", "holder", "olga"])
def test_odd_letters_in_any_address_are_no_fault(attacked: Console, asked: set[Hashable], person: str):
    with attacked.visit(person) as visitor:
        by_route = {_route(path, "GET"): path.partition("?")[0] for path in _pages(person)}
        for plain in (path for route, path in by_route.items() if route not in asked):
            parts = plain.split("/")
            addresses = {
                "/".join([*parts[:at], odd, *parts[at + 1 :]])
                for at in range(2, len(parts))
                for odd in ("%00", "%ed%a0%80", "%0d%0aSet-Cookie:%20a=b")
            }
            named = "&".join(f"{name}=%00%ed%a0%80" for name in ("q", "dataset", "user", "account", "actor"))
            for address in (*sorted(addresses), f"{plain}?{named}&table=%00&code=%00&state=%00&page=%00"):
                answer = visitor.get(address)
                assert answer.status_code < 500, address
                assert "a" not in answer.cookies, address
        asked.update(by_route)


STORED = (
    ("bob", "/projects/odd"),
    ("bob", f"/jobs/{HALF_DECIDED}"),
    ("holder", "/projects/odd/grants/heights"),
    ("holder", f"/datasets/new/{HOSTILE_DRAFT}/tables/0"),
    ("holder", f"/datasets/{HOSTILE}/policy"),
    ("ada", f"/datasets/{HOSTILE}/ask"),
    ("ada", f"/datasets/{HOSTILE}/train"),
    ("ada", f"/jobs/new/{HOSTILE_JOB_DRAFT}/rehearsal"),
    ("ada", f"/jobs/new/{HOSTILE_JOB_DRAFT}/check"),
)


def test_in_a_real_browser_nothing_of_it_runs(shared_console: Console, browser: Browser):
    who = None
    for person, path in STORED:
        if person != who:
            browser.enter(shared_console, person)
            who = person
        browser.complaints()
        browser.look(shared_console.url + path)
        assert browser.driver.title.endswith("dpgate"), path
        assert not browser.driver.execute_script(FOREIGN), path
        assert browser.complaints() == [], path


def test_one_defence_holds_without_the_other_and_the_attack_works_without_both(
    shared_console: Console, browser: Browser, monkeypatch: pytest.MonkeyPatch
):
    """Escaping keeps markup letters; where a template forgot it, the content policy lets nothing run."""
    place = f"{shared_console.url}/projects/odd"
    browser.enter(shared_console, "bob")
    monkeypatch.setattr(layout, "_environment", layout._environment.overlay(autoescape=False))
    browser.complaints()
    browser.look(place)
    assert browser.driver.execute_script(FOREIGN)
    assert browser.driver.title.endswith("dpgate")
    assert any("Content Security Policy" in said for said in browser.complaints())
    weak = "default-src * 'unsafe-inline'"
    monkeypatch.setitem(headers.PAGE_HEADERS, "Content-Security-Policy", weak)
    browser.look(place)
    assert browser.driver.title == "run"


def _pages(person: str) -> list[str]:
    return [shown.path for shown in SHOWN if shown.who == person] + ["/account", "/account/notices"]


def _forms(visitor: Visitor, person: str) -> dict[Hashable, Form]:
    """Every form that this person is shown, once for each route and set of fields."""
    found: dict[Hashable, Form] = {}
    for path in _pages(person):
        for form in Page(visitor.get(path).text).forms:
            if form.method == "post" and not any(word in form.action for word in LAST):
                form.action = form.action or path
                found.setdefault((_route(form.action, "POST"), form.names), form)
    return found


def _route(address: str, method: str) -> str:
    """Where it goes, whatever it is about: what is typed is read by the same code."""
    path = address.partition("?")[0]
    routes = (each for each in all_routes() if method in each.methods and each.path_regex.match(path))
    return next((each.path for each in routes), path)
