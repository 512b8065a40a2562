"""Exact exponential mechanism over grid points: integer weights, one uniform integer, and no float.

Must never be given a distance that one person can change by more than the stated sensitivity.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from privacy.keystream import Keystream, process_keystream

_LEAST_BITS = 64
"""The smallest weight is 2^64: small enough to sum, large enough that rounding a weight down is no bias."""

_RANGE = 134
"""192 ln 2, rounded up. Beyond a weight 2^-192 of the largest all distances weigh the same: a grid has fewer
than 2^21 points, so they are chosen with probability below 2^-170 together."""

MAX_LEVELS = 2**18
"""Longest table of weights, 40 ms and 20 MB. It is shorter than `levels` for rates below 0.0005; distances
beyond it weigh the same although they are not yet negligible, which costs accuracy and no privacy."""

_GROWTH_BITS = 256
"""Binary places of the factor between the weights of neighbouring distances."""

_DIGITS = 100


@dataclass(frozen=True)
class Segment:
    """`points` grid points from `first` upwards that all lie `distance` away from the best."""

    first: int
    points: int
    distance: int


def choose(
    segments: Sequence[Segment], *, epsilon: Fraction, sensitivity: int, keystream: Keystream | None = None
) -> int:
    """Draw one grid point v with P(v) proportional to W[distance of v], W from `weights`.

    `segments` are disjoint and cover the same set V of grid points for every data set; distances are
    integers from 0. Raises ValueError for an epsilon or a sensitivity that is not above zero.

    Theorem. If for neighbouring data sets and every point v the distances d(v), d'(v) differ by at most
    `sensitivity`, then the point drawn is epsilon-differentially private, exactly.
    Proof. W is fixed by epsilon and the sensitivity alone, the same for both data sets, and `weights` proves
    W[d] <= e^(epsilon/2) W[d'] whenever |d - d'| <= sensitivity. So W[d(v)] is at
    most e^(epsilon/2) W[d'(v)] for every v, and by the same bound with the roles exchanged the totals obey
    sum_u W[d'(u)] <= e^(epsilon/2) sum_u W[d(u)]. The quotient of the two is P(v), hence
    P(v) <= e^epsilon P'(v). A uniform integer below the total, which is what decides, is exact. QED.
    (McSherry, Talwar 2007, Theorem 6, for weights that are rounded.)
    """
    mass = weighed(segments, epsilon=epsilon, sensitivity=sensitivity)
    stream = keystream if keystream is not None else process_keystream()
    return draw(segments, mass, keystream=stream)


def weighed(segments: Sequence[Segment], *, epsilon: Fraction, sensitivity: int) -> list[int]:
    """Running totals of the weight of all segments, in order; the last one is the total."""
    weight = weights(epsilon, sensitivity)
    last = len(weight) - 1
    return list(accumulate(segment.points * weight[min(segment.distance, last)] for segment in segments))


def draw(segments: Sequence[Segment], mass: Sequence[int], *, keystream: Keystream) -> int:
    """One grid point of segments whose running totals are `mass`."""
    drawn = keystream.below(mass[-1])
    position = bisect_right(mass, drawn)
    within = drawn - (mass[position - 1] if position else 0)
    segment = segments[position]
    weight = (mass[position] - (mass[position - 1] if position else 0)) // segment.points
    return segment.first + within // weight


@lru_cache(maxsize=8, typed=True)  # typed: 0.5 must not find the answer for 1/2
def weights(epsilon: Fraction, sensitivity: int) -> tuple[int, ...]:
    """W[0] >= W[1] >= ... >= W[L] = 2^64, close to multiples of exp(-epsilon d / (2 sensitivity)).

    Every distance beyond L weighs W[L]; L is `levels` or 2^18, whichever is less. W[d] = floor(g W[d + 1])
    from L downwards, with one rational g >= 1 that is rounded down from exp(epsilon / (2 sensitivity)).

    Lemma. |d - d'| <= sensitivity implies W[d] <= e^(epsilon/2) W[d'].
    Proof. W does not increase with the distance, for g >= 1 and W[d + 1] is an integer, and it is constant
    beyond L; so let d < d' <= L. Then W[d] <= g W[d + 1] <= ... <= g^(d' - d) W[d'], because flooring only
    takes away, and g^(d' - d) <= exp(epsilon/(2 sensitivity))^sensitivity = e^(epsilon/2). QED.
    Rounding each weight exp(-epsilon d / (2 sensitivity)) by itself would not do: two neighbours may be
    rounded apart, and the ratio at the small end be 2 where e^(epsilon/2) is 1.01. Nor would a table ending
    at the largest distance of the data at hand: neighbouring data sets would floor different numbers.

    Accuracy: g and every floor are off by a factor within 1 -+ 2^-63, so W[0]/W[d] is within 1 -+ d 2^-62 of
    the ideal ratio.
    """
    if not isinstance(epsilon, Fraction | int) or epsilon <= 0:
        raise ValueError("epsilon must be an exact fraction above zero.")
    if sensitivity < 1:
        raise ValueError("the sensitivity must be a whole number above zero.")
    rate = Fraction(epsilon) / (2 * sensitivity)
    growth = _exp_down(rate)
    descending = [1 << _LEAST_BITS]
    for _ in range(min(levels(rate), MAX_LEVELS)):
        descending.append(descending[-1] * growth >> _GROWTH_BITS)
    return tuple(reversed(descending))


def levels(rate: Fraction) -> int:
    """The distance L from which on all weights are equal, for rate = epsilon / (2 sensitivity).

    A little more than the smallest L with exp(rate L) >= 2^192.
    """
    return -(-_RANGE * rate.denominator // rate.numerator)


def _exp_down(rate: Fraction) -> int:
    """floor(2^256 exp(rate)) or a little less, and at least 2^256, for rate > 0.

    The quotient is rounded down. Decimal.exp is correctly rounded (Python's documentation of the decimal
    module), so its result less one part in 10^98 lies below exp(rate).
    """
    with localcontext(Context(prec=_DIGITS, rounding=ROUND_FLOOR)):
        exponential = (Decimal(rate.numerator) / rate.denominator).exp()
        scaled = exponential * (1 - Decimal(10) ** (2 - _DIGITS)) * 2**_GROWTH_BITS
    return max(1 << _GROWTH_BITS, int(scaled))
