"""An interval for what the whole population would give, from noised numbers alone.

Must be given nothing but released and public numbers: it is post-processing, and costs nothing by itself.
"""

from __future__ import annotations

from fractions import Fraction

from privacy.discrete_gaussian import ceil_sqrt
from privacy.grid import OutputGrid

QUARTILES = Fraction(1, 4), Fraction(3, 4)

_NORMAL_95 = Fraction(196, 100)
_QUARTILE_DISTANCE = Fraction(1349, 1000)
"""Of a normal law, in standard deviations."""

_PI = Fraction(355, 113)


def sampling_interval(
    value: Fraction, *, grid: OutputGrid, quartiles: tuple[int, int], blocks: int, variance: Fraction
) -> tuple[Fraction, Fraction]:
    """95% interval around a released value: half width 1.96 sqrt(variance + s^2/blocks), on the grid.

    `quartiles` are the released quartiles of the run outputs, in grid units, and s = IQR/1.349 estimates the
    standard deviation of one block's output. The mean over disjoint blocks varies by s^2/blocks; repeats of
    the partition look at the same people again and do not change that. `variance` is of the noise, in squared
    grid units of the value.

    Measured coverage for normal data, 10 to 50 people a block and epsilon 1 or 4: 94% to 98% for means and
    for medians of 50 blocks or more. It leans on outputs of blocks being about normal and unbiased: neither
    the noise nor this interval sees that an analysis is biased in small blocks or that outputs were clamped.
    Of yes-or-no answers 74% to 99% of the intervals of means held the population's, of answers with a long
    tail 74% to 95%, of those that heap at a bound 71% to 93%; of medians whose blocks are few or nearly
    agree, as few as 40%.
    """
    spread = block_spread(quartiles)
    half = _NORMAL_95**2 * (variance + spread**2 / blocks)
    steps = ceil_sqrt(half) * grid.step
    return value - steps, value + steps


def mean_variance(
    quartiles: tuple[int, int], *, at: Fraction, grid: OutputGrid, blocks: int, noise: Fraction
) -> Fraction:
    """What a noised mean varies by beyond s^2/blocks, in squared grid units, where it came out `at` this
    point of the grid.

    The noise; and where quartiles are the same or noise has crossed them, the most that blocks can vary by.
    Numbers between 0 and K with the mean m have a variance of m (K - m) at most (Bhatia, Davis 2000). Of
    means within 1.96 deviations of the noise the one nearest the middle takes the place of m. Without it, of
    400 yes-or-no answers with 2% of yes one interval in nine held the population's share at epsilon 10.
    """
    if block_spread(quartiles):
        return noise
    reach = ceil_sqrt(_NORMAL_95**2 * noise)
    nearest = min(max(Fraction(grid.cells, 2), at - reach), at + reach)
    mean = min(max(nearest, Fraction(0)), Fraction(grid.cells))
    return noise + mean * (grid.cells - mean) / blocks


def median_variance(
    quartiles: tuple[int, int], *, grid: OutputGrid, blocks: int, epsilon: Fraction
) -> Fraction:
    """What a private median varies by beyond s^2/blocks, in squared grid units.

    The median of b normal numbers varies by (pi/2) s^2/b. The exponential mechanism misses the middle rank
    of r b outputs by about a Laplace draw of scale 2 r/epsilon, which is a share 2/(b epsilon) of all; near
    the median one share of 1 is sqrt(2 pi) s wide. So the draw adds 2 * 2 pi s^2 * (2/(b epsilon))^2.

    Quartiles that noise has crossed say nothing about s, and without s nothing is known about a median's
    error: the whole range then takes the place of s.
    """
    spread = block_spread(quartiles) or Fraction(grid.cells)
    return spread**2 * ((_PI / 2 - 1) / blocks + 16 * _PI / (blocks * epsilon) ** 2)


def block_spread(quartiles: tuple[int, int]) -> Fraction:
    """Standard deviation of one block's output, estimated from two quartiles; 0 where noise crossed them."""
    low, high = quartiles
    return max(0, high - low) / _QUARTILE_DISTANCE
