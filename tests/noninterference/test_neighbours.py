"""Nothing that somebody else could see of a data set's life depends on a person in it, but the drawn noise.

Lives of neighbouring data sets are lived on fresh platforms, with one clock, one seed and one noise. Every
byte is compared that others than their rights holder could see: answers, headers, statuses and times of every
route and page, commands and what they write, mail, webhooks, logs, figures, all that lies in Redis, and all
rows that the gateway's account can read. What is left out is in `left_out.py`, each with its reason. Not
asked is how long things take: the clock stands still.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from gateways import all_routes, routes_of
from leaks import MARKED, WHERE, mark, neutral
from left_out import LEFT_OUT_FIGURES, LEFT_OUT_NOTICES, LEFT_OUT_SURFACES, LEFT_OUT_WAYS
from lives import life_of
from neighbours import CANARY, CHANGES, TARGET_HEIGHT
from recording import SURFACES, Transcript, differences
from typed import LEFT_OUT, TYPED, all_commands

from domain.messages import Message
from domain.notice import NoticeKind
from gateway.app import create_app
from gateway.config import GatewaySettings

TOGETHER = "all of it"
Life = Callable[..., Transcript]


@pytest.fixture(scope="module")
def life(sqlite_template: Path) -> Life:
    """Each is lived once."""
    lived = cache(lambda change, which: life_of(change, template=sqlite_template, which=which))
    return lambda change=None, *, which="whole": lived(change, which)


def test_every_route_and_page_is_asked(life: Life, subtests: pytest.Subtests) -> None:
    """Each that reads was read; each that writes was sent something by who may, about what is there."""
    answers = life().answers
    known = {
        f"{method} {route.path.replace(':path', '')}"
        for route in all_routes()
        for method in route.methods - {"HEAD"}
    }
    asked = {way.replace(":path", ""): statuses for way, statuses in answers.items()}
    assert LEFT_OUT_WAYS.keys() <= known
    for way in sorted(known):
        with subtests.test(way):
            reads = way.startswith("GET")
            good = [
                status
                for status in asked.get(way, ())
                if (status < 400 if reads else status not in (401, 403, 404))
            ]
            assert bool(good) != (way in LEFT_OUT_WAYS)


def test_every_command_is_typed_or_has_a_reason(life: Life) -> None:
    typed = {name for name in all_commands() for _, line in TYPED if f"{line} ".startswith(f"{name} ")}
    assert typed | LEFT_OUT.keys() == all_commands()
    assert not typed & LEFT_OUT.keys()
    assert {line.split()[0] for line in life().commands} >= {line.split()[0] for _, line in TYPED}


def test_every_notice_is_told_or_has_a_reason(life: Life) -> None:
    rows = " ".join(one.text for one in life().on("row") if one.place.endswith(": notices"))
    told = {kind for kind in NoticeKind if f"'kind': '{kind}'" in rows}
    assert told | LEFT_OUT_NOTICES.keys() == set(NoticeKind)


def test_every_figure_is_measured(life: Life) -> None:
    from gateway.pages import metrics

    source = Path(metrics.__file__).read_text("utf-8")
    names = {word.strip('"') for word in source.replace(",", " ").split() if word.startswith('"dpgate_')}
    names |= {part.split('"')[0] for part in source.split('Metric("')[1:]}
    measured = " ".join(one.text for one in life().on("metric"))
    assert len(names) >= 11
    assert not {name for name in names if f"# TYPE {name} " not in measured} - LEFT_OUT_FIGURES.keys()


def test_every_kind_of_message_is_sent(life: Life) -> None:
    sent = " ".join(one.text for one in life().on("message"))
    assert not [name for name in Message if f'"task": "{name}"' not in sent]


def test_neighbours_cannot_be_told_apart(life: Life, subtests: pytest.Subtests) -> None:
    calm, other = life(), life(TOGETHER)
    for surface in SURFACES:
        with subtests.test(surface):
            assert list(calm.on(surface)), "or nothing was asked"
    found = [one for one in differences(calm, other) if (one.surface, one.place) not in LEFT_OUT_SURFACES]
    assert not found, "\n".join(map(str, found[:20]))


def test_neighbours_cannot_be_told_apart_where_jobs_are_stopped(life: Life) -> None:
    """Refused, cancelled, withheld, or held when the budget is full, a version follows or all ends."""
    calm, other = life(which="states"), life(TOGETHER, which="states")
    found = differences(calm, other)
    assert not found, "\n".join(map(str, found[:20]))


def test_no_cell_is_anywhere(life: Life) -> None:
    """And nobody's name."""
    for change in (None, TOGETHER):
        told = [one for one in life(change).seen if CANARY in one.text or str(TARGET_HEIGHT) in one.text]
        assert not told


def test_planted_leaks_are_caught(life: Life, subtests: pytest.Subtests) -> None:
    """One of each kind, by its own mark on its own surface; then what is left once the marks are the same."""
    calm, other = life(which="leaky"), life(TOGETHER, which="leaky")
    for surface in MARKED:
        with subtests.test(surface):
            where = WHERE.get(surface, surface)
            assert any(mark(surface, False) in one.text for one in calm.on(where))
            assert any(mark(surface, True) in one.text for one in other.on(where))
            told = [one for one in differences(calm, other) if one.surface == where]
            assert told
    for transcript in (calm, other):
        transcript.seen[:] = [type(one)(one.surface, one.place, neutral(one.text)) for one in transcript.seen]
    found = {(one.surface, one.place.rpartition(" #")[0]): one for one in differences(calm, other)}
    with subtests.test("a status"):
        assert found["status", "ada: GET /datasets/asked/budget"]
    with subtests.test("a time"):
        assert "eta" in str([one.one for key, one in found.items() if key[0] == "message"])
    with subtests.test("an import that compares with everybody"):
        assert "REFUSED" in found["body", "rival: GET /datasets/asked/registration"].other


def test_what_answers_without_being_a_route_is_noticed() -> None:
    """Nobody would ask it: what walks the routes, here and elsewhere, stops."""
    app = create_app(GatewaySettings(database_url="sqlite://", broker_url="redis+socket:///none"))
    assert routes_of(app)
    app.mount("/api/v1/hints", app)
    with pytest.raises(AssertionError, match="/api/v1/hints"):
        routes_of(app)


@pytest.mark.deep("each change by itself: together they are asked of every change")
@pytest.mark.parametrize("change", [change for change in CHANGES if change != TOGETHER])
def test_neighbours_by_one_change_cannot_be_told_apart(life: Life, change: str) -> None:
    found = [
        one for one in differences(life(), life(change)) if (one.surface, one.place) not in LEFT_OUT_SURFACES
    ]
    assert not found, "\n".join(map(str, found[:20]))


@pytest.mark.deep("hundreds of runs: what others see of a job is the same code for each mechanism")
def test_neighbours_cannot_be_told_apart_by_other_mechanisms(life: Life) -> None:
    calm, other = life(which="mechanisms"), life(TOGETHER, which="mechanisms")
    found = differences(calm, other)
    assert not found, "\n".join(map(str, found[:20]))
