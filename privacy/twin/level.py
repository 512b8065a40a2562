"""What a twin will be worth, from the declaration alone: no data is looked at and nothing is spent."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from privacy.loss import MICRO, check_micro_epsilon, format_epsilon
from privacy.twin.column_counts import ColumnCounts
from privacy.twin.patterns import MAX_COLUMNS

PATTERNS_FROM = 5000
COLUMNS_FROM = 500
"""Of people times epsilon. From measured twins of subsamples of one table of 32,561 people, 15 columns."""

LARGEST_ERROR = Fraction(15, 100)
"""Most predicted_tv1 for a twin that is worth its budget; blind draws from a range reach about .5."""

_EPSILON_OF_SMALL = 10
"""From here on patterns are worth it for 500 people already, along a tree."""


class Suggestion(NamedTuple):
    """`level` 0 (schema), 1 (counts) or 2 (patterns), and one sentence that says why."""

    level: Literal[0, 1, 2]
    why: str


def predicted_tv1(cells: Sequence[int], *, nominal_size: int, micro_epsilon: int, rows: int = 1) -> float:
    """Expected total variation distance of the columns of a level 1 twin to those of the data, on average.

    nominal_size is the declared number of rows and `rows` the most of one person. With k columns of d_j cells
    each cell has noise of mean magnitude about t = C k/epsilon, and half the sum of the magnitudes over n
    rows is the distance: mean_j d_j t/(2 n) = C k mean(d)/(2 n epsilon), at most 1. It holds while most
    counts are above their noise; where counts are held above zero the error is smaller than predicted.
    """
    return float(min(_predicted(cells, nominal_size, micro_epsilon, rows), Fraction(1)))


def predicted_tv1_of(cells: Sequence[int], *, nominal_size: int, deviation: Fraction) -> float:
    """The same for Gaussian noise of this standard deviation on every count of a column."""
    return float(min(_of_gaussian(cells, nominal_size, deviation), Fraction(1)))


def suggested_level(
    cells: Sequence[int],
    *,
    nominal_size: int,
    micro_epsilon: int,
    rows: int = 1,
    deviation: Fraction | None = None,
) -> Suggestion:
    """The level that these columns are worth at this price, from people times epsilon and predicted_tv1.

    `deviation` is that of a count at level 1 if the noise is Gaussian. Raises ValueError for columns, a size
    or an epsilon that no twin of counts can have.
    """
    ColumnCounts(tuple(cells), micro_epsilon, rows)
    error = _predicted(cells, nominal_size, micro_epsilon, rows)
    if deviation is not None:
        error = _of_gaussian(cells, nominal_size, deviation)
    strength = nominal_size * Fraction(micro_epsilon, MICRO * rows)
    size = f"{nominal_size} rows at epsilon {format_epsilon(micro_epsilon)}"
    if strength < COLUMNS_FROM:
        return Suggestion(0, f"{size} are too little: counts would be mostly noise.")
    if error > LARGEST_ERROR:
        return Suggestion(
            0,
            f"the predicted error of a column is {float(error):.2f}, above {float(LARGEST_ERROR)}; "
            "take fewer columns, wider bins or a larger epsilon.",
        )
    small = nominal_size >= COLUMNS_FROM and micro_epsilon >= _EPSILON_OF_SMALL * MICRO * rows
    if strength < PATTERNS_FROM and not small:
        return Suggestion(1, f"{size} carry each column's counts, but no pairs of columns.")
    if len(cells) == 1:
        return Suggestion(1, "one column has no pairs.")
    if len(cells) > MAX_COLUMNS:
        return Suggestion(1, f"patterns take up to {MAX_COLUMNS} columns, and these are {len(cells)}.")
    return Suggestion(2, f"{size} carry the counts of columns and of their strongest pairs.")


def _of_gaussian(cells: Sequence[int], nominal_size: int, deviation: Fraction) -> Fraction:
    # the mean magnitude of such noise is sqrt(2/pi) of its standard deviation
    return Fraction(sum(cells), len(cells)) * deviation * Fraction(4, 5) / (2 * nominal_size)


def _predicted(cells: Sequence[int], nominal_size: int, micro_epsilon: int, rows: int) -> Fraction:
    check_micro_epsilon(micro_epsilon)
    if nominal_size < 1:
        raise ValueError("the declared number of rows must be at least 1.")
    return Fraction(rows * sum(cells) * MICRO, 2 * nominal_size * micro_epsilon)
