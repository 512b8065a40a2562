import math
from fractions import Fraction

import pytest

from privacy.grid import OutputGrid
from privacy.sampling_interval import block_spread, mean_variance, median_variance, sampling_interval

GRID = OutputGrid.build(0, 1024)
UNITS = int(1 / GRID.step)


def test_half_width_is_the_stated_formula_rounded_up_to_the_grid():
    low, high = sampling_interval(
        Fraction(500), grid=GRID, quartiles=(0, 1349 * UNITS), blocks=25, variance=Fraction(30 * UNITS) ** 2
    )
    half = 1.96 * math.sqrt(30**2 + 1000**2 / 25)
    assert high - 500 == 500 - low
    assert half <= high - 500 < half + 2 * GRID.step
    assert ((high - 500) / GRID.step).denominator == 1


def test_quartiles_that_noise_has_crossed_leave_the_noise_alone():
    low, high = sampling_interval(
        Fraction(0), grid=GRID, quartiles=(9, 3), blocks=4, variance=Fraction(100 * UNITS) ** 2
    )
    assert (low, high) == (-196, 196)


def test_spread_of_a_normal_law():
    assert block_spread((100, 1449)) == 1000


def test_a_median_varies_more_than_a_mean_of_the_same_blocks():
    extra = median_variance((0, 1349), grid=GRID, blocks=100, epsilon=Fraction(1))
    assert float(extra) == pytest.approx(
        1000**2 * ((math.pi / 2 - 1) / 100 + 16 * math.pi / 100**2), rel=1e-5
    )


def test_a_median_without_a_spread_may_be_anywhere():
    crossed = median_variance((9, 3), grid=GRID, blocks=100, epsilon=Fraction(1))
    half = 1349 * GRID.cells // 1000
    known = median_variance((0, half), grid=GRID, blocks=100, epsilon=Fraction(1))
    assert crossed == pytest.approx(known, rel=1e-5)


@pytest.mark.parametrize(
    ("at", "noise", "mean"),
    [
        (0.25, 0, 0.25),
        (0.25, 0.05, 0.25 + 1.96 * 0.05),
        (0.75, 0.05, 0.75 - 1.96 * 0.05),
        (0.45, 0.1, 0.5),
        (-3, 0.01, 0),
        (9, 0.01, 1),
    ],
)
def test_a_mean_without_a_spread_may_vary_as_far_as_its_bounds_allow(at, noise, mean):
    """In parts of the range: the mean nearest the middle that the noise leaves open, between the bounds."""
    cells = GRID.cells
    of_noise = Fraction(noise) ** 2 * cells**2
    for quartiles in ((5, 5), (9, 3)):
        found = mean_variance(quartiles, at=Fraction(at) * cells, grid=GRID, blocks=25, noise=of_noise)
        assert float(found) / cells**2 == pytest.approx(noise**2 + mean * (1 - mean) / 25, rel=1e-4)


def test_a_mean_with_a_spread_varies_by_its_noise_beside_it():
    assert mean_variance((3, 9), at=Fraction(7), grid=GRID, blocks=25, noise=Fraction(4)) == 4
