"""Statistical checks of the privacy package, as plain functions over the thing under test.

Each check raises AssertionError when what it is given cannot be right, and gives a false alarm with
probability about 10^-6 (privacy design, section 5). The tests run them on the real code, `test_mutants` on
broken copies. The expected laws are written out here a second time, in floats, so that the package does not
mark its own work. `epsilon_audit` holds T2, `person_checks` T7.
"""

import math
import os
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from length import at_length
from scipy import stats

ALPHA = 1e-6

Draw = Callable[[int], np.ndarray]
"""n independent noise values, in units in which the claimed scale is known."""

Releases = Callable[[int], np.ndarray]
"""n independent releases of one data set, as an (n, outputs) array."""


# --- T1, T3: the distribution of one draw ---------------------------------------------------------------


def check_distribution(draw: Draw, *, scale: Fraction, size: int = 10_000) -> None:
    """T1: chi-square on 40 bins that the exact law makes equally likely, as far as integers allow."""
    edges, expected = _discrete_laplace_bins(scale, size=size)
    counts = np.bincount(np.searchsorted(edges, draw(size)), minlength=len(expected))
    check_chi_square(counts, expected)


def check_standard_laplace(draw: Draw, *, size: int = 4_000) -> None:
    """T1 for noise in units of its scale, when that is so many grid steps that the law is continuous."""
    noise = draw(at_length(size))
    check_uniform(np.where(noise < 0, np.exp(-np.abs(noise)) / 2, 1 - np.exp(-np.abs(noise)) / 2))


def check_standard_normal(draw: Draw, *, size: int = 4_000) -> None:
    """T1 for Gaussian noise in units of its standard deviation, wide enough to be continuous."""
    check_uniform(stats.norm.cdf(draw(at_length(size))))


def check_discrete_gaussian(draw: Draw, *, variance: Fraction, size: int = 10_000) -> None:
    """T1 on single values, and tails: every value that is expected 50 times is a bin of its own."""
    reach = math.ceil(8 * math.sqrt(variance)) + 1
    values = np.arange(-reach, reach + 1)
    law = np.exp(-(values.astype(float) ** 2) / (2 * float(variance)))
    expected = size * law / law.sum()
    inside = np.flatnonzero(expected >= 50)
    first, last = inside[0], inside[-1]
    bins = [expected[:first].sum(), *expected[first : last + 1], expected[last + 1 :].sum()]
    drawn = draw(size)
    assert np.abs(drawn).max() <= reach, "a draw beyond eight standard deviations"
    counts = [
        np.count_nonzero(drawn < values[first]),
        *(np.count_nonzero(drawn == value) for value in values[first : last + 1]),
        np.count_nonzero(drawn > values[last]),
    ]
    # both tails are one bin: each alone may be expected too rarely
    check_chi_square(
        np.array([counts[0] + counts[-1] + counts[1], *counts[2:-1]]),
        np.array([bins[0] + bins[-1] + bins[1], *bins[2:-1]]),
    )


def check_mean_magnitude(draw: Draw, *, scale: Fraction, size: int = 50_000) -> None:
    """T1 extra: z-test of mean |Z|, which sees a scale that is off by 2.3%."""
    a = math.exp(-1 / scale)
    mean = -2 * a / math.expm1(-2 / scale)
    variance = 2 * a / math.expm1(-1 / scale) ** 2 - mean**2
    z = (np.abs(draw(size)).mean() - mean) / math.sqrt(variance / size)
    assert abs(z) <= 5, f"mean |Z| is {z:.1f} standard errors off"


def check_small_noise(draw: Draw, *, scale: float) -> None:
    """T3: of 500 draws 47.6 are expected within a tenth of the scale; at most 15 has probability 10^-8."""
    small = np.count_nonzero(np.abs(draw(500)) < 0.1 * scale)
    assert small > 15, f"{small} of 500 draws are small: small noise is avoided"


def check_same_distribution(one: np.ndarray, other: np.ndarray) -> None:
    """Chi-square of homogeneity on 40 bins cut at the quantiles of both samples together."""
    edges = np.unique(np.quantile(np.concatenate([one, other]), np.arange(1, 40) / 40))
    table = [np.bincount(np.searchsorted(edges, values), minlength=len(edges) + 1) for values in (one, other)]
    table = np.array(table)[:, np.sum(table, axis=0) >= 50]
    p = stats.chi2_contingency(table).pvalue
    assert p >= ALPHA, f"two samples differ: p = {p:.1e}"


def check_uniform(values: np.ndarray) -> None:
    """Chi-square of numbers in [0, 1] on 40 equal bins."""
    counts = np.histogram(values, bins=40, range=(0, 1))[0]
    assert counts.sum() == len(values)
    check_chi_square(counts, np.full(40, len(values) / 40))


