"""Bounded noise: the truncated discrete Laplace law, with the narrowest bound that a given delta allows.

The grid's version of the truncated Laplacian mechanism (Geng, Ding, Guo, Kumar 2018, "Truncated Laplacian
Mechanism for Approximate Differential Privacy", arXiv 1810.00877, Definition 3 and Theorem 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privacy.cost import ATTO
from privacy.discrete_laplace import MAX_SCALE, MIN_SCALE, signed
from privacy.geometric_digits import below
from privacy.keystream import Keystream
from privacy.loss import MICRO, check_micro_epsilon

MAX_ATTO_DELTA = ATTO // 100
_MOST_CELLS = 2**11


@dataclass(frozen=True)
class BoundedNoise:
    """Z on {-A..A} with P(Z = z) proportional to exp(-|z|/t), t = sensitivity / epsilon, for integer values.

    Parameters: how far one value can move (whole units), micro-epsilon, and delta in units of 10^-18, at most
    1 in 100. Raises ValueError otherwise.

    Theorem. Adding Z is (epsilon, delta)-DP for values that differ by at most the sensitivity D if
        a^(A+1) (e^epsilon - 1 + 2 delta) <= delta (1 + a),   where a = exp(-1/t).
    Proof. First, A >= D: otherwise a^(A+1) >= a^D = e^(-epsilon), the left side is at least
    1 - (1 - 2 delta) e^(-epsilon) >= 2 delta, and 2 delta > delta (1 + a): a contradiction.
    Let values differ by d <= D, say upwards. Where z and z - d both lie in {-A..A}, their probabilities
    differ by a factor of at most e^(d/t) <= e^epsilon. The rest of the support, {-A..-A+d-1}, is out of the
    other value's reach and counts in full. Its mass is largest for d = D and, by symmetry, that of the D
    topmost points {A-D+1..A}, all positive as A >= D. With the normaliser (1 + a - 2 a^(A+1))/(1 - a) it is
        (a^(A-D+1) - a^(A+1)) / (1 + a - 2 a^(A+1)) = a^(A+1) (e^epsilon - 1) / (1 + a - 2 a^(A+1)),
    as a^(-D) = e^epsilon, and this is at most delta iff the inequality above holds. QED.

    A + 1 is rounded up to a multiple of a power of two, by at most 1 in 1024, so that the digits of |Z| are
    independent and nothing has to be rejected (geometric_digits.below). More noise never costs delta.
    """

    sensitivity: int
    micro_epsilon: int
    atto_delta: int

    def __post_init__(self) -> None:
        check_micro_epsilon(self.micro_epsilon)
        if (
            isinstance(self.sensitivity, bool)
            or not isinstance(self.sensitivity, int)
            or self.sensitivity < 1
        ):
            raise ValueError("the sensitivity is a positive whole number of units.")
        check_atto_delta(self.atto_delta)
        if not MIN_SCALE <= self.scale <= MAX_SCALE:
            raise ValueError(
                "the noise scale must be from 1/1024 to 2^48 units; change epsilon or the range."
            )

    @property
    def scale(self) -> Fraction:
        """t, in the units of the values."""
        return Fraction(self.sensitivity * MICRO, self.micro_epsilon)

    @property
    def bound(self) -> int:
        """A: no draw is further from zero."""
        cells, shift = self._shape
        return (cells << shift) - 1

    def sample(self, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
        """`size` independent draws, exact as those of discrete_laplace.sample are."""
        cells, shift = self._shape
        return signed(below(self.scale, cells, shift), size, keystream=keystream)

    @cached_property
    def _shape(self) -> tuple[int, int]:
        """(cells, shift) with A + 1 = cells 2^shift, the least that the theorem allows at this precision."""
        needed = max(2, least_length(self.scale, self.sensitivity, self.atto_delta))
        shift = max(0, (needed - 1).bit_length() - _MOST_CELLS.bit_length() + 1)
        return -(-needed >> shift), shift


def least_length(scale: Fraction, sensitivity: int, atto_delta: int) -> int:
    """The least A + 1 >= t ln((e^epsilon - 1 + 2 delta) / (delta (1 + a))), or one more.

    All roundings are upwards, against 2^-120 of slack: an integer that is one too large costs nothing.
    """
    with localcontext(Context(prec=80, rounding=ROUND_CEILING)):
        delta = Decimal(atto_delta) / ATTO
        t = Decimal(scale.numerator) / scale.denominator
        # 1 + a from below: the division that follows must err upwards
        one_and_a = 1 + (-1 / t).exp() * (1 - Decimal(10) ** -70)
        ratio = ((Decimal(sensitivity) / t).exp() * (1 + Decimal(10) ** -70) - 1 + 2 * delta) / (
            delta * one_and_a
        )
        length = t * ratio.ln() * (1 + Decimal(10) ** -60)
        return int(length.to_integral_value(rounding=ROUND_CEILING))


def check_atto_delta(atto_delta: int) -> None:
    """Raise ValueError unless delta is a whole number of 10^-18, above zero and at most 1 in 100."""
    if (
        isinstance(atto_delta, bool)
        or not isinstance(atto_delta, int)
        or not 0 < atto_delta <= MAX_ATTO_DELTA
    ):
        raise ValueError(
            "delta must be above 0 and at most 0.01: with probability delta the promise fails outright."
        )
