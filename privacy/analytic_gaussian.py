"""The analytic Gaussian mechanism on integers: the least variance for which (epsilon, delta) really holds.

Balle and Wang 2018, "Improving the Gaussian Mechanism for Differential Privacy: Analytical Calibration and
Optimal Denoising", Theorem 8, with the discrete Gaussian in place of the continuous one (Canonne, Kamath,
Steinke 2020, "The Discrete Gaussian for Differential Privacy", Theorem 7). All arithmetic is in decimals of
60 digits, rounded against us.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from privacy import gaussian_digits
from privacy.bounded_noise import check_atto_delta
from privacy.cost import ATTO
from privacy.gaussian_tail import upper_tail
from privacy.keystream import Keystream
from privacy.loss import MICRO, check_micro_epsilon

MAX_MICRO_EPSILON = 30 * MICRO
MIN_SENSITIVITY = 64
MAX_SENSITIVITY = 2**32

_PRECISION = 2**20
"""The variance is within 1 part in 2^20 of the least that the bounds below can show to be enough."""

_SLACK = Decimal(2) ** -100
"""For the difference between exact draws and those of gaussian_digits (2^-160), and for all roundings."""


@dataclass(frozen=True)
class AnalyticGaussian:
    """Z with P(Z = z) proportional to exp(-z^2/(2 v)), for integer values, v the least that is enough.

    Parameters: how far one value can move (64 to 2^32 units), micro-epsilon (up to 30), and delta in units of
    10^-18, at most 1 in 100. Raises ValueError otherwise.

    Theorem. Adding Z is (epsilon, delta)-DP for integer values that differ by at most D iff
        P(Z >= m) - e^epsilon P(Z >= m + D) <= delta,   m = ceil(epsilon v/D - D/2).
    Proof. Let values differ by d in 1..D. (By symmetry, the direction does not matter.) The ratio
    P(Z = z)/P(Z = z + d) = exp((2 z d + d^2)/(2 v)) grows with z, so the set that tells the two best is a ray
    {z >= c}: what has to be at most delta is the largest of P(Z >= c) - e^epsilon P(Z >= c + d) over c. For
    every c this grows with d, so d = D is the worst; and there z belongs to the ray iff the ratio is at least
    e^epsilon, that is, z >= epsilon v/D - D/2. QED. (The same for all log-concave noise.)

    `variance` is found by bisection among whole numbers and satisfies the theorem's inequality by certified
    bounds; that the inequality is monotone in v, as it is for the continuous law, is not relied on.
    """

    sensitivity: int
    micro_epsilon: int
    atto_delta: int

    def __post_init__(self) -> None:
        check_micro_epsilon(self.micro_epsilon)
        if self.micro_epsilon > MAX_MICRO_EPSILON:
            raise ValueError("Gaussian noise takes an epsilon of at most 30; use Laplace noise above that.")
        if (
            isinstance(self.sensitivity, bool)
            or not isinstance(self.sensitivity, int)
            or not MIN_SENSITIVITY <= self.sensitivity <= MAX_SENSITIVITY
        ):
            raise ValueError("the sensitivity is a whole number from 64 to 2^32 units; choose another grid.")
        check_atto_delta(self.atto_delta)

    @cached_property
    def variance(self) -> int:
        """v, in squared units of the values."""
        return _least_variance(self.sensitivity, self.micro_epsilon, self.atto_delta)

    def sample(self, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
        """`size` independent draws (gaussian_digits.sample: integers only)."""
        return gaussian_digits.sample(self.variance, size, keystream=keystream)


@lru_cache(maxsize=256)
def _least_variance(sensitivity: int, micro_epsilon: int, atto_delta: int) -> int:
    with localcontext(Context(prec=60)):
        target = Decimal(atto_delta) / ATTO - _SLACK

        def is_enough(variance: int) -> bool:
            return delta_at_most(variance, sensitivity=sensitivity, micro_epsilon=micro_epsilon) <= target

        # D = 8 s gives epsilon v/D - D/2 <= 0 for epsilon <= 30, and there delta is above 1/2
        enough = max(gaussian_digits.MIN_VARIANCE, sensitivity**2 // 64)
        while not is_enough(enough):
            enough *= 2
        too_small = enough // 2
        while enough - too_small > max(1, enough // _PRECISION):
            middle = (enough + too_small) // 2
            if is_enough(middle):
                enough = middle
            else:
                too_small = middle
        return enough


def delta_at_most(variance: int, *, sensitivity: int, micro_epsilon: int) -> Decimal:
    """An upper bound on the least delta of the theorem above, too large by about 1/variance."""
    with localcontext(Context(prec=60)):
        first = _first_of_ray(variance, sensitivity=sensitivity, micro_epsilon=micro_epsilon)
        growth = (Decimal(micro_epsilon) / MICRO).exp()
        _, near = tail_bounds(first, variance)
        far, _ = tail_bounds(first + sensitivity, variance)
        return near - growth * far


def tail_bounds(first: int, variance: int) -> tuple[Decimal, Decimal]:
    """P(Z >= first) from below and above, for a discrete Gaussian of variance parameter v >= 12.

    With g(x) = exp(-x^2/(2 v)) and s = sqrt(v): sum_(k>=m) g(k) is the midpoint rule for the integral of g
    from m - 1/2. On a cell of width 1 the rule is off by the integral of g'' times (1/2 - |t|)^2/2 <= 1/8, t
    being the distance from the midpoint; so in all by at most 1/8 of the integral of |g''|, the total
    variation of g' from m - 1/2 on. Beyond s, where g' rises to 0, that is |g'(m - 1/2)|; anywhere it is at
    most 4 exp(-1/2)/s, as g' has its extremes -+exp(-1/2)/s at +-s. The normaliser is sum_k g(k) =
    s sqrt(2 pi) (1 + e) with 0 < e < 2^-300 (Poisson summation, v >= 12). The last digits of the decimals are
    covered by 10^-45.
    """
    with localcontext(Context(prec=60)):
        deviation = Decimal(variance).sqrt()
        start = (Decimal(first) - Decimal("0.5")) / deviation
        if start >= 1:
            variation = start * (-start * start / 2).exp() / deviation
        else:
            variation = 4 * Decimal("-0.5").exp() / deviation
        # divided by 8 s sqrt(2 pi): sqrt(2 pi) > 5/2
        error = variation / (20 * deviation)
        tail = upper_tail(start)
        rounding = Decimal(10) ** -45 * tail
        return tail - error - rounding, tail + error + rounding


def _first_of_ray(variance: int, *, sensitivity: int, micro_epsilon: int) -> int:
    threshold = Fraction(micro_epsilon * variance, MICRO * sensitivity) - Fraction(sensitivity, 2)
    return -int(-threshold // 1)
