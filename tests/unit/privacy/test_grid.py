import dataclasses
import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.grid import MIN_CELLS, OutputGrid

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-9e299, max_value=9e299)
exact = st.fractions(max_denominator=10**6) | finite.map(Fraction)


@st.composite
def grids(draw):
    low, high = sorted([draw(exact), draw(exact)])
    return OutputGrid.build(low, high if high - low > Fraction(1, 10**200) else low + 1)


def is_power_of_two(number: Fraction) -> bool:
    return 1 in (number.numerator, number.denominator) and (
        (number.numerator * number.denominator).bit_count() == 1
    )


@given(exact, exact)
def test_grid_covers_the_declared_bounds_with_2_to_the_20_cells(a, b):
    low, high = sorted([a, b])
    if high - low < Fraction(1, 10**290):
        high = low + 1
    grid = OutputGrid.build(low, high)
    assert is_power_of_two(grid.step)
    assert MIN_CELLS <= grid.cells < 2 * MIN_CELLS
    assert (grid.lower / grid.step).denominator == 1
    assert grid.value(0) == grid.lower
    assert grid.value(grid.cells) == grid.upper
    assert 0 <= low - grid.lower < grid.step
    assert 0 <= grid.upper - high < grid.step


@given(grids())
def test_snapped_bounds_describe_the_grid_completely(grid):
    again = OutputGrid.build(grid.lower, grid.upper)
    assert again == grid == OutputGrid(grid.lower, grid.upper)
    assert (again.step, again.cells) == (grid.step, grid.cells)
    assert hash(again) == hash(grid)


@given(grids(), finite | st.integers())
def test_snap_is_the_exact_floor_clamped_to_the_bounds(grid, value):
    units = grid.snap(value)
    assert units == min(max(math.floor((Fraction(value) - grid.lower) / grid.step), 0), grid.cells)
    if grid.lower <= Fraction(value) < grid.upper:
        assert grid.value(units) <= Fraction(value) < grid.value(units + 1)


@given(grids(), st.data())
def test_snap_undoes_value(grid, data):
    units = data.draw(st.integers(0, grid.cells))
    point = grid.value(units)
    if Fraction(float(point)) == point:
        assert grid.snap(float(point)) == units


@given(grids(), exact)
def test_nearest_is_on_the_grid_and_at_most_half_a_step_away(grid, value):
    rounded = grid.nearest(value)
    assert (rounded / grid.step).denominator == 1
    assert abs(rounded - value) <= grid.step / 2


def test_nearest_rounds_ties_to_even():
    grid = OutputGrid.build(0, 1)
    assert grid.nearest(grid.step / 2) == 0
    assert grid.nearest(grid.step * Fraction(3, 2)) == 2 * grid.step


KNOWN_GRIDS = (
    (0, 1, Fraction(1, 2**20), 2**20),
    ("-3", "3", Fraction(1, 2**18), 6 * 2**18),
    (0, 2**40, Fraction(2**20), 2**20),
    (0.1, 1.1, Fraction(1, 2**20), 2**20 + 1),
    ("1/3", "1e0", Fraction(1, 2**21), None),
    # the coarser step already gives 2^20 cells, thanks to snapping outwards
    (Fraction(1, 2**21), 1, Fraction(1, 2**20), 2**20),
)


def test_known_grids(subtests):
    for lower, upper, step, cells in KNOWN_GRIDS:
        with subtests.test(lower=lower, upper=upper, step=step, cells=cells):
            grid = OutputGrid.build(lower, upper)
            assert grid.step == step
            assert cells is None or grid.cells == cells
            assert grid.middle == grid.cells // 2


BOUNDS_ARE_REFUSED_BY_NAME = (
    (1, 1, "lower must be below upper"),
    (2, 1, "lower must be below upper"),
    (float("nan"), 1, "lower must be finite"),
    (0, float("inf"), "upper must be finite"),
    (True, 2, "lower must be a number"),
    (None, 2, "lower must be a number"),
    (0, "ten", "upper must be a number"),
    (0, "1/0", "upper must be a number"),
    (0, "1e999999999", "upper must be a number"),
    (0, "1e999", "upper is beyond 1e300"),
    (-(10**301), 0, "lower is beyond 1e300"),
    (0, "9" * 401, "upper must be a number"),
    (0, "1e-400", "closer than"),
)


def test_bounds_are_refused_by_name(subtests):
    for lower, upper, reason in BOUNDS_ARE_REFUSED_BY_NAME:
        with (
            subtests.test(lower=lower, upper=upper, reason=reason),
            pytest.raises(ValueError, match=reason),
        ):
            OutputGrid.build(lower, upper)


def test_constructor_refuses_bounds_off_their_grid():
    with pytest.raises(ValueError, match=r"OutputGrid\.build"):
        OutputGrid(Fraction(1, 3), Fraction(1))


def test_grid_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        OutputGrid.build(0, 1).lower = Fraction(-1)


SNAP_REFUSES_WHAT_IS_NOT_A_FINITE_NUMBER = (
    float("nan"),
    float("inf"),
    float("-inf"),
    True,
    None,
    "1",
    [1.0],
    1j,
)


def test_snap_refuses_what_is_not_a_finite_number(subtests):
    for value in SNAP_REFUSES_WHAT_IS_NOT_A_FINITE_NUMBER:
        with subtests.test(value=value), pytest.raises(ValueError, match="an output must be"):
            OutputGrid.build(0, 1).snap(value)


def test_snap_clamps_numbers_of_any_size():
    grid = OutputGrid.build(0, 1)
    assert (grid.snap(-(10**400)), grid.snap(10**400), grid.snap(-0.0)) == (0, grid.cells, 0)
    assert (grid.snap(1e308), grid.snap(-5e-324), grid.snap(5e-324)) == (grid.cells, 0, 0)


def test_the_narrowest_range():
    assert OutputGrid.build(0, "1e-290").upper >= Fraction(1, 10**290)
    with pytest.raises(ValueError, match="closer than 1e-290"):
        OutputGrid.build(0, "9.99999e-291")


def test_spellings_of_a_bound(subtests):
    for text in ("1E0", "+1", " 1 ", "1.", ".5e1", "1/1", "0" * 399 + "1"):
        with subtests.test(text=text):
            assert OutputGrid.build(-1, text).upper > 0


NO_OTHER_SPELLING_IS_A_BOUND = ("\u0661", "\uff11", "1_0", "0x1", "1e1234", "1e+1e1", "1/-1", "")


def test_no_other_spelling_is_a_bound(subtests):
    """Among them digits of other scripts, which Fraction itself would take."""
    for text in NO_OTHER_SPELLING_IS_A_BOUND:
        with (
            subtests.test(text=text),
            pytest.raises(ValueError, match=r"^upper must be a number such as"),
        ):
            OutputGrid.build(-10, text)


@pytest.mark.parametrize(
    ("lower", "upper", "reason"),
    [
        (Fraction(1), Fraction(0), "lower must be below upper"),
        (Fraction(0), Fraction(4, 3), r"OutputGrid\.build"),
        (Fraction(-1, 3), Fraction(1), r"OutputGrid\.build"),
    ],
)
def test_constructor_checks_both_bounds(lower, upper, reason):
    with pytest.raises(ValueError, match=reason):
        OutputGrid(lower, upper)
