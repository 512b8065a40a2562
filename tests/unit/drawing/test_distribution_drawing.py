"""The histogram of blocks: bars as high as their counts, bounds at their numbers."""

from __future__ import annotations

import pytest
from drawn import percent, pixels, read

from drawing import Distribution, draw_distribution
from drawing.axis import MARGIN, TOP
from drawing.distribution import HEIGHT, bins

FLOOR = TOP + HEIGHT


def x_of(value: float, low: float, high: float) -> float:
    return MARGIN + (100 - 2 * MARGIN) * (value - low) / (high - low)


def test_bars_are_as_high_as_their_counts_and_stand_on_the_floor():
    shown = Distribution("m", (1.0, 1.0, 1.0, 1.0, 9.0, 9.0), 0, 10)
    first, last = read(draw_distribution(shown)).parts("bar")
    assert pixels(first, "height") == pytest.approx(HEIGHT)
    assert pixels(last, "height") == pytest.approx(HEIGHT / 2)
    assert pixels(first, "y") + pixels(first, "height") == pytest.approx(FLOOR)
    assert percent(first, "x") == pytest.approx(x_of(1, 0, 10), abs=0.01)


def test_bounds_and_the_whole_stand_at_their_numbers():
    drawing = read(draw_distribution(Distribution("m", (4.0, 6.0), 0, 10, whole=5)))
    lower, upper = drawing.parts("bound-line")
    assert percent(lower, "x1") == percent(lower, "x2") == MARGIN
    assert percent(upper, "x1") == 100 - MARGIN
    (dot,) = drawing.parts("whole")
    assert percent(dot, "cx") == pytest.approx(50)


def test_what_lies_beyond_a_bound_is_drawn_as_such():
    shown = Distribution("m", (1.0, 2.0, 3.0, 20.0), 0, 10)
    assert shown.outside == 1
    drawing = draw_distribution(shown)
    (beyond,) = read(drawing).parts("bar outside")
    assert percent(beyond, "x") > x_of(10, 0, 20)
    assert "1 of them lie outside" in drawing


def test_no_bin_lies_astride_a_bound():
    shown = Distribution("m", tuple(float(value) for value in range(100)), 13.7, 55.5)
    found = bins(shown)
    assert sum(entry.count for entry in found) == 100
    assert not [entry for entry in found for bound in (13.7, 55.5) if entry.low < bound < entry.high]
    assert sum(entry.count for entry in found if entry.is_outside) == shown.outside == 14 + 44


ANY_VALUES = {
    "none": (),
    "one": (5.0,),
    "all the same": (5.0, 5.0, 5.0),
    "the largest": (-1.7e308, 1.7e308),
    "the least": (0.0, 5e-324),
    "neighbours": (1.0, 1.0 + 2**-52),
}


def test_any_values_can_be_drawn(subtests: pytest.Subtests):
    for name, values in ANY_VALUES.items():
        for bounds in ((0.0, 10.0), (None, None), (-1e9, 1e9)):
            with subtests.test(name, bounds=bounds):
                shown = Distribution("m", values, *bounds)
                drawing = draw_distribution(shown)
                assert sum(entry.count for entry in bins(shown)) == len(values)
                assert "nan" not in drawing.lower().replace("lina", "")
                assert "inf" not in drawing
                for bar in read(drawing).parts("bar"):
                    assert 0 <= percent(bar, "x") <= 100
                    assert percent(bar, "width") > 0


def test_without_bounds_nothing_is_outside():
    shown = Distribution("m", (1.0, 2.0), None, None)
    assert shown.outside == 0
    assert read(draw_distribution(shown)).parts("bound-line") == []
    assert "No bounds are declared yet." in draw_distribution(shown)
