"""Laplace noise on the integers through floats: faster than the exact law, for a price in epsilon and delta.

Never the default, and only for local perturbation: `discrete_laplace` is exact at half the speed. What
is added to a value is an integer that does not depend on it, so the low bits of a result tell nothing.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privacy.cost import ATTO
from privacy.keystream import Keystream, process_keystream

MIN_SCALE = Fraction(1)
MAX_SCALE = Fraction(2**32)
EXTRA_MICRO_EPSILON = 20_000

_CHUNK = 2**15
_MAX_DELTA = Decimal("0.01")
_SIGN = np.int64(-(2**63))


def sample(scale: Fraction, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
    """`size` draws of about +-rint(-t ln u), u uniform on (0, 1), t = scale; see `price` for "about".

    A signed 64-bit word of the keystream, its lowest bit set, is uniform on the odd numbers: its sign decides
    the sign, and its magnitude / 2^63 is u, at the middle of one of 2^62 equal cells; u = 0 cannot occur.
    """
    t = float(_check_scale(scale))
    stream = keystream if keystream is not None else process_keystream()
    out = np.empty(size, np.int64)
    for start in range(0, size, _CHUNK):
        part = out[start : start + _CHUNK]
        part[:] = _draws(t, part.size, stream=stream)
    return out


def add_to(units: NDArray[np.float64], scale: Fraction, *, keystream: Keystream | None = None) -> None:
    """`sample` added in place to whole numbers that are kept as floats, each within 2^52 of zero.

    The sums stay below 2^53, where floats hold every whole number: they are those of the integers.
    """
    t = float(_check_scale(scale))
    stream = keystream if keystream is not None else process_keystream()
    for start in range(0, units.size, _CHUNK):
        part = units[start : start + _CHUNK]
        part += _draws(t, part.size, stream=stream)


def _draws(t: float, size: int, *, stream: Keystream) -> NDArray[np.float64]:
    """Whole numbers, as floats."""
    words = stream.words(size, np.uint64).view(np.int64)
    words |= 1
    noise = words.astype(np.float64)
    np.abs(noise, out=noise)
    noise *= 2.0**-63
    np.log(noise, out=noise)
    noise *= t
    # t ln u is negative: turned over where the word's sign bit is set, which is cheaper than copysign
    words &= _SIGN
    bits = noise.view(np.int64)
    bits ^= words
    return np.rint(noise, out=noise)


def price(micro_epsilon: int, scale: Fraction) -> tuple[int, int]:
    """What noise costs whose exact law would cost micro_epsilon: (micro-epsilon, atto-delta).

    Theorem. Let values differ by at most D = t epsilon units. Then adding `sample` at scale t, 1 <= t <=
    2^32, is (epsilon + 0.02, delta)-DP with delta = 210 (1 + e^(epsilon + 0.02)) t 2^-62.

    Proof. Ideal: X = -t ln U for continuous U, a fair sign, rounded to an integer. That is a rounded Laplace
    draw; shifting by an integer commutes with rounding, so it is epsilon-DP by post-processing. Its magnitude
    has p_k = P(|Z| = k) = 2 e^(-k/t) sinh(1/(2t)) >= e^(-k/t)/t for k >= 1, and P(Z = 0) = 1 - e^(-1/(2t)).
    Floats: the word becomes a double (u off by a factor within 1 +- 2^-53, hence ln u by 2^-52), log is off
    by at most 4 units in its last place, t and the product by half of one. As -ln u <= 63 ln 2 < 44, the
    magnitude is within eta = 2^-43 t <= 2^-11 of -t ln u. So the words that give k are, up to those within
    eta of the two ends, the words with k - 1/2 <= -t ln u <= k + 1/2; and an interval of length L holds 2^62
    L of the 2^62 values of u, give or take one. Hence the true probability is p_k (1 +- 4 eta) +- 2^-62,
    which is p_k up to a factor 1 +- x, x = 0.00996, wherever p_k >= 125 * 2^-62, since 4 eta + 1/125 < x. Let
    k_0 be the largest such k. The true probability of |Z| > k_0 is below 210 t 2^-62, that of |Z| > k_0 - D
    below e^(epsilon + 0.02) times as much. For any shift d <= D and all z with |z| <= k_0 - D, both z and z -
    d are within k_0, so P(Z = z) <= (1 + x)/(1 - x) e^epsilon P(Z = z - d); ln((1 + x)/(1 - x)) < 0.02. QED.

    Raises ValueError for an epsilon so large that this delta is above 0.01.

    The bound on the error of log is numpy's own and is measured by a test, not proved here: it is one reason
    why this variant is not the default.
    """
    with localcontext(Context(prec=60, rounding=ROUND_CEILING)):
        total = micro_epsilon + EXTRA_MICRO_EPSILON
        growth = 1 + (Decimal(total) / 10**6).exp()
        exact = _check_scale(scale)
        delta = 210 * growth * (Decimal(exact.numerator) / exact.denominator) / 2**62
    if delta > _MAX_DELTA:
        raise ValueError("at this epsilon the fast variant's delta is above 0.01; use the exact variant.")
    return total, math.ceil(delta * ATTO)


def _check_scale(scale: Fraction) -> Fraction:
    if not MIN_SCALE <= scale <= MAX_SCALE:
        raise ValueError("the fast variant takes noise scales from 1 to 2^32 units; use the exact variant.")
    return scale
