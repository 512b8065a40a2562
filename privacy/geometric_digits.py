"""Geometric magnitudes G, P(G = g) proportional to exp(-g/t), drawn digit by digit from exact tables.

Shared by the discrete Laplace law (all g >= 0) and its truncation (0 <= g < a bound); the digits of both are
independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from privacy.finite_law import FiniteLaw
from privacy.keystream import Keystream

_WIDTH = 11
"""Most bits of a digit: its 2^11 thresholds leave 1 in 32 draws undecided by 16 random bits."""

_GUARD_BITS = 128


@dataclass(frozen=True)
class Digit:
    """`law` draws the digit that counts in steps of 2^shift."""

    law: FiniteLaw
    shift: int


@dataclass(frozen=True)
class GeometricDigits:
    """The digits of G, lowest first. `unbounded`: the last one's largest value means "this much, or more"."""

    digits: tuple[Digit, ...]
    unbounded: bool

    def draw(self, n: int, *, stream: Keystream) -> NDArray[np.int64]:
        """n independent magnitudes. OverflowError beyond 2^62, with probability below 2^-16384."""
        *lower, last = self.digits
        magnitude = last.law.draw(n, stream=stream).astype(np.int64)
        if self.unbounded:
            self._go_on(magnitude, stream=stream)
        shift = last.shift
        for digit in reversed(lower):
            magnitude <<= shift - digit.shift
            magnitude += digit.law.draw(n, stream=stream)
            shift = digit.shift
        return magnitude

    def _go_on(self, last: NDArray[np.int64], *, stream: Keystream) -> None:
        """Given that it is at least m, a geometric number is m plus a fresh one: draw until it is below m."""
        law, shift = self.digits[-1].law, self.digits[-1].shift
        most = len(law.thresholds)
        going_on = np.flatnonzero(last == most)
        while going_on.size:
            again = law.draw(going_on.size, stream=stream)
            last[going_on] += again
            # the last digit has m 2^shift <= 2^54: this takes 2^8 rounds at least, each below 2^-64
            if last[going_on].max() >= 2 ** (62 - shift):
                raise OverflowError("a noise draw does not fit into 64 bits.")
            going_on = going_on[again == most]


@lru_cache(maxsize=64)
def unbounded(scale: Fraction) -> GeometricDigits:
    """G >= 0 with P(G = g) = (1 - a) a^g, a = exp(-1/scale).

    Theorem. Write g = d_0 + d_1 2^(s_1) + ... + d_n 2^(s_n) with d_j in {0, ..., 2^(s_(j+1) - s_j) - 1} for
    j < n and any d_n >= 0. Then the digits of G are independent, d_n is geometric with ratio exp(-2^(s_n)/t),
    and d_j is geometric with ratio exp(-2^(s_j)/t) given that it is below 2^(s_(j+1) - s_j).
    Proof. a^g = prod_j (a^(2^(s_j)))^(d_j) is a product over the digits, and every combination of digits is
    one g. QED. (For binary digits: von Neumann 1951; the memoryless tail of d_n is the geometric law itself.)
    """
    # P(d_n is "this much, or more") = exp(-2^B/t) <= 2^-64 as soon as 2^B >= 64 t ln 2, and 64 ln 2 < 45
    bits = max(1, int(45 * scale)).bit_length()
    shifts = _shifts(bits)
    precision = _precision(2**bits / scale)
    lower = [
        _digit(scale, shift, cells=2 ** (above - shift), bits=precision) for shift, above in pairwise(shifts)
    ]
    last = _digit(scale, shifts[-1], cells=2 ** (bits - shifts[-1]), bits=precision, open_ended=True)
    return GeometricDigits((*lower, last), unbounded=True)


@lru_cache(maxsize=64)
def below(scale: Fraction, cells: int, shift: int) -> GeometricDigits:
    """0 <= G < cells 2^shift with P(G = g) proportional to exp(-g/scale), for 2 to 2^11 cells.

    The same theorem: as the bound is a whole number of 2^shift, it truncates the last digit alone.
    """
    precision = _precision(cells * 2**shift / scale)
    lower = [
        _digit(scale, low, cells=2 ** (above - low), bits=precision)
        for low, above in pairwise([*_shifts(shift), shift])
    ]
    return GeometricDigits((*lower, _digit(scale, shift, cells=cells, bits=precision)), unbounded=False)


def _shifts(bits: int) -> list[int]:
    """Where the digits begin when `bits` bits are cut into as few digits as possible, of equal width."""
    count = -(-bits // _WIDTH)
    return [index * bits // count for index in range(count)]


def _precision(span: Fraction) -> int:
    """Bits that leave 128 significant ones to each probability of each digit, when G covers `span` scales.

    A last digit d has P(D = d) >= exp(-span) (1 - r), where r = exp(-2^shift/scale) and, as 2^11 such steps
    or fewer make a span of at least 2^-5, 1 - r >= 2^-17. Any other has P(D = d) >= exp(-span)/c for c <=
    2^11 cells. Thresholds are wrong by less than one unit, differences by less than two; log2(e) < 3/2.
    """
    return 64 * (2 + -(-(18 + int(Fraction(3, 2) * span)) // 64))


def _digit(scale: Fraction, shift: int, *, cells: int, bits: int, open_ended: bool = False) -> Digit:
    """Thresholds of P(D >= k) = (r^k - r^c)/(1 - r^c), r = exp(-2^shift/scale), for k = 1..c-1.

    Open-ended: P(D >= k) = r^k for k = 1..c, and D = c stands for c or more.

    Rounded down to 2^-bits. Powers are products of integers with 128 guard bits, of which c <= 2^11 roundings
    and the division by 1 - r^c >= 2^-50 use up 64.
    """
    guarded = bits + _GUARD_BITS
    one = 1 << guarded
    ratio = exp_fraction(Fraction(-(2**shift)) / scale, bits=guarded)
    powers = [one]
    for _ in range(cells):
        powers.append(powers[-1] * ratio >> guarded)
    if open_ended:
        thresholds = [power >> _GUARD_BITS for power in powers[1:]]
    else:
        least = powers[cells]
        thresholds = [((power - least) << bits) // (one - least) for power in powers[1:cells]]
    return Digit(FiniteLaw(tuple(reversed(thresholds)), bits), shift)


def exp_fraction(exponent: Fraction, *, bits: int) -> int:
    """floor(2^bits exp(exponent)), up to 1, for an exponent from -10^4 to 10^4."""
    # 0.302 > log10(2); 40 guard digits cover exponents up to 10^4 and every rounding on the way
    with localcontext(Context(prec=40 + int(0.302 * bits) + max(0, int(exponent / 2)))):
        return int(Decimal(2) ** bits * (Decimal(exponent.numerator) / exponent.denominator).exp())