def check_chi_square(counts: np.ndarray, expected: np.ndarray) -> None:
    p = stats.chisquare(counts, expected).pvalue if len(counts) > 1 else 1.0
    assert p >= ALPHA, f"not the stated distribution: p = {p:.1e}"


def _discrete_laplace_bins(scale: Fraction, *, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Upper ends of all bins but the last, and expected counts; no bin is expected to hold under 50."""
    a = math.exp(-1 / scale)

    def cdf(z: np.ndarray) -> np.ndarray:
        below = np.exp(-np.abs(z) / float(scale)) / (1 + a)
        return np.where(z < 0, below, 1 - a * below)

    share = np.arange(1, 20) / 40
    left = np.floor(float(scale) * np.log(share * (1 + a)))
    edges = np.unique(np.concatenate([left, [0], -left - 1]))
    edges = edges[np.minimum(cdf(edges), 1 - cdf(edges)) * size >= 50]
    return edges, size * np.diff(np.concatenate([[0], cdf(edges), [1]]))


# --- T5: is noise ever used twice -----------------------------------------------------------------------


def check_fresh_noise(noise: Draw, *, pairs: int = 2_000) -> None:
    """T5: two releases of the same data never agree, and differ by the difference of two Laplace draws.

    `noise` is in units of its scale, which must be at least 10^9 grid steps: an honest pair then agrees
    with probability 1 / (4 * 10^9), and 1,000 pairs are looked at.
    """
    difference = noise(at_length(pairs)) - noise(at_length(pairs))
    assert np.count_nonzero(difference[:1_000] == 0) == 0, "two releases carry the same noise"
    # X - Y of two standard Laplace draws has P(X - Y > x) = (2 + x) e^-x / 4 for x >= 0
    far = np.abs(difference)
    beyond = (2 + far) * np.exp(-far) / 4
    check_uniform(np.where(difference < 0, beyond, 1 - beyond))


def check_independent_outputs(noise: Callable[[int], np.ndarray]) -> None:
    """T5: the outputs of one release carry different, uncorrelated noise. Columns in units of their scale,
    which must be at least 10^9 grid steps, as in `check_fresh_noise`."""
    drawn = noise(2_000)
    assert np.count_nonzero(drawn[:1_000, 0] == drawn[:1_000, 1]) == 0, "outputs share their noise"
    check_uncorrelated(drawn)


def check_uncorrelated(drawn: np.ndarray) -> None:
    """T5 for noise of few steps, where honest draws of two columns are often the same number."""
    correlation = np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]
    assert abs(correlation) < 5 / math.sqrt(len(drawn)), f"noise of two outputs correlates: {correlation:.2f}"


def check_unseedable(draw: Callable[[], object]) -> None:
    """T5: seeding the generators that a pipeline or library may seed does not repeat the noise."""
    before = random.getstate(), np.random.get_state()
    drawn = []
    for _ in range(2):
        random.seed(0)
        np.random.seed(0)
        drawn.append(draw())
    random.setstate(before[0])
    np.random.set_state(before[1])
    assert drawn[0] != drawn[1], "noise follows a seed"


def check_fork(draw: Callable[[], bytes]) -> None:
    """T5: a parent and its forked children draw different noise."""
    draw()
    drawn = [_in_child(draw), _in_child(draw), draw()]
    assert len(set(drawn)) == 3, "noise repeats after a fork"


def _in_child(draw: Callable[[], bytes]) -> bytes:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writer, draw())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        drawn = pipe.read()
    os.waitpid(pid, 0)
    assert drawn
    return drawn


# --- T6: do the low bits tell data sets apart -----------------------------------------------------------


def check_on_grid(aggregate: Any, blocks: Sequence, *, size: int = 1_000) -> None:
    """T6: every released number is a whole number of grid steps, whatever the data."""
    for _ in range(at_length(size)):
        for output, grid in zip(aggregate.release(blocks), aggregate.grids, strict=True):
            for number in (output.value, *(output.sampling_95 or ())):
                assert (number / grid.step).denominator == 1, "a released value is off the grid"


def share_of_fine_bits(values: np.ndarray) -> float:
    """T6, the attack: share of floats that are not multiples of 2^-53.

    A float sum 1 + z is always a multiple; 0 + z is not in a fifth of all cases. So one hit proves that the
    true value was 0 and not 1. (Haney, Desfontaines, Hartman, Shrestha, Hay 2022, "Precision-based attacks".)
    """
    scaled = np.ldexp(values, 53)
    return float(np.mean(scaled != np.floor(scaled)))


def check_no_fine_bits(releases: Releases, *, size: int = 1_000) -> None:
    share = share_of_fine_bits(releases(at_length(size)))
    assert share == 0, f"fine bits identify the data in {share:.0%} of releases"
