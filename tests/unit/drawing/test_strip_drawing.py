"""One value on a line, and one account as a bar: everything stands at its number."""

from __future__ import annotations

import math

import pytest
from drawn import percent, read

from drawing.account_bar import AccountBar, draw_account_bar
from drawing.axis import MARGIN
from drawing.strip import Strip, draw_strip


def test_a_value_stands_inside_its_bounds():
    shown = draw_strip(Strip("m", 50, noise=(40, 60), sampling=(30, 70), bounds=(0, 100)))
    drawing = read(shown)
    (point,), (noise,) = drawing.parts("point"), drawing.parts("noise")
    assert percent(point, "cx") == pytest.approx(50)
    assert percent(noise, "x1") == pytest.approx(MARGIN + 0.4 * (100 - 2 * MARGIN), abs=0.01)
    low, high = drawing.parts("edge")
    assert (percent(low, "x1"), percent(high, "x1")) == (MARGIN, 100 - MARGIN)
    assert "95 % noise interval 40 to 60" in shown


@pytest.mark.parametrize("value", [0.0, 7.0, -1e308, 1e308, 5e-324])
def test_a_value_alone_stands_in_the_middle(value: float):
    (point,) = read(draw_strip(Strip("m", value))).parts("point")
    assert percent(point, "cx") == pytest.approx(50, abs=1)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_refused(value: float):
    with pytest.raises(ValueError, match="finite"):
        draw_strip(Strip("m", value))


def test_an_account_is_filled_as_far_as_it_is_spent():
    drawing = read(draw_account_bar(AccountBar("epsilon", "8", "2", "1", "5")))
    (spent,), (reserved,) = drawing.parts("spent"), drawing.parts("reserved")
    assert percent(spent, "width") == 25
    assert (percent(reserved, "x"), percent(reserved, "width")) == (25, 12.5)


def test_an_amount_of_another_kind_is_refused_at_once(subtests: pytest.Subtests):
    for amount in ("1e999999999", "-1", "", "nan", "1/3", "9" * 50):
        with subtests.test(amount=amount), pytest.raises(ValueError, match="plain decimal"):
            draw_account_bar(AccountBar("epsilon", "8", amount, "0", "8"))
