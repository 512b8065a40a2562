"""A quantile of grid values by the exponential mechanism: bounded by ranks, not by the range of the values.

Must never return anything but a point of the grid, and never look at more than ranks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

from privacy.exponential import Segment, choose
from privacy.keystream import Keystream

MEDIAN = Fraction(1, 2)


def noisy_quantile(
    counts: Sequence[tuple[int, int]],
    *,
    cells: int,
    quantile: Fraction,
    epsilon: Fraction,
    sensitivity: int,
    keystream: Keystream | None = None,
) -> int:
    """A point of 0..cells near the quantile of a multiset of grid points, epsilon-differentially private.

    `counts` holds (value, how often) by increasing value, each value in 0..cells. `sensitivity` is the number
    of values that one person may add, take away or change: the repeats of a partition, or the rows of a
    person. Raises ValueError for a quantile outside 0..1 or for counts that are not as stated.

    Let below(v) and upto(v) count the values < v and <= v, m all values and n/D the quantile. A point v is
        d(v) = max(0, D below(v) - n m, n m - D upto(v))
    away: D times the number of values by which the wanted rank n m / D misses the ranks that v takes up. So
    a point between two values is as good as its rank, and a value that occurs often takes up many ranks.

    Theorem. The result is epsilon-differentially private. Proof. By `exponential.choose` it is enough that
    one person changes d(v) by at most D * sensitivity, for every v.
    (a) One person changes at most c = sensitivity of m values, m fixed (blocks: c repeats). Then below(v) and
    upto(v) each change by at most c, every term of the maximum by at most D c, and so does the maximum.
    (b) One person adds or takes away c' <= c values (rows). Then below(v) changes by some a in 0..c' and m by
    c', all in one direction, so D below(v) - n m changes by D a - n c', which lies within -D c'..D c' because
    0 <= n <= D; likewise for upto(v). QED.
    (Smith 2011 uses this mechanism for a private median; the ranks of equal values are ours.)
    """
    if not isinstance(quantile, Fraction | int) or not 0 <= quantile <= 1:
        raise ValueError("the quantile must be an exact fraction from 0 to 1.")
    denominator = Fraction(quantile).denominator
    return choose(
        rank_segments(counts, cells=cells, quantile=Fraction(quantile)),
        epsilon=epsilon,
        sensitivity=denominator * sensitivity,
        keystream=keystream,
    )


def rank_segments(counts: Sequence[tuple[int, int]], *, cells: int, quantile: Fraction) -> list[Segment]:
    """The points 0..cells with their distances d(v), cut at the values: between two of them d is constant."""
    _check(counts, cells=cells)
    denominator = quantile.denominator
    wanted = quantile.numerator * sum(count for _, count in counts)
    segments, below, free = [], 0, 0
    for value, count in counts:
        if free < value:
            segments.append(Segment(free, value - free, abs(denominator * below - wanted)))
        upto = below + count
        distance = max(0, denominator * below - wanted, wanted - denominator * upto)
        segments.append(Segment(value, 1, distance))
        below, free = upto, value + 1
    if free <= cells:
        segments.append(Segment(free, cells + 1 - free, abs(denominator * below - wanted)))
    return segments


def tally(values: Iterable[int]) -> list[tuple[int, int]]:
    """(value, how often) by increasing value."""
    return sorted(Counter(values).items())


def _check(counts: Sequence[tuple[int, int]], *, cells: int) -> None:
    values = [value for value, _ in counts]
    increasing = all(one < other for one, other in pairwise(values))
    inside = not values or (values[0] >= 0 and values[-1] <= cells)
    if not increasing or not inside or any(count < 1 for _, count in counts):
        raise ValueError("counts must be (value, how often), by increasing value on the grid.")
