"""Exact discrete Laplace noise, P(Z = z) proportional to exp(-|z|/t) for a rational scale t, and its tails.

Integers only: no draw passes through a float, and no draw depends on the value that it will be added to.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from privacy.keystream import Keystream, process_keystream

MIN_SCALE = Fraction(1, 1024)
MAX_SCALE = Fraction(2**48)

_CHUNK = 2**15
"""Draws made at once: large enough to hide the cost of a numpy call, small enough for a processor cache."""

_FEW = 64
"""Below this many draws one small product costs less than a numpy call for every bit."""

_DIGITS = 60
"""Decimal digits of the closed forms below, which leave as floats or integers."""


def sample(scale: Fraction, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
    """`size` independent draws of Z with P(Z = z) = (1 - a)/(1 + a) a^|z|, a = exp(-1/scale).

    Scale is in the same integer units as the draws, from 1/1024 to 2^48; anything else is a ValueError.

    Method. Z is a geometric magnitude G, P(G = g) = (1 - a) a^g, with a uniform sign, drawn again whenever
    it is "minus zero": that leaves (1 - a)/2 a^|z| for every integer z, which is Z up to a constant.

    The bits of G are independent. Write g = b_0 + 2 b_1 + ... + 2^(B-1) b_(B-1) + 2^B h with b_i in {0, 1}
    and h >= 0. Then a^g = prod_i (a^(2^i))^(b_i) * (a^(2^B))^h factorises, so under P(G = g) ~ a^g the b_i
    and h are independent, with
        P(b_i = 1) = a^(2^i) / (1 + a^(2^i)) = 1 / (1 + exp(2^i/t)),
        P(h >= k + 1 | h >= k) = a^(2^B) = exp(-2^B/t).
    So G is B independent Bernoulli draws, plus 2^B times the number of successes before the first failure of
    another one. B is chosen so that the latter is below 2^-64: h is drawn exactly but is almost always 0.

    A Bernoulli draw compares uniform random bits U with the binary expansion of p, first 16 bits of each and
    then, only where these tie, 64 further bits at a time: success iff U < p.

    Size of the only approximation: each p is cut off after N = 16 + 64 k >= 272 bits, where k is such that
    every p keeps 128 significant bits. Each p is therefore wrong by less than 2^-271 and by a factor within
    1 -+ 2^-128. A shift of Z by d <= 1000 t (epsilon 1000) changes at most the B <= 54 bits, the sign, and h
    by at most 24; so the log ratio of the probabilities of the two outcomes, which is the privacy loss, is
    off by less than 2^-120, and no outcome becomes impossible. The total variation distance of one draw from
    the exact law is below 2^-263. Outcomes of about 2^62 and beyond do not fit and raise OverflowError, with
    probability below 2^-16384 at the largest scale. Random words come from AES, so all of this holds against
    an attacker who cannot tell AES output from random bits (keystream.REKEY_AFTER_BYTES says how nearly).
    """
    thresholds = _thresholds(_check_scale(scale))
    stream = keystream if keystream is not None else process_keystream()
    out = np.empty(size, np.int64)
    for start in range(0, size, _CHUNK):
        part = out[start : start + _CHUNK]
        part[:] = _signed(part.size, thresholds=thresholds, stream=stream)
    return out


def probability(z: int, scale: Fraction) -> float:
    """P(Z = z); underflows to 0.0 only below the smallest float."""
    with localcontext(_context()):
        a = _ratio(_check_scale(scale))
        return float((1 - a) / (1 + a) * (Decimal(-abs(z)) / _decimal(scale)).exp())


def tail(h: int, scale: Fraction) -> float:
    """P(|Z| > h) = 2 a^(h+1) / (1 + a) for h >= 0, and 1 for h < 0."""
    if h < 0:
        return 1.0
    with localcontext(_context()):
        a = _ratio(_check_scale(scale))
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
        a = _ratio(_check_scale(scale))
        h_plus_1 = _decimal(scale) * ((2 / _decimal(exact)).ln() - (1 + a).ln())
        return max(0, int(h_plus_1.to_integral_value(rounding=ROUND_CEILING)) - 1)


def _context(*, bits: int = 0) -> Context:
    # 0.302 > log10(2); 40 guard digits cover arguments of exp up to 10^4 and every rounding on the way
    return Context(prec=max(_DIGITS, 40 + int(0.302 * bits)))


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / value.denominator


def _ratio(scale: Fraction) -> Decimal:
    """a = exp(-1 / scale)."""
    return (-1 / _decimal(scale)).exp()


def _check_scale(scale: Fraction) -> Fraction:
    if not isinstance(scale, Fraction | int):
        raise ValueError("the noise scale must be an exact fraction.")
    if scale <= 0:
        raise ValueError("the noise scale must be above zero.")
    if scale < MIN_SCALE:
        raise ValueError("the noise scale is below 1/1024 of a unit, which is no noise; lower epsilon.")
    if scale > MAX_SCALE:
        raise ValueError("the noise scale is beyond 2^48 units, too wide for 64-bit integers; raise epsilon.")
    return Fraction(scale)


@dataclass(frozen=True)
class _Thresholds:
    """Binary expansions of the Bernoulli probabilities p_0, ..., p_(B-1) of the bits and p_B of the overflow.

    `leading` has shape (B + 1, 1): the first 16 bits of each. `following` has shape (B + 1, k): the rest.
    """

    leading: NDArray[np.uint16]
    following: NDArray[np.uint64]

    @property
    def overflow_bit(self) -> int:
        return len(self.leading) - 1


@lru_cache(maxsize=1024)
def _thresholds(scale: Fraction) -> _Thresholds:
    # exp(-2^B/t) <= 2^-64 as soon as 2^B >= 64 t ln 2, and 64 ln 2 < 45
    bits = (max(1, int(45 * scale))).bit_length()
    # -log2 of the smallest probability is at most 2^B/t * log2(e), and log2(e) < 3/2
    words = max(4, -(-(112 + int(Fraction(3, 2) * 2**bits / scale) + 2) // 64))
    precision = 16 + 64 * words
    probabilities = [*(_bit_probability(i, scale, precision) for i in range(bits))]
    probabilities.append(_overflow_probability(bits, scale, precision))
    return _Thresholds(
        leading=np.array([[p >> (64 * words)] for p in probabilities], np.uint16),
        following=np.array(
            [[(p >> (64 * w)) % 2**64 for w in reversed(range(words))] for p in probabilities], np.uint64
        ),
    )


def _bit_probability(bit: int, scale: Fraction, precision: int) -> int:
    """floor(2^precision / (1 + exp(2^bit / scale)))."""
    with localcontext(_context(bits=precision)):
        return int(Decimal(2) ** precision / (1 + _decimal(2**bit / scale).exp()))


def _overflow_probability(bits: int, scale: Fraction, precision: int) -> int:
    """floor(2^precision * exp(-2^bits / scale))."""
    with localcontext(_context(bits=precision)):
        return int(Decimal(2) ** precision * _decimal(-(2**bits) / scale).exp())


def _signed(n: int, *, thresholds: _Thresholds, stream: Keystream) -> NDArray[np.int64]:
    z = _geometric(n, thresholds=thresholds, stream=stream)
    minus = _coins(n, stream=stream)
    again = np.flatnonzero(minus & (z == 0))
    np.negative(z, where=minus, out=z)
    while again.size:
        magnitude = _geometric(again.size, thresholds=thresholds, stream=stream)
        minus = _coins(again.size, stream=stream)
        z[again] = np.where(minus, -magnitude, magnitude)
        again = again[minus & (magnitude == 0)]
    return z


def _coins(n: int, *, stream: Keystream) -> NDArray[np.bool_]:
    return np.unpackbits(stream.words((n + 7) // 8, np.uint8), count=n).view(np.bool_)


def _geometric(n: int, *, thresholds: _Thresholds, stream: Keystream) -> NDArray[np.int64]:
    rows = len(thresholds.leading)
    words = stream.words(rows * n, np.uint16).reshape(rows, n)
    success = words < thresholds.leading
    tied = np.flatnonzero(words == thresholds.leading)
    if tied.size:
        success.reshape(-1)[tied] = _refine(tied // n, thresholds=thresholds, stream=stream)
    magnitude = _from_bits(success[:-1])
    over = np.flatnonzero(success[-1])
    if over.size:
        magnitude[over] += _overflow(over.size, thresholds=thresholds, stream=stream)
    return magnitude


def _refine(row: NDArray[np.intp], *, thresholds: _Thresholds, stream: Keystream) -> NDArray[np.bool_]:
    """Decide Bernoulli draws whose first 16 bits tied, one per entry of `row`, on the bits that follow."""
    success = np.zeros(row.size, np.bool_)
    open_draws = np.arange(row.size)
    for following in thresholds.following.T:
        words = stream.words(open_draws.size, np.uint64)
        threshold = following[row[open_draws]]
        success[open_draws] = words < threshold
        open_draws = open_draws[words == threshold]
        if not open_draws.size:
            break
    return success


def _overflow(n: int, *, thresholds: _Thresholds, stream: Keystream) -> NDArray[np.int64]:
    """2^B h for n draws that have h >= 1: one block each, and another for every further success."""
    blocks = np.ones(n, np.int64)
    lanes = np.arange(n)
    overflow_row = thresholds.overflow_bit
    while lanes.size:
        words = stream.words(lanes.size, np.uint16)
        threshold = thresholds.leading[overflow_row, 0]
        success = words < threshold
        tied = np.flatnonzero(words == threshold)
        if tied.size:
            success[tied] = _refine(np.full(tied.size, overflow_row), thresholds=thresholds, stream=stream)
        lanes = lanes[success]
        blocks[lanes] += 1
    # B <= 54, so 2^B h leaves int64 for h >= 2^8 at the earliest: probability below 2^-16384.
    if blocks.max() >= 2 ** (62 - overflow_row):
        raise OverflowError("a noise draw does not fit into 64 bits.")
    return blocks << overflow_row


def _from_bits(bits: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Integers from their binary digits; row i of `bits` has weight 2^i, columns are numbers."""
    if bits.shape[1] < _FEW:
        return (np.int64(1) << np.arange(len(bits))) @ bits
    magnitude = np.zeros(bits.shape[1], np.int64)
    digits = bits.view(np.uint8)
    # Eight rows at a time in single bytes, highest first: eight times less memory traffic than int64.
    for base in range(0, len(digits), 8):
        byte = np.zeros(bits.shape[1], np.uint8)
        for digit in digits[base : base + 8][::-1]:
            byte += byte
            byte |= digit
        magnitude |= byte.astype(np.int64) << base
    return magnitude
