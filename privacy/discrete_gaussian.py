"""Exact discrete Gaussian noise, P(Z = z) proportional to exp(-z^2/(2 v)) for a rational parameter v.

Integers only: no draw passes through a float, and no draw depends on the value that it will be added to.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import islice
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from privacy import discrete_laplace
from privacy.keystream import Keystream, process_keystream

MIN_VARIANCE = Fraction(1, 1024)
MAX_VARIANCE = Fraction(2**90)

TWO_SIDED_NORMAL = {
    Fraction(1, 20): Fraction(195997, 100000),
    Fraction(1, 100): Fraction(257583, 100000),
}
"""z with P(|N(0, 1)| > z) <= alpha, rounded up: 1.9599640 and 2.5758293."""


def sample(variance: Fraction, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
    """`size` independent draws of Z with P(Z = z) proportional to exp(-z^2 / (2 variance)).

    The variance parameter is in squared integer units, from 1/1024 to 2^90; anything else is a ValueError.
    The variance of Z is at most that, and equal to it within 10^-14 of itself for a parameter of 1 or more.

    Method (Canonne, Kamath, Steinke 2020, "The Discrete Gaussian for Differential Privacy", Algorithm 3).
    With t = floor(sqrt(v)) + 1, draw Y from the discrete Laplace of scale t and accept it with probability
    exp(-(|Y| - v/t)^2 / (2 v)). The accepted law is proportional to
        exp(-|y|/t) exp(-(|y| - v/t)^2/(2 v)) = exp(-y^2/(2 v)) exp(-v/(2 t^2)),
    whose last factor is constant. About half of the draws or more are accepted.
    The Laplace draws are exact up to the cut-off that `discrete_laplace.sample` bounds, acceptance is exact.
    """
    exact = check_variance(variance)
    stream = keystream if keystream is not None else process_keystream()
    accepted: list[int] = []
    while wanted := size - len(accepted):
        # two candidates for each draw still wanted: nearly always the last round
        candidates = discrete_laplace.sample(Fraction(_laplace_scale(exact)), 2 * wanted, keystream=stream)
        passing = (y for y in map(int, candidates) if _accept(y, exact, stream=stream))
        accepted += islice(passing, wanted)
    return np.array(accepted, np.int64)


def half_width(variance: Fraction, *, alpha: Fraction) -> int:
    """An integer h with P(|Z| > h) <= alpha, for alpha 1/20 or 1/100: ceil(z sqrt(variance)).

    P(|Z| > h) = 2 P(Z >= h + 1) <= 2 P(N(0, v) >= h) for integers h >= 0 (same paper, Proposition 25), and
    the right side is at most alpha once h >= z sqrt(v). Raises ValueError for any other alpha.
    """
    if alpha not in TWO_SIDED_NORMAL:
        raise ValueError("alpha must be 1/20 or 1/100.")
    return ceil_sqrt(TWO_SIDED_NORMAL[alpha] ** 2 * check_variance(variance))


def ceil_sqrt(value: Fraction) -> int:
    """Smallest integer whose square is at least `value`, which is not negative."""
    at_least = -(-value.numerator // value.denominator)
    return isqrt(at_least - 1) + 1 if at_least else 0


def check_variance(variance: Fraction) -> Fraction:
    """The variance as a Fraction, or ValueError."""
    if not isinstance(variance, Fraction | int):
        raise ValueError("the variance must be an exact fraction.")
    if variance < MIN_VARIANCE:
        raise ValueError("the variance is below 1/1024 of a squared unit, which is no noise; lower epsilon.")
    if variance > MAX_VARIANCE:
        raise ValueError("the variance is beyond 2^90 squared units, too wide for integers; raise epsilon.")
    return Fraction(variance)


def _laplace_scale(variance: Fraction) -> int:
    return isqrt(variance.numerator // variance.denominator) + 1


def _accept(y: int, variance: Fraction, *, stream: Keystream) -> bool:
    """True with probability exp(-(|y| - v/t)^2 / (2 v))."""
    t = _laplace_scale(variance)
    excess = abs(y) * t * variance.denominator - variance.numerator
    # with v = n/d the exponent is (|y| t d - n)^2 / (2 n d t^2)
    return bernoulli_exp(
        excess * excess, 2 * variance.numerator * variance.denominator * t * t, stream=stream
    )


def bernoulli_exp(numerator: int, denominator: int, *, stream: Keystream) -> bool:
    """True with probability exp(-numerator/denominator), exactly, for a fraction that is not negative.

    (Same paper, Algorithm 1.) Write x = w + f with an integer w and 0 <= f < 1: exp(-x) is the probability
    that w draws of exp(-1) and one of exp(-f) all succeed.
    """
    whole, part = divmod(numerator, denominator)
    for _ in range(whole):
        if not _bernoulli_exp_below_one(1, 1, stream=stream):
            return False
    return _bernoulli_exp_below_one(part, denominator, stream=stream)


def _bernoulli_exp_below_one(numerator: int, denominator: int, *, stream: Keystream) -> bool:
    """True with probability exp(-x), x = numerator/denominator from 0 to 1.

    Draw A_k true with probability x/k for k = 1, 2, ... until one is false, at k = K. P(K > k) = x^k / k!, so
    P(K odd) = sum over even k of (x^k/k! - x^(k+1)/(k+1)!) = exp(-x).
    """
    k = 1
    while stream.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1
