"""Statistical checks of local perturbation, as plain functions over the thing under test.

As in `checks`, each raises AssertionError when what it is given cannot be right, gives a false alarm with
probability about 10^-6, and has the expected laws written out a second time, in floats.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from checks import ALPHA, Draw, check_chi_square
from scipy import stats

Perturb = Callable[[np.ndarray], np.ndarray]
"""An array to its perturbed twin, of the same shape."""


# --- T1: laws that `checks` does not have ----------------------------------------------------------------


def check_wide_gaussian(draw: Draw, *, variance: int, size: int = 10_000) -> None:
    """T1: chi-square on 40 bins that end between whole numbers, for a variance of 10^4 and more."""
    deviation = math.sqrt(variance)
    edges = np.unique(np.floor(deviation * stats.norm.ppf(np.arange(1, 40) / 40)))
    cdf = stats.norm.cdf((edges + 0.5) / deviation)
    counts = np.bincount(np.searchsorted(edges, draw(size)), minlength=len(edges) + 1)
    check_chi_square(counts, size * np.diff(np.concatenate([[0], cdf, [1]])))


def check_truncated_laplace(draw: Draw, *, scale: Fraction, bound: int, size: int = 10_000) -> None:
    """T1: chi-square on 40 equally likely bins of a law on {-bound..bound}, and no draw beyond."""
    drawn = draw(size)
    assert np.abs(drawn).max() <= bound, "a draw lies beyond the bound"
    t, reach = float(scale), bound + 0.5
    share = np.arange(1, 20) / 40
    inside = -math.expm1(-reach / t)
    # P(Z < -x) = (e^(-x/t) - e^(-reach/t)) / (2 inside)
    left = np.floor(t * np.log(2 * inside * share + math.exp(-reach / t)))
    edges = np.unique(np.concatenate([left, -left - 1]))
    below = (np.exp(-np.abs(edges + 0.5) / t) - math.exp(-reach / t)) / (2 * inside)
    cdf = np.where(edges + 0.5 < 0, below, 1 - below)
    counts = np.bincount(np.searchsorted(edges, drawn), minlength=len(edges) + 1)
    check_chi_square(counts, size * np.diff(np.concatenate([[0], cdf, [1]])))


# --- T2, T4: what one run on many values proves -----------------------------------------------------------


def one_run_epsilon(perturb: Perturb, *, lower: float, upper: float, values: int = 100_000) -> float:
    """T4: a lower confidence bound on epsilon from ONE run, on values put at either bound at random.

    Whoever guesses each value's bit from its result is right with probability at most e^eps/(1 + e^eps), bit
    by bit, so the number of right guesses is at most binomial. (Steinke, Nasr, Jagielski 2023, for noise that
    is independent between values.) Two attackers share ALPHA: guessing all bits, and only the 5 % of results
    furthest out.
    """
    bits = np.random.default_rng().random(values) < 0.5
    results = perturb(np.where(bits, upper, lower))
    distance = results - (lower + upper) / 2
    furthest = np.abs(distance) >= np.quantile(np.abs(distance), 0.95)
    return max(_certain_epsilon((distance > 0) == bits), _certain_epsilon(((distance > 0) == bits)[furthest]))


def check_one_run(perturb: Perturb, *, lower: float, upper: float, epsilon: float) -> float:
    """No attacker proves more than epsilon. Returns the bound, to show that the audit has power."""
    bound = one_run_epsilon(perturb, lower=lower, upper=upper)
    assert bound <= epsilon, f"one run proves epsilon {bound:.2f}, claimed is {epsilon}"
    return bound


def check_certain_results(
    perturb: Perturb, *, lower: float, upper: float, reach: float, delta: float, values: int = 100_000
) -> int:
    """Bounded noise: results that only one end of the range can reach give the value away; at most a share
    delta of them may. Returns how many did."""
    certain = sum(
        int(np.count_nonzero(np.abs(perturb(np.full(values // 2, end)) - other) > reach))
        for end, other in ((lower, upper), (upper, lower))
    )
    most = stats.binom.isf(ALPHA, values, delta)
    assert certain <= most, f"{certain} of {values} results give the value away, {most:.0f} may"
    return certain


def _certain_epsilon(right: np.ndarray) -> float:
    count, total = int(right.sum()), right.size
    low = stats.beta.ppf(ALPHA / 2, count, total - count + 1)
    return max(0.0, math.log(low / (1 - low)))
