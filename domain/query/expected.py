"""How wide the noise of a trusted query will be, before it is asked: from public numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from domain.dataset import Declaration
from domain.query.columns import find_column
from domain.query.request import QueryRequest
from domain.rank_interval import missed_ranks, said_of_rows
from privacy.loss import MICRO
from privacy.trusted import Count, Groups, Histogram, Mean, Quantile, Sum
from privacy.trusted.noisy_sums import NoisySums
from privacy.trusted.sums import mean_of

MOST_TOLD = 6
_RARELY = Fraction(1, 20)


@dataclass(frozen=True)
class Expected:
    """One output: within what distance 95 of 100 releases lie, and how far apart its least and greatest
    value are. Of a quantile both are numbers of rows, for its noise is one of ranks."""

    name: str
    half_width: Fraction
    width: Fraction
    is_of_ranks: bool = False


@dataclass(frozen=True)
class _Rows:
    """As many rows as there can be, of them in each group, and where a mean is guessed to lie."""

    most: int
    in_group: int
    typical: Fraction | None


def expected_noise(asked: QueryRequest, declaration: Declaration) -> tuple[Expected, ...]:
    """Of the numbers of each group, in their order: as if everybody of the nominal size counted, evenly in
    all groups, and a mean lay where the declaration says, or in the middle. Fewer rows make the noise of a
    mean wider. Empty for kinds of which it is not known before."""
    whole = asked.mechanism_for(declaration)
    mechanism, groups = (whole.query, whole.groups) if isinstance(whole, Groups) else (whole, 1)
    widths = _WIDTHS.get(type(mechanism))
    if widths is None:
        return ()
    most = declaration.nominal_size * mechanism.rows
    rows = _Rows(most, max(1, most // groups), _typical(asked, declaration))
    names = asked.query.outputs(asked.table(declaration))
    is_of_ranks = isinstance(mechanism, Quantile)
    pairs = zip(names, widths(mechanism, rows), strict=True)
    return tuple(Expected(name, half, width, is_of_ranks) for name, (half, width) in pairs)


def _typical(asked: QueryRequest, declaration: Declaration) -> Fraction | None:
    for column in asked.query.read_columns:
        declared = find_column(
            asked.table(declaration), column.name, field="query.column", kinds=("integer", "number")
        )
        return None if declared.typical is None else Fraction(declared.typical.mean)
    return None


Widths = list[tuple[Fraction, Fraction]]


def _sums(query: Any, *bounds: int) -> NoisySums:
    return NoisySums(bounds, rows=query.rows, micro_epsilon=query.micro_epsilon)


def _count(query: Count | Mean, rows: _Rows, *, of: NoisySums | None = None) -> Widths:
    sums = of or _sums(query, 1)
    return [(Fraction(sums.half_width(0, alpha=_RARELY)), Fraction(rows.most))]


def _histogram(query: Histogram, rows: _Rows) -> Widths:
    half = Fraction(_sums(query, 1).half_width(0, alpha=_RARELY))
    return [(half, Fraction(rows.most))] * query.width


def _sum(query: Sum, rows: _Rows) -> Widths:
    grid = query.grid
    sums = _sums(query, max(abs(query.lowest), abs(query.lowest + grid.cells)))
    return [(sums.half_width(0, alpha=_RARELY) * grid.step, rows.most * (grid.upper - grid.lower))]


def _mean(query: Mean, rows: _Rows) -> Widths:
    grid, sums = query.grid, _sums(query, 1, query.grid.cells)
    middle = (grid.lower + grid.upper) / 2
    typical = min(max(rows.typical or middle, grid.lower), grid.upper)
    distances = int(rows.in_group * (typical - middle) * 2 / grid.step)
    half = mean_of(sums, grid, count=rows.in_group, distances=distances).half_width_95
    assert half is not None
    return [(half, grid.upper - grid.lower), *_count(query, rows, of=sums)]


def _quantile(query: Quantile, rows: _Rows) -> Widths:
    """The ranks by which the exponential mechanism misses, as the page of its proof has it."""
    share = Fraction(query.micro_epsilon, MICRO * len(query.probabilities))
    found = []
    for probability in query.probabilities:
        worst = max(probability, 1 - probability)
        ranks = missed_ranks(
            query.width, epsilon=share, moved=query.rows * worst, together=len(query.probabilities)
        )
        found.append((ranks, Fraction(rows.in_group)))
    return found


_WIDTHS: Mapping[type, Callable[[Any, _Rows], Widths]] = {
    Count: _count,
    Sum: _sum,
    Mean: _mean,
    Histogram: _histogram,
    Quantile: _quantile,
}


def rank_words(asked: QueryRequest, declaration: Declaration) -> str | None:
    """What is known of where released quantiles lie, in every group; None of other kinds."""
    found = expected_noise(asked, declaration) if asked.query.kind == "quantile" else ()
    return said_of_rows([(each.name, each.half_width) for each in found])


def noise_words(found: Sequence[Expected], people: int) -> str:
    """What a person is told before the release; empty where nothing is known."""
    if not found:
        return ""
    if found[0].is_of_ranks:
        said = ", ".join(f"{each.name} by {float(each.half_width):.2g}" for each in found[:MOST_TOLD])
        return f"95 times in 100 the noise moves {said} rows at most, of {people:,} people."
    if len({each.half_width for each in found}) == 1:
        said = f"each number by {float(found[0].half_width):.3g}"
    else:
        said = ", ".join(f"{each.name} by {float(each.half_width):.3g}" for each in found[:MOST_TOLD])
    return (
        f"If all of {people:,} people count, the noise moves, 95 times in 100, {said} at most. Where fewer "
        "meet the conditions, or a mean lies far from the middle of its bounds, its noise is wider."
    )
