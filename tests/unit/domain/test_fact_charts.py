"""Drawings of budgets, suspicions, released values and bounds: every mark where its number belongs."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawing.axis import MARGIN, TOP
from drawing.intervals import Mark, by_own_bounds, draw_intervals
from drawing.noise_range import Choice, draw_noise_range
from drawing.suspicion import Group, Growth, draw_suspicions
from drawing.timeline import HEIGHT, Standing, Timeline, draw_timeline

HOSTILE = "\"'><script>alert(1)</script>&"
INNER = 100 - 2 * MARGIN


def parts(svg: str, tag: str, kind: str) -> list[dict[str, str]]:
    root = ElementTree.fromstring(svg)
    return [dict(found.attrib) for found in root.iter(tag) if kind in found.attrib.get("class", "").split()]


def number(text: str) -> float:
    return float(text.removesuffix("%"))


def _timeline(*standings: Standing, cap: float = 10.0) -> str:
    return draw_timeline(
        Timeline("epsilon", cap, standings, (0.0, "1 March"), (100.0, "2 March"), "4 of 10 were spent.")
    )


def test_a_timeline_has_each_step_where_and_as_high_as_it_happened():
    svg = _timeline(Standing(0, 0, 4), Standing(25, 4, 0), Standing(75, 4, 1))
    spent = parts(svg, "rect", "spent")
    assert [(number(r["x"]), number(r["width"])) for r in spent] == [
        (MARGIN, INNER / 4), (MARGIN + INNER / 4, INNER / 2), (MARGIN + INNER * 3 / 4, INNER / 4),
    ]  # fmt: skip
    assert [number(r["height"]) for r in spent] == [0, HEIGHT * 0.4, HEIGHT * 0.4]
    first, last = parts(svg, "rect", "reserved")
    assert (number(first["y"]), number(first["height"])) == (TOP + HEIGHT * 0.6, HEIGHT * 0.4)
    assert (number(last["y"]), number(last["height"])) == (TOP + HEIGHT * 0.5, HEIGHT * 0.1)
    (cap,) = parts(svg, "line", "cap")
    assert number(cap["y1"]) == TOP


def test_suspicions_stand_at_their_shares():
    svg = draw_suspicions([Group("after all", (Growth("10%", 0.1, 0.5, "at most 50 %"),))])
    (before,), (after,) = parts(svg, "circle", "before"), parts(svg, "circle", "after")
    assert number(before["cx"]) == pytest.approx(MARGIN + INNER * 0.1, abs=0.01)
    assert number(after["cx"]) == pytest.approx(50, abs=0.01)
    assert "after all: 10% to at most 50 %." in svg


def test_values_of_equal_bounds_share_an_axis_and_others_are_placed_inside_their_own():
    same = [Mark("a", 0, -1, 1, 0, 10), Mark("b", 10, 9, 11, 0, 10)]
    assert not by_own_bounds(same)
    low, high = (number(point["cy"]) for point in parts(draw_intervals(same), "circle", "point"))
    assert low - high == pytest.approx(200 * 10 / 12, abs=0.2)
    own = [Mark("a", 5, 4, 6, 0, 10), Mark("b", 50, 40, 60, 0, 100)]
    assert by_own_bounds(own)
    first, second = (number(point["cy"]) for point in parts(draw_intervals(own), "circle", "point"))
    assert first == second == pytest.approx(TOP + 100, abs=0.1)


def test_hundreds_of_values_are_all_there_in_order():
    svg = draw_intervals([Mark(f"v{place}", place % 7, 0, 7) for place in range(500)])
    places = [number(point["cx"]) for point in parts(svg, "circle", "point")]
    assert len(places) == 500
    assert places == sorted(places)
    assert MARGIN < places[0] < places[-1] < 100 - MARGIN
    with pytest.raises(ValueError, match="1 to 2000"):
        draw_intervals([])


def test_noise_is_as_wide_as_it_is_beside_its_range():
    svg = draw_noise_range([Choice("narrow", 0, 100, 10), Choice("wide", -100, 300, 40)])
    widths = [number(rect["width"]) for kind in ("range", "noise") for rect in parts(svg, "rect", kind)]
    assert widths == pytest.approx([INNER / 4, INNER, INNER / 20, INNER / 5], abs=0.02)


@given(
    value=st.floats(-1e12, 1e12),
    low=st.none() | st.floats(-1e12, 1e12),
    lower=st.floats(-1e6, 0),
    width=st.floats(0.1, 1e6),
)
def test_everything_lies_inside_the_drawing(value: float, low: float | None, lower: float, width: float):
    marks = [
        Mark("a", value, low, None if low is None else low + 1, lower, lower + width),
        Mark("b", 0.5, 0, 1, 0, 1),
    ]
    svg = draw_intervals(marks)
    for found in [*parts(svg, "circle", "point"), *parts(svg, "line", "noise")]:
        for name in ("cy", "y1", "y2"):
            assert TOP <= number(found.get(name, str(TOP))) <= TOP + 200
        for name in ("cx", "x1", "x2"):
            assert 0 <= number(found.get(name, "0")) <= 100


def test_names_from_people_stay_letters():
    drawings = [
        draw_intervals([Mark(HOSTILE, 1), Mark(HOSTILE, 2)]),
        draw_suspicions([Group(HOSTILE, (Growth(HOSTILE, 0.1, 0.2, HOSTILE),))]),
        draw_timeline(Timeline(HOSTILE, 1, (Standing(0, 1, 0),), (0, HOSTILE), (1, HOSTILE), HOSTILE)),
    ]
    for svg in drawings:
        assert "<script" not in svg
        root = ElementTree.fromstring(svg)
        assert all(re.fullmatch(r"[a-z]+", element.tag) for element in root.iter())
        assert not any(name.startswith("on") or name == "style" for e in root.iter() for name in e.attrib)
