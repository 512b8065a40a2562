"""What the engine adds up for each kind of query, and how the mathematics' exact sums follow from it.

`privacy.trusted` says what one row contributes; the sums of that over all rows are linear in a few sums that
the engine computes in 128-bit integers, and the rest is done here in Python's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from privacy.trusted import (
    Count,
    Covariance,
    Groups,
    Histogram,
    LinearRegression,
    Mean,
    Quantile,
    Sum,
    TrustedQuery,
    Variance,
)
from privacy.trusted.moments import UNIT, Moments
from privacy.trusted.quantile import CELL_BITS

Finish = Callable[[int, Sequence[int]], list[int]]


@dataclass(frozen=True)
class Sums:
    """Aggregates over the rows of a group; `finish` makes the query's integers of their count and sums."""

    aggregates: tuple[str, ...]
    finish: Finish


@dataclass(frozen=True)
class Bins:
    """Rows counted by a whole number from 0 to width - 1."""

    expression: str
    width: int


def totals_of(query: TrustedQuery) -> Sums | Bins:
    """The way to the exact sums of a query (of one group)."""
    match query:
        case Groups():
            return totals_of(query.query)
        case Count():
            return Sums((), lambda count, _: [count])
        case Sum():
            lowest = query.lowest
            return Sums(("sum(q0)",), lambda count, sums: [sums[0] + lowest * count])
        case Mean():
            cells = query.grid.cells
            return Sums(("sum(q0)",), lambda count, sums: [count, 2 * sums[0] - cells * count])
        case Variance():
            return _of_variance(query)
        case Histogram():
            return Bins(_bin_of("q0", query), query.width)
        case Quantile():
            return Bins(f"q0 >> {CELL_BITS}", query.width)
        case Covariance() | LinearRegression():
            return _of_moments(query.moments)
    raise TypeError("platform bug: a trusted query of an unknown kind.")


def _of_variance(query: Variance) -> Sums:
    cells = query.grid.cells
    distance = f"(2 * q0 - {cells})"

    def finish(count: int, sums: Sequence[int]) -> list[int]:
        return [count, 2 * sums[0] - cells * count, 2 * sums[1] - cells * count]

    return Sums(("sum(q0)", f"sum({distance} * {distance} // {cells})"), finish)


def _of_moments(moments: Moments) -> Sums:
    scaled = [
        f"(({2 * UNIT} * q{i} + {grid.cells // 2}) // {grid.cells} - {UNIT})"
        for i, grid in enumerate(moments.columns)
    ]
    columns = len(scaled)
    squares = [columns + place for place, (i, j) in enumerate(moments.pairs) if i == j]

    def finish(count: int, sums: Sequence[int]) -> list[int]:
        found = list(sums)
        for place in squares:
            found[place] = 2 * found[place] - UNIT**2 * count
        return [count, *found]

    products = (f"sum({scaled[i]} * {scaled[j]})" for i, j in moments.pairs)
    return Sums((*(f"sum({value})" for value in scaled), *products), finish)


def _bin_of(value: str, query: Histogram) -> str:
    """SQL for the number of edges that are at most `value`: by arithmetic where the bins are equally wide.

    value >= ceil(i K/b) where value >= i K/b, for whole numbers: so i <= value b/K.
    """
    cells, bins = query.grid.cells, query.width
    if query.edges == tuple(-(-cells * edge // bins) for edge in range(1, bins)):
        return f"least({value} * {bins} // {cells}, {bins - 1})"
    return _search(value, query.edges, first=0)


def _search(value: str, edges: Sequence[int], *, first: int) -> str:
    """SQL for the number of edges that are at most `value`, plus `first`: a binary search."""
    if not edges:
        return str(first)
    half = len(edges) // 2
    below = _search(value, edges[:half], first=first)
    above = _search(value, edges[half + 1 :], first=first + half + 1)
    # NULL compares as neither
    return f"CASE WHEN {value} < {edges[half]} THEN {below} WHEN {value} >= {edges[half]} THEN {above} END"
