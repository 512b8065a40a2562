"""Discrete Gaussian noise by the million, P(Z = z) proportional to exp(-z^2/(2 v)), v a large whole number.

Integers only. Single draws of any variance are the business of a rejection sampler; this one adds up a few
table look-ups and has no rejection.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from privacy.finite_law import FiniteLaw, law_of_weights
from privacy.geometric_digits import exp_fraction
from privacy.keystream import Keystream, process_keystream

MIN_VARIANCE = 12
MAX_VARIANCE = 2**100

_BASE_BITS = 6
_BASE = 2**_BASE_BITS
_LOW_VARIANCE = 12 * _BASE**2
"""Variance of every part but the topmost: with 12 or more there, tau^2 >= 6 in the theorem below."""

_WIDE = 2**17
"""A variance above this is split, which leaves (2^17 - 12 B^2)/B^2 = 20 or more to the topmost part."""

_REACH = 18
"""A part is cut off at this many standard deviations: 2^-234 of its mass."""

_CHUNK = 2**14
_BITS = 448


@dataclass(frozen=True, eq=False)
class _Part:
    """A discrete Gaussian on {-reach..reach}; `law` draws it moved to {0..2 reach}."""

    law: FiniteLaw
    reach: int


def sample(variance: int, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
    """`size` independent draws of Z = Y_0 + B Y_1 + ... + B^n Y_n, B = 64, independent discrete Gaussians.

    Whole variances from 12 to 2^100; anything else is a ValueError.

    Theorem. Let P(Y = y) ~ exp(-y^2/(2s)) and P(W = w) ~ exp(-w^2/(2r)) on the integers, independent, and
    1/r + B^2/s <= 1/6. Then Y + B W has the probabilities of the discrete Gaussian of variance parameter
    s + B^2 r, up to a factor within 1 -+ 2^-167.
    Proof. P(Y + B W = x) ~ sum_w exp(-(x - B w)^2/(2s) - w^2/(2r)). Completing the square, the exponent is
    -x^2/(2(s + B^2 r)) - (w - c)^2/(2 tau^2) with 1/tau^2 = 1/r + B^2/s and c = x B tau^2/s. By Poisson
    summation sum_w exp(-(w - c)^2/(2 tau^2)) = tau sqrt(2 pi) (1 + 2 sum_(k>=1) exp(-2 pi^2 tau^2 k^2)
    cos(2 pi k c)), and tau^2 >= 6 keeps the sum over k below 2^-169, whatever x is. QED.
    (The convolution of Peikert 2010, Theorem 3.1, with the error written out.)

    Here s = 12 B^2 for every part but the topmost, whose r is a fraction of at least 12, so the theorem
    applies from the top down, at most 8 times: all probabilities are right up to a factor within 1 -+ 2^-163.
    Each part is cut off at 18 standard deviations and its probabilities are rounded to 2^-448: together less
    than 2^-220 of the mass. So where exact draws are (epsilon, delta)-DP with epsilon <= 30, these are
    (epsilon, delta + 2^-160)-DP: P'(S) <= (1 + 2^-163) (e^epsilon Q(S) + delta) + 2^-220 and Q(S) <=
    (1 + 2^-162) Q'(S) + 2^-220; where e^epsilon Q'(S) > 1 there is nothing to prove, and elsewhere the excess
    is below 2^-161 + e^30 2^-219.
    """
    parts = _parts(_check_variance(variance))
    stream = keystream if keystream is not None else process_keystream()
    out = np.empty(size, np.int64)
    for start in range(0, size, _CHUNK):
        part = out[start : start + _CHUNK]
        part[:] = _sum_of_parts(parts, part.size, stream=stream)
    return out


def _sum_of_parts(parts: tuple[_Part, ...], n: int, *, stream: Keystream) -> NDArray[np.int64]:
    total = np.zeros(n, np.int64)
    for part in reversed(parts):
        total <<= _BASE_BITS
        total += part.law.draw(n, stream=stream)
        total -= part.reach
    return total


@lru_cache(maxsize=64)
def _parts(variance: int) -> tuple[_Part, ...]:
    """Lowest first: v = 12 B^2 (1 + B^2 + ... + B^(2n-2)) + B^(2n) r with 12 <= r <= 2^17."""
    rest, lower = Fraction(variance), 0
    while rest > _WIDE:
        rest = (rest - _LOW_VARIANCE) / _BASE**2
        lower += 1
    return (*[_part(Fraction(_LOW_VARIANCE))] * lower, _part(rest))


@lru_cache(maxsize=64)
def _part(variance: Fraction) -> _Part:
    """Weights exp(-k^2/(2v)) in units of 2^-512: w(k+1) = w(k) q(k), q(k+1) = q(k) exp(-1/v)."""
    bits = _BITS + 64
    reach = _reach(variance)
    step = exp_fraction(-1 / variance, bits=bits)
    weight, ratio, half = 1 << bits, exp_fraction(-1 / (2 * variance), bits=bits), []
    for _ in range(reach):
        weight = weight * ratio >> bits
        ratio = ratio * step >> bits
        half.append(weight)
    return _Part(law_of_weights([*reversed(half), 1 << bits, *half], bits=_BITS), reach)


def _reach(variance: Fraction) -> int:
    reach = 1
    while reach**2 < _REACH**2 * variance:
        reach += max(1, reach // 16)
    return reach


def _check_variance(variance: int) -> int:
    if isinstance(variance, bool) or not isinstance(variance, int):
        raise ValueError("the variance must be a whole number of squared units.")
    if not MIN_VARIANCE <= variance <= MAX_VARIANCE:
        raise ValueError("the variance must be from 12 to 2^100 squared units; change epsilon or the range.")
    return variance
