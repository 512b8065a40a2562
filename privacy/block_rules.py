"""Which blocks, repeats, aggregator and noise to choose, from public numbers and before any data is read.

Rules of utility: no guarantee depends on them. They were measured on means, slopes and correlations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from typing import Literal

from privacy.partition import MIN_BLOCK_SIZE, MIN_BLOCKS

Aggregator = Literal["clipped_mean", "median"]

FEW_PEOPLE = 500
"""Below this nominal size the luck of one partition shows, and repeats are worth their runs: at 272 people it
is more than half of the error, in squares, where noise is small."""

_PI = Fraction(355, 113)
_FINER_FROM = 100
_STEPS = (1, 2, 3, 5, *(digit * 10**power for power in range(1, 6) for digit in (1, 2, 5)))


def candidate_block_sizes(nominal_size: int, *, least: int = MIN_BLOCK_SIZE) -> tuple[int, ...]:
    """What is worth trying on a twin: 1, 2, 3, 5, and 10, 20, 50, 100, 200, 500 and so on, from `least` up
    to two blocks; `least` itself, where it is allowed. From 100 people on also 7: of what is biased in few
    people the best size is often between 5 and 10."""
    most, finer = nominal_size // MIN_BLOCKS, {7} if nominal_size >= _FINER_FROM else set()
    return tuple(sorted(size for size in {least, *finer, *_STEPS} if least <= size <= most))


def block_sizes_around(ran: int, *, nominal_size: int, least: int, most: int) -> tuple[int, ...]:
    """The size that ran on the twin and those of `candidate_block_sizes` that are nearest to it as a ratio,
    `most` in all."""
    possible = candidate_block_sizes(nominal_size, least=least)
    others = {size for size in possible if size in _STEPS or size == least} - {ran}
    nearest = sorted(others, key=lambda size: (abs(math.log(size / ran)), size))
    return tuple(sorted({ran, *nearest[: most - 1]}))


def recommended_repeats(nominal_size: int) -> int:
    """3 below 500 people, else 1. Repeats leave the noise as it is and cost runs in proportion."""
    return 3 if nominal_size < FEW_PEOPLE else 1


def pull_of_free_slots(block_size: int, *, free: Fraction) -> Fraction:
    """The share of the way to the middle of its bounds that a mean over blocks is pulled where a share `free`
    of the slots has nobody: that of the blocks without anybody, about free^size."""
    return free**block_size


def median_min_blocks(spread_ratio: Fraction | int, *, epsilon: Fraction) -> int:
    """Fewest blocks with which a median is usable: 1.25 (4/epsilon) ln(20 R/s), rounded up.

    `spread_ratio` R/s is the width of the declared range over the standard deviation of one block's output,
    `epsilon` what the output's value is bought with. Usable: within one s of the middle block 95 times in
    100. The wrong ranks hold about R/s times as many points as the right ones, which b epsilon/4 must beat;
    the factor 1.25 is measured (24, 36, 46 blocks at epsilon 1 for ratios 6, 60, 600).
    """
    return _ceil(5 / epsilon, times_ln_of=20 * Fraction(spread_ratio))


def prefers_median(
    spread_ratio: Fraction | int, *, blocks: int, epsilon: Fraction, of_mean: Fraction
) -> bool:
    """Whether a median is usable and expected to vary less than a clipped mean, both in units of s^2.

    Mean: 1/b + v (R/s)^2/b^2, where v = `of_mean` is the variance of the noise that it would get, in squares
    of what one person moves its sum: 2/epsilon^2 for Laplace noise, less for joint noise. Median:
    (pi/2)/b + 16 pi/(b epsilon)^2 (`sampling_interval`).
    """
    if blocks < median_min_blocks(spread_ratio, epsilon=epsilon):
        return False
    mean = Fraction(1, blocks) + of_mean * Fraction(spread_ratio) ** 2 / blocks**2
    return mean > median_variance_in_spreads(blocks, epsilon)


def median_variance_in_spreads(blocks: int, epsilon: Fraction) -> Fraction:
    """What a usable median is expected to vary, in units of s^2."""
    return _PI / 2 / blocks + 16 * _PI / (blocks * epsilon) ** 2


MeanVariances = Callable[[Sequence[Aggregator]], Sequence[Fraction]]
"""Of every output as a mean beside these aggregators of the others, in squares of what one person moves."""


def resolve_aggregators(
    spread_ratios: Sequence[Fraction | int],
    *,
    blocks: int,
    epsilons: Sequence[Fraction],
    variances: MeanVariances,
) -> tuple[Aggregator, ...]:
    """An aggregator for every output, decided before data from R/s, the blocks, the outputs' epsilons and the
    noise that means would get.

    All start as means. Joint noise of fewer means is wider for each, so what prefers a median goes on to
    do so when others have left, and asking again until nobody leaves ends after as many rounds as outputs.
    """
    found = (_aggregator(is_median=False),) * len(spread_ratios)
    while True:
        asked = zip(found, spread_ratios, epsilons, variances(found), strict=True)
        left = tuple(
            _aggregator(
                is_median=kept == "median"
                or prefers_median(ratio, blocks=blocks, epsilon=epsilon, of_mean=variance)
            )
            for kept, ratio, epsilon, variance in asked
        )
        if left == found:
            return found
        found = left


def _aggregator(*, is_median: bool) -> Aggregator:
    return "median" if is_median else "clipped_mean"


def _ceil(factor: Fraction, *, times_ln_of: Fraction) -> int:
    with localcontext(Context(prec=50)):
        logarithm = (Decimal(times_ln_of.numerator) / times_ln_of.denominator).ln()
        product = logarithm * factor.numerator / factor.denominator
        return int(product.to_integral_value(rounding=ROUND_CEILING))
