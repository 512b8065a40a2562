"""Every page in a real Chromium: fits its window, breaks no policy, and can be used by everybody."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from browsing import Browser, Scheme
from serving import Console
from shown import NOWHERE, SHOWN, Shown
from story import WAITING
from told_job_drafts import JOB_DRAFT

WIDE = pytest.mark.deep("the same pages in the width and colours in which less can go wrong")

# by person: whoever stays logged in costs no new login and no new process of the browser
BY_PERSON = sorted(SHOWN, key=lambda shown: shown.who or "")
every_page = pytest.mark.parametrize("shown", BY_PERSON, ids=lambda shown: f"{shown.who}:{shown.path}")


@pytest.fixture(scope="module")
def as_person(shared_console: Console, browser: Browser) -> Callable[[str | None], None]:
    """Logs in where the page before was another person's."""
    inside: list[str | None] = []

    def enter(name: str | None) -> None:
        if inside != [name]:
            browser.enter(shared_console, name)
            inside[:] = [name]

    return enter


@every_page
@pytest.mark.parametrize(("width", "scheme"), [pytest.param(1280, "light", marks=WIDE), (390, "dark")])
def test_a_page_fits_and_axe_finds_nothing(
    shared_console: Console,
    browser: Browser,
    as_person: Callable[[str | None], None],
    shown: Shown,
    width: int,
    scheme: Scheme,
):
    as_person(shown.who)
    browser.complaints()  # forget what earlier pages said
    browser.look(shared_console.url + shown.path, width=width, scheme=scheme)
    assert shown.heading in browser.heading
    assert browser.overflow(width=width) == []
    assert browser.inaccessible() == []
    missing = "the server responded with a status of 404"
    assert [text for text in browser.complaints() if shown.path != NOWHERE or missing not in text] == []


def test_the_checks_find_what_is_wrong(shared_console: Console, browser: Browser):
    """A page with each of the faults that the test above looks for: none of the checks is blind."""
    browser.enter(shared_console, "ada")
    browser.look(f"{shared_console.url}/jobs", width=390)
    browser.complaints()
    browser.driver.execute_script(
        """
        const wide = document.createElement('div');
        wide.innerHTML = '<img src="data:,"><hr width="900"><input><a href="/"></a>';
        document.querySelector('main').append(wide);
        const inline = document.createElement('p');
        inline.setAttribute('style', 'color: red');
        document.body.append(inline);
        const foreign = document.createElement('script');
        foreign.textContent = 'document.title = "run"';
        document.body.append(foreign);
        """
    )
    assert browser.overflow(width=390)
    assert {finding.split(":")[0] for finding in browser.inaccessible()} >= {
        "image-alt",
        "label",
        "link-name",
    }
    assert any("Content Security Policy" in complaint for complaint in browser.complaints())
    assert browser.driver.title != "run"


@pytest.mark.parametrize("person", ["ada", "holder", "olga"])
def test_every_place_of_the_menu_is_in_sight_on_a_telephone(
    shared_console: Console, browser: Browser, person: str
):
    browser.enter(shared_console, person)
    browser.look(f"{shared_console.url}/account", width=390)
    hidden = """
        const menu = document.querySelector('.menu'), edge = menu.getBoundingClientRect().right;
        return [...menu.querySelectorAll('a')].filter(link => link.getBoundingClientRect().right > edge + 1)
            .map(link => link.textContent)"""
    assert browser.driver.execute_script(hidden) == []
    # in one line that scrolls they would not fit: the check is not blind
    one_line = "const style = document.querySelector('.menu').style"
    browser.driver.execute_script(f"{one_line}; style.flexWrap = 'nowrap'; style.overflowX = 'auto'")
    assert browser.driver.execute_script(hidden) or person != "holder"


def test_a_page_that_is_not_there_keeps_the_menu(shared_console: Console, browser: Browser):
    """Of whoever is logged in; to others it shows none."""
    for person, menus in (("holder", 1), (None, 0)):
        browser.enter(shared_console, person)
        browser.look(shared_console.url + NOWHERE)
        assert browser.heading == "There is no such page"
        assert len(browser.driver.find_elements("css selector", ".menu")) == menus
    browser.complaints()  # the browser's own, of the two pages that are not there


def test_a_refused_day_leaves_the_filters_in_one_line(shared_console: Console, browser: Browser):
    browser.enter(shared_console, "olga")
    browser.look(f"{shared_console.url}/audit?since=2026-02-30")
    assert browser.text("#since-wrong")
    bottoms = """
        return [...document.querySelectorAll('.filters input')]
            .map(each => each.getBoundingClientRect().bottom)"""
    assert len(set(browser.driver.execute_script(bottoms))) == 1


def test_the_table_that_was_chosen_can_be_read_on_a_telephone(shared_console: Console, browser: Browser):
    browser.enter(shared_console, "ada")
    browser.look(f"{shared_console.url}/datasets/heights/ask", width=390)
    room = """
        const shown = document.querySelector('#table-choice'), style = getComputedStyle(shown);
        const pen = document.createElement('canvas').getContext('2d');
        pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
        const inside = shown.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        return inside - pen.measureText(shown.selectedOptions[0].textContent).width"""
    assert browser.driver.execute_script(room) > 0
    # what is longer than any telephone is wide ends with dots, where it seemed whole
    style = "return getComputedStyle(document.querySelector('select')).textOverflow"
    assert browser.driver.execute_script(style) == "ellipsis"


@pytest.mark.parametrize(
    ("person", "path"),
    [
        ("ada", f"/jobs/{WAITING}"),
        ("ada", f"/jobs/new/{JOB_DRAFT}/check"),
        ("holder", f"/reviews/{WAITING}"),
    ],
)
def test_the_file_of_a_number_stands_in_one_line_on_a_telephone(
    shared_console: Console, browser: Browser, person: str, path: str
):
    browser.enter(shared_console, person)
    browser.look(f"{shared_console.url}{path}", width=390)
    lines = """
        return [...document.querySelectorAll('[aria-label="Declared numbers"] code')]
            .map(code => code.getClientRects().length)"""
    assert browser.driver.execute_script(lines) == [1, 1]


def test_the_catalogue_filters_while_somebody_types(shared_console: Console, browser: Browser):
    browser.enter(shared_console, "ada")
    browser.look(shared_console.url)
    browser.driver.find_element("id", "q").send_keys("bicycle")
    assert browser.comes("#found", "1 data set for")
    assert "Heights and memory" not in browser.text("#found")
    assert browser.complaints() == []
