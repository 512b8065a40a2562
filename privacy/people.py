"""Numbers over people: what a drawn mean or quantile counts for who has none, and what follows from means.

Everything here sees public parameters and released numbers alone. Drawing is done by `sample_aggregate`: with
blocks of one, a run is one person's, whatever the person's number is made from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from privacy.block_rules import Aggregator

Kind = Literal["total", "covariance", "correlation", "correlation of squares"]

SQUARES_MOST = 16
"""Upper bound of a square of a sum or difference of two columns in units of their spreads: four of them."""


@dataclass(frozen=True)
class Part:
    """What one output of a release is beside its grid.

    quantile   drawn by ranks at this quantile, strictly between 0 and 1; None: as the aggregator says
    absent     grid units that count for a run without this number, None for the aggregator's own
    is_mean    always a clipped mean, since something is computed from it
    """

    quantile: Fraction | None = None
    absent: int | None = None
    is_mean: bool = False

    def __post_init__(self) -> None:
        if self.quantile is not None and not 0 < self.quantile < 1:
            raise ValueError("a quantile lies strictly between 0 and 1.")
        if self.quantile is not None and (self.is_mean or self.absent is not None):
            raise ValueError("a quantile is no mean, and whoever has no number leaves its rank as it is.")

    def aggregator(self, asked: Aggregator) -> Aggregator:
        """Of this output, where all others get what was asked."""
        if self.quantile is not None:
            return "median"
        return "clipped_mean" if self.is_mean else asked


@dataclass(frozen=True)
class Released:
    """A drawn mean, with the half width within which the noise stays 99 times in 100."""

    value: Fraction
    half_width_99: Fraction


@dataclass(frozen=True)
class Computed:
    """A number that follows from released ones, and an interval for its un-noised self; the value is None
    where the released numbers leave it open."""

    value: float | None
    lower_95: float
    upper_95: float


def default_by_rank(cells: int, quantile: Fraction, run: int) -> int:
    """Grid units that stand for failed run number `run` of a quantile n/D: 0 in n of D runs, evenly spread,
    else the upper bound. So failures leave the wanted rank where it is."""
    is_low = math.ceil((run + 1) * quantile) > math.ceil(run * quantile)
    return 0 if is_low else cells


def square(u: float, v: float) -> float:
    """Of a sum, as one person's number that a correlation of squares is made of."""
    return min((u + v) * (u + v), float(SQUARES_MOST))


def computed(
    kind: Kind, parts: Sequence[Released], *, people: int, centres: Sequence[Fraction] = ()
) -> Computed:
    """What follows from the released means of a result, in the order x, y, xy, xx, yy; or, of squares,
    of the sum and of the difference.

    `people` are the slots of a release with blocks of one. `centres` are those of the bounds of x and y, from
    which the products are taken.

    Theorem. With probability at least 95 % over the noise, the interval holds what the same formula gives on
    the un-noised means. Proof. Each of at most five means is within its 99 % half width of its un-noised
    self, all of them together with probability at least 1 - 5/100 (Boole), whatever their noises have to do
    with each other. On that event:
      total        people times the mean is within people times the half width.
      covariance   with u, v the means of x and y from their centres and w that of the product, all un-noised,
                   and U, V, W as released: |(W - UV) - (w - uv)| <= |W - w| + |U||V - v| + |v||U - u|, and
                   |v| <= |V| + h_v: together h_w + |U| h_v + |V| h_u + h_u h_v.
      correlation  covariance and both variances are within such intervals, and a quotient c / sqrt(s t) is
                   monotone in each of c, s and t while s, t > 0 and the sign of c stands: its extremes over
                   the box are at corners. A correlation is in -1..1 whatever the rest.
      of squares   the un-noised means p and m are at least 0, as squares are, so they are within their
                   intervals cut off at 0, and (p - m)/(p + m) does not fall with p nor rise with m: its
                   extremes are at two corners. Where an interval ends at 0 or below, -1..1 holds whatever the
                   rest. QED.
    """
    if kind == "total":
        value, half = people * parts[0].value, people * parts[0].half_width_99
        return Computed(float(value), float(value - half), float(value + half))
    if kind == "correlation of squares":
        return _of_squares(parts[0], parts[1])
    x, y = (
        Released(part.value - centre, part.half_width_99)
        for part, centre in zip(parts[:2], centres, strict=True)
    )
    together, half = _covariance(parts[2], x, y)
    if kind == "covariance":
        return Computed(float(together), float(together - half), float(together + half))
    spreads = [_covariance(square, mean, mean) for square, mean in zip(parts[3:], (x, y), strict=True)]
    return _correlation((together, half), spreads)


def _covariance(product: Released, x: Released, y: Released) -> tuple[Fraction, Fraction]:
    value = product.value - x.value * y.value
    crossed = abs(x.value) * y.half_width_99 + abs(y.value) * x.half_width_99
    return value, product.half_width_99 + crossed + x.half_width_99 * y.half_width_99


def _correlation(
    together: tuple[Fraction, Fraction], spreads: Sequence[tuple[Fraction, Fraction]]
) -> Computed:
    value, half = together
    least = [spread - width for spread, width in spreads]
    most = [spread + width for spread, width in spreads]
    best = _quotient(value, [spread for spread, _ in spreads])
    if min(least) <= 0:
        return Computed(best, -1.0, 1.0)
    low, high = value - half, value + half
    lower = _quotient(low, least if low < 0 else most)
    upper = _quotient(high, least if high > 0 else most)
    assert lower is not None
    assert upper is not None
    return Computed(best, lower, upper)


def _of_squares(plus: Released, minus: Released) -> Computed:
    p, m = max(plus.value, Fraction(0)), max(minus.value, Fraction(0))
    best = float(_contrast(p, m)) if p + m > 0 else None
    least = [max(each.value - each.half_width_99, Fraction(0)) for each in (plus, minus)]
    most = [each.value + each.half_width_99 for each in (plus, minus)]
    if min(most) <= 0:
        return Computed(best, -1.0, 1.0)
    return Computed(best, float(_contrast(least[0], most[1])), float(_contrast(most[0], least[1])))


def _contrast(p: Fraction, m: Fraction) -> Fraction:
    return (p - m) / (p + m)


def _quotient(covariance: Fraction, variances: Sequence[Fraction]) -> float | None:
    if min(variances) <= 0:
        return None
    # each by itself: the product of two small variances is below what a float holds
    scale = math.sqrt(variances[0]) * math.sqrt(variances[1])
    return min(max(float(covariance) / scale, -1.0), 1.0)
