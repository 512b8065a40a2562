"""Exact discrete Laplace noise, P(Z = z) proportional to exp(-|z|/t) for a rational scale t, and its tails.

Integers only: no draw passes through a float, and no draw depends on the value that it will be added to.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from privacy.geometric_digits import GeometricDigits, unbounded
from privacy.keystream import Keystream, process_keystream

MIN_SCALE = Fraction(1, 1024)
MAX_SCALE = Fraction(2**48)

_CHUNK = 2**14
"""Draws made at once: large enough to hide the cost of a numpy call, small enough for a processor cache, and
for a memory allocator that would otherwise return every array to the system and fetch it again."""

_DIGITS = 60
"""Decimal digits of the closed forms below, which leave as floats or integers."""


def sample(scale: Fraction, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
    """`size` independent draws of Z with P(Z = z) = (1 - a)/(1 + a) a^|z|, a = exp(-1/scale).

    Scale is in the same integer units as the draws, from 1/1024 to 2^48; anything else is a ValueError.

    Method. Z is a geometric magnitude G, P(G = g) = (1 - a) a^g, with a uniform sign, drawn again whenever
    it is "minus zero": that leaves (1 - a)/2 a^|z| for every integer z, which is Z up to a constant.

    The digits of G are independent (theorem in geometric_digits.unbounded), so G is put together from two to
    five digits of at most 11 bits, each drawn exactly from its own law (finite_law.FiniteLaw).

    Size of the only approximation: the probabilities of a digit are whole numbers of 2^-N, N >= 192, and N is
    such that each is wrong by a factor within 1 -+ 2^-127. A shift of Z by d <= 1000 t (epsilon 1000) changes
    at most 5 digits, the sign, and by at most 24 the number of times that the last digit goes on; so the log
    ratio of the probabilities of the two outcomes, which is the privacy loss, is off by less than 2^-120, and
    no outcome becomes impossible. Outcomes of about 2^62 and beyond do not fit and raise OverflowError, with
    probability below 2^-16384 at the largest scale. Random words come from AES, so all of this holds against
    an attacker who cannot tell AES output from random bits (keystream.REKEY_AFTER_BYTES says how nearly).
    """
    digits = unbounded(check_scale(scale))
    return signed(digits, size, keystream=keystream)


def probability(z: int, scale: Fraction) -> float:
    """P(Z = z); underflows to 0.0 only below the smallest float."""
    with localcontext(_context()):
        a = _ratio(check_scale(scale))
        return float((1 - a) / (1 + a) * (Decimal(-abs(z)) / _decimal(scale)).exp())


def tail(h: int, scale: Fraction) -> float:
    """P(|Z| > h) = 2 a^(h+1) / (1 + a) for h >= 0, and 1 for h < 0."""
    if h < 0:
        return 1.0
    with localcontext(_context()):
        a = _ratio(check_scale(scale))
        return float(2 * (Decimal(-h - 1) / _decimal(scale)).exp() / (1 + a))


@lru_cache(maxsize=1024)
def quantile(alpha: Fraction | float, scale: Fraction) -> int:
    """Smallest integer h >= 0 with P(|Z| > h) <= alpha, for 0 < alpha <= 1 (ValueError otherwise).

    Solves 2 a^(h+1) / (1 + a) = alpha for real h and rounds up. The solution is never an integer (a is
    transcendental), so enough digits decide the rounding.
    """
    exact = Fraction(alpha)
    if not 0 < exact <= 1:
        raise ValueError("alpha must be above 0 and at most 1.")
    with localcontext(_context()):
        a = _ratio(check_scale(scale))
        h_plus_1 = _decimal(scale) * ((2 / _decimal(exact)).ln() - (1 + a).ln())
        return max(0, int(h_plus_1.to_integral_value(rounding=ROUND_CEILING)) - 1)


def _context() -> Context:
    return Context(prec=_DIGITS)


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / value.denominator


def _ratio(scale: Fraction) -> Decimal:
    """a = exp(-1 / scale)."""
    return (-1 / _decimal(scale)).exp()


def check_scale(scale: Fraction) -> Fraction:
    """The scale as a Fraction, or ValueError."""
    if not isinstance(scale, Fraction | int):
        raise ValueError("the noise scale must be an exact fraction.")
    if scale <= 0:
        raise ValueError("the noise scale must be above zero.")
    if scale < MIN_SCALE:
        raise ValueError("the noise scale is below 1/1024 of a unit, which is no noise; lower epsilon.")
    if scale > MAX_SCALE:
        raise ValueError("the noise scale is beyond 2^48 units, too wide for 64-bit integers; raise epsilon.")
    return Fraction(scale)


def signed(digits: GeometricDigits, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
    """Draws of a magnitude from `digits` with a fair sign, made again whenever they are "minus zero"."""
    stream = keystream if keystream is not None else process_keystream()
    out = np.empty(size, np.int64)
    for start in range(0, size, _CHUNK):
        part = out[start : start + _CHUNK]
        part[:] = _signed(digits, part.size, stream=stream)
    return out


def _signed(digits: GeometricDigits, n: int, *, stream: Keystream) -> NDArray[np.int64]:
    z, minus = _with_sign(digits, n, stream=stream)
    again = np.flatnonzero(minus & (z == 0))
    while again.size:
        z[again], minus = _with_sign(digits, again.size, stream=stream)
        again = again[minus & (z[again] == 0)]
    return z


def _with_sign(
    digits: GeometricDigits, n: int, *, stream: Keystream
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    z = digits.draw(n, stream=stream)
    minus = np.unpackbits(stream.words((n + 7) // 8, np.uint8), count=n)
    # -z is ~z + 1: with a mask of all ones where the sign is minus, (z ^ mask) - mask, which does not branch
    mask = -minus.view(np.int8)
    z ^= mask
    z -= mask
    return z, minus.view(np.bool_)
