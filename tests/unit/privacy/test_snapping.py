"""An array goes to grid steps exactly as single numbers do, or the grid is refused."""

from fractions import Fraction

import numpy as np
import pytest

from privacy.grid import OutputGrid
from privacy.perturbation.snapping import MAX_UNITS, Snapping


def test_a_grid_that_leaves_64_bits_is_refused():
    """2^40 from zero in steps of 2^-21 is 2^61 steps: one too many to add noise to."""
    lower = 2**40 - 1
    grid = OutputGrid.build(lower, lower + Fraction(1, 2))
    assert grid.upper / grid.step < MAX_UNITS
    Snapping(grid)
    beyond = OutputGrid.build(2**40, 2**40 + Fraction(1, 2))
    assert beyond.lower / beyond.step == MAX_UNITS
    with pytest.raises(ValueError, match="too fine for 64-bit numbers"):
        Snapping(beyond)
    # one end is as far from zero as that, the other is not
    for lower in (2**40 - Fraction(1, 2), -(2**40)):
        with pytest.raises(ValueError, match="subtract a public constant"):
            Snapping(OutputGrid.build(lower, lower + Fraction(1, 2)))


def test_bounds_that_are_no_floats_are_kept_exactly():
    """2^53 + 1 is no double: clipped to the nearest float, a value would lie one step below the range."""
    grid = OutputGrid.build(2**53 + 1, 2**53 + 2**20 + 1)
    assert grid.step == 1
    assert Fraction(float(grid.lower)) < grid.lower
    within = np.array([2.0**53 + 2, 2.0**53 + 2**19, 2.0**53 + 2**20])
    assert Snapping(grid).units(within).tolist() == [int(value) for value in within]
    beyond = Snapping(grid).units(np.array([0.0, 2.0**53, 2.0**53 + 2**20 + 2, 2.0**60]))
    assert beyond.min() == grid.lower
    assert beyond.max() <= grid.upper


@pytest.mark.parametrize("upper", [2**53 + 2**20 + 1, 2**53 + 2**20 + 2])
def test_one_bound_that_is_no_float_is_enough_for_care(upper):
    grid = OutputGrid.build(2**53 + 1, upper)
    units = Snapping(grid).units(np.array([0.0, 1e300]))
    assert grid.lower <= units.min() <= units.max() <= grid.upper


def test_values_are_not_written_over():
    values = np.array([-1e9, 0.3, 1e9])
    Snapping(OutputGrid.build(-1, 1)).units(values)
    assert values.tolist() == [-1e9, 0.3, 1e9]
