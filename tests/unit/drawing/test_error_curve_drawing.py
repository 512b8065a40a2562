"""The curve of expected error: every point, line and label where its number says."""

from __future__ import annotations

import math

import pytest
from drawn import percent, pixels, read

from drawing import Curve, ErrorCurve, Linear, Logarithmic, draw_error_curve, figure_text
from drawing.axis import MARGIN, TOP
from drawing.error_curve import HEIGHT

INVERSE = Curve("mean", ((0.1, 10.0), (1.0, 1.0), (10.0, 0.1)), is_chosen=True)


def x_of(epsilon: float) -> float:
    """With powers from 0.1 to 10: each tenfold is half of the width."""
    return MARGIN + (100 - 2 * MARGIN) * (math.log10(epsilon) + 1) / 2


def y_of(error: float) -> float:
    """From 0.08 to 12.5, as the curve's own ends with a little room."""
    low, high = math.log(0.1 * 0.8), math.log(10 * 1.25)
    return TOP + HEIGHT * (1 - (math.log(error) - low) / (high - low))


def test_the_curve_goes_through_its_points():
    first, second = read(draw_error_curve(ErrorCurve("m", (INVERSE,)))).parts("curve chosen")
    assert percent(first, "x1") == pytest.approx(x_of(0.1), abs=0.01)
    assert percent(first, "x2") == percent(second, "x1") == pytest.approx(x_of(1), abs=0.01)
    assert percent(second, "x2") == pytest.approx(x_of(10), abs=0.01)
    assert pixels(first, "y1") == pytest.approx(y_of(10), abs=0.06)
    assert pixels(second, "y2") == pytest.approx(y_of(0.1), abs=0.06)
    # error times epsilon is the same everywhere: a straight line between powers
    assert pixels(first, "y2") == pytest.approx((y_of(10) + y_of(0.1)) / 2, abs=0.1)


def test_the_chosen_point_lies_on_the_chosen_curve():
    (point,) = read(draw_error_curve(ErrorCurve("m", (INVERSE,), chosen=0.2))).parts("point")
    assert percent(point, "cx") == pytest.approx(x_of(0.2), abs=0.01)
    assert pixels(point, "cy") == pytest.approx(y_of(5), abs=0.06)


def test_what_is_left_and_the_policys_limit_are_lines_at_their_epsilon():
    drawing = read(draw_error_curve(ErrorCurve("m", (INVERSE,), left=5, cap=2)))
    (left,), (cap,) = drawing.parts("limit left"), drawing.parts("limit cap")
    assert percent(left, "x1") == percent(left, "x2") == pytest.approx(x_of(5), abs=0.01)
    assert percent(cap, "x1") == pytest.approx(x_of(2), abs=0.01)
    assert {"budget left 5", "most per job 2"} <= set(drawing.texts())
    assert [percent(shade, "x") for shade in drawing.parts("beyond")] == [
        pytest.approx(x_of(2), abs=0.01),
        pytest.approx(x_of(5), abs=0.01),
    ]


def test_a_budget_that_is_spent_draws_no_line():
    assert read(draw_error_curve(ErrorCurve("m", (INVERSE,), left=0.0))).parts("limit") == []


def test_ticks_stand_at_their_numbers():
    drawing = read(draw_error_curve(ErrorCurve("m", (INVERSE,))))
    places = {
        part.text: percent(part, "x")
        for part in drawing.root.iter("text")
        if part.get("class") == "tick" and part.get("x", "").endswith("%")
    }
    assert places == {
        text: pytest.approx(x_of(float(text)), abs=0.01) for text in ("0.1", "0.3", "1", "3", "10")
    }


def test_the_sentence_says_what_the_eye_sees():
    drawing = draw_error_curve(ErrorCurve("m", (INVERSE,), chosen=0.5, left=3, cap=1))
    assert "at the chosen epsilon 0.5 the error stays within 2 95 times in 100" in drawing
    assert "budget left 3; at most 1 for one job" in drawing


def test_names_are_text_and_never_markup():
    name = "<script>alert(1)</script>\"' onload=x"
    drawing = draw_error_curve(ErrorCurve(name, (Curve(name, ((1.0, 1.0),)),)))
    assert "<script" not in drawing
    assert name in (read(drawing).root.findtext("title") or "")


def test_a_curve_without_points_is_refused():
    with pytest.raises(ValueError, match="no curve"):
        draw_error_curve(ErrorCurve("m", ()))


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 10, 100])
def test_between_two_points_the_error_is_a_power(epsilon: float):
    assert INVERSE.at(epsilon) == pytest.approx(1 / min(10, max(0.1, epsilon)))


TICKS_ARE_ROUND_NUMBERS = (
    (Linear(0, 1), (0, 0.2, 0.4, 0.6, 0.8, 1)),
    (Linear(16, 90), (20, 40, 60, 80)),
    (Linear(-3, 3), (-3, -2, -1, 0, 1, 2, 3)),
    (Linear(5, 5), (3, 4, 5, 6, 7)),
    (Logarithmic(0.05, 2), (0.05, 0.1, 0.2, 0.5, 1, 2)),
    (Logarithmic(1e-9, 1e9), (1e-8, 1e-4, 1, 1e4, 1e8)),
)


def test_ticks_are_round_numbers(subtests: pytest.Subtests):
    for axis, ticks in TICKS_ARE_ROUND_NUMBERS:
        with subtests.test(axis=axis, ticks=ticks):
            assert axis.ticks() == pytest.approx(ticks)


@pytest.mark.parametrize("ends", [(-1.7e308, 1.7e308), (0, 1e-300), (1e308, 1.1e308)])
def test_an_axis_bears_the_largest_numbers(ends: tuple[float, float]):
    axis = Linear(*ends)
    assert axis.share(ends[0]) == 0
    assert axis.share(ends[1]) == 1
    assert all(math.isfinite(tick) for tick in axis.ticks())


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5"), (-2, "−2"), (12345, "12345"), (2e-7, "0.0000002"), (1e-30, "1e-30"), (0, "0")],
)
def test_figures_are_short(value: float, text: str):
    assert figure_text(value) == text
