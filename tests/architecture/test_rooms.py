"""Few processes of a session start a platform or a browser of their own."""

from __future__ import annotations

import re

from rooms import BROWSER, MOST, PLATFORM, ROOT, Rooms, lasting

PAGES = ("tests/pages/test_keyboard.py", "tests/pages/test_in_browser.py")


def test_what_lasts_beyond_a_room() -> None:
    assert {lasting(room) for room in PAGES} == {BROWSER}
    assert lasting("tests/functional/on_platform/test_cli_names.py") == PLATFORM
    assert lasting("tests/unit/domain/test_policy.py") == ""


def test_every_file_whose_cases_take_the_browser_is_known() -> None:
    for path in (ROOT / "tests" / "pages").glob("test_*.py"):
        takes = re.search(r"def \w+\([^)]*\bbrowser\b", path.read_text("utf-8"))
        assert bool(takes) == (lasting(path.relative_to(ROOT).as_posix()) == BROWSER), path.name


def test_who_has_a_browser_takes_the_next_room_that_needs_one() -> None:
    rooms = Rooms.__new__(Rooms)
    rooms._have = {PLATFORM: set(), BROWSER: {"gw0"}}
    assert [rooms._rank(PAGES[0], node) for node in ("gw0", "gw1")] == [0, 1]
    rooms._have[BROWSER] |= {f"gw{number}" for number in range(MOST)}
    assert [rooms._rank(PAGES[0], node) for node in ("gw0", "gw4")] == [0, 2]
    assert rooms._rank("tests/unit/domain/test_policy.py", "gw4") == 1
