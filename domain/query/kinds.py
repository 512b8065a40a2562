"""The kinds of trusted query, each with the public mathematics that it stands for."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

from domain.dataset import ColumnName, Table
from domain.errors import InvalidRequest
from domain.model import InsidePath, Model, Number, Whole
from domain.query.columns import ClippedColumn, exact, find_column
from domain.query.contribution import Contribution
from domain.query.filters import MAX_COMPARISONS, Comparison
from privacy.grid import OutputGrid
from privacy.trusted import (
    Count,
    Covariance,
    Histogram,
    LinearRegression,
    Mean,
    Quantile,
    Sum,
    TrustedQuery,
    Variance,
)
from privacy.trusted.histogram import MAX_BINS
from privacy.trusted.moments import MAX_COLUMNS
from privacy.trusted.quantile import MAX_PROBABILITIES


def _share(value: Any) -> str:
    """One spelling for one share, so that ".50" and 0.5 are the same question."""
    text = repr(value) if isinstance(value, float) else str(value)
    if not re.fullmatch(r"0?\.[0-9]{1,3}", text, re.ASCII) or not Fraction(text):
        raise ValueError("must be between 0 and 1, with at most 3 decimals, such as 0.5")
    return f"0.{text.partition('.')[2].rstrip('0')}"


Probability = Annotated[
    str,
    BeforeValidator(_share),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}], "examples": ["0.5"]}),
]


class Query(Model):
    """What all kinds have in common. `words`: a title, and what it is of, as a form offers it.
    `is_of_one_kind`: its numbers are all counts, so that one scale suits them. `reads_down`: which bin or
    cell a value lies in decides, so it is read as the step below it and not as the nearest."""

    words: ClassVar[tuple[str, str]]
    is_of_one_kind: ClassVar[bool] = False
    reads_down: ClassVar[bool] = False
    table: InsidePath | None = None
    where: Annotated[tuple[Comparison, ...], Field(max_length=MAX_COMPARISONS)] = ()
    by: Annotated[tuple[ColumnName, ...], Field(max_length=3)] = ()
    contribution: Contribution | None = None

    @property
    @abstractmethod
    def read_columns(self) -> tuple[ClippedColumn, ...]:
        """The numeric columns that it reads, in the order in which the mathematics takes them."""

    @abstractmethod
    def build(self, table: Table, /, *, micro_epsilon: int, rows: int) -> TrustedQuery:
        """The query in one group. Raises InvalidRequest or ValueError."""

    @abstractmethod
    def outputs(self, table: Table, /) -> tuple[str, ...]:
        """The names of the released numbers of one group."""

    def group_columns(self, table: Table) -> tuple[str, ...]:
        """The categorical columns that rows are grouped by. Raises InvalidRequest."""
        for position, name in enumerate(self.by):
            find_column(table, name, field=f"query.by.{position}", kinds=("categorical",))
        if len(set(self.by)) < len(self.by):
            raise InvalidRequest("query.by", "a column is named twice.", "Name it once.")
        return self.by

    def grids(self, table: Table) -> tuple[OutputGrid, ...]:
        return tuple(column.grid(table, field=self._field(column)) for column in self.read_columns)

    def _field(self, column: ClippedColumn) -> str:
        many = len(self.read_columns) > 1
        return f"query.{'columns' if many else 'column'}.{column.name}"


class CountQuery(Query):
    """How many people (or rows, up to the limit of each person) meet the conditions."""

    kind: Literal["count"] = "count"
    words: ClassVar[tuple[str, str]] = ("How many", "people, or rows, that meet the conditions")
    is_of_one_kind: ClassVar[bool] = True

    @property
    def read_columns(self) -> tuple[ClippedColumn, ...]:
        return ()

    def build(self, _table: Table, /, *, micro_epsilon: int, rows: int) -> TrustedQuery:
        return Count(micro_epsilon=micro_epsilon, rows=rows)

    def outputs(self, _table: Table, /) -> tuple[str, ...]:
        return ("count",)


class _OfOneColumn(Query):
    column: ClippedColumn

    @property
    def read_columns(self) -> tuple[ClippedColumn, ...]:
        return (self.column,)


class SumQuery(_OfOneColumn):
    """The sum of a column."""

    kind: Literal["sum"] = "sum"
    words: ClassVar[tuple[str, str]] = ("Sum", "of a column")

    def build(self, table: Table, /, *, micro_epsilon: int, rows: int) -> TrustedQuery:
        return Sum(self.grids(table)[0], micro_epsilon=micro_epsilon, rows=rows)

    def outputs(self, _table: Table, /) -> tuple[str, ...]:
        return ("sum",)


class MeanQuery(_OfOneColumn):
    """The mean of a column, and the count."""

    kind: Literal["mean"] = "mean"
    words: ClassVar[tuple[str, str]] = ("Mean", "of a column, with the count")

    def build(self, table: Table, /, *, micro_epsilon: int, rows: int) -> TrustedQuery:
        return Mean(self.grids(table)[0], micro_epsilon=micro_epsilon, rows=rows)

    def outputs(self, _table: Table, /) -> tuple[str, ...]:
        return "mean", "count"


class VarianceQuery(_OfOneColumn):
    """The variance of a column, its mean, and the count."""

    kind: Literal["variance"] = "variance"
    words: ClassVar[tuple[str, str]] = ("Variance", "of a column, with its mean and the count")

    def build(self, table: Table, /, *, micro_epsilon: int, rows: int) -> TrustedQuery:
        return Variance(self.grids(table)[0], micro_epsilon=micro_epsilon, rows=rows)

    def outputs(self, _table: Table, /) -> tuple[str, ...]:
        return "variance", "mean", "count"


class HistogramQuery(_OfOneColumn):
    """How many values lie in each bin: `bins` of equal width, or between `edges`, which are the inner ones.

    For the counts of a column's categories, ask for a count by that column.
    """

    kind: Literal["histogram"] = "histogram"
    words: ClassVar[tuple[str, str]] = ("Histogram", "how many values lie in each of some bins")
    is_of_one_kind: ClassVar[bool] = True
    reads_down: ClassVar[bool] = True
    bins: Annotated[Whole, Field(ge=2, le=MAX_BINS)] | None = None
    edges: Annotated[tuple[Number, ...], Field(max_length=MAX_BINS - 1)] = ()

    def build(self, table: Table, /, *, micro_epsilon: int, rows: int) -> TrustedQuery:
        (grid,) = self.grids(table)
        edges = tuple(-(-(edge - grid.lower) // grid.step) for edge in self._edges(grid))
        return Histogram(grid, edges, micro_epsilon=micro_epsilon, rows=rows)

    def outputs(self, table: Table, /) -> tuple[str, ...]:
        (grid,) = self.grids(table)
        ends = [grid.lower, *self._edges(grid), grid.upper]
        return tuple(f"{low}..{high}" for low, high in pairwise(_told_apart([float(end) for end in ends])))

    def _edges(self, grid: OutputGrid) -> list[Fraction]:
        if (self.bins is None) == (not self.edges):
            raise InvalidRequest("query.bins", "give either bins or edges.", "For instance bins: 10.")
        if self.bins is None:
            return [exact(edge) for edge in self.edges]
        width = (grid.upper - grid.lower) / self.bins
        return [grid.lower + width * number for number in range(1, self.bins)]


def _told_apart(numbers: Sequence[float]) -> list[str]:
    """Different numbers in six digits, or in as many more as it takes to tell them apart."""
    texts = ([f"{number:.{digits}g}" for number in numbers] for digits in range(6, 18))
    return next(each for each in texts if len(set(each)) == len(set(numbers)))


class QuantileQuery(_OfOneColumn):
    """The values below which a share of the rows lies: "0.5" is the median."""

    kind: Literal["quantile"] = "quantile"
    words: ClassVar[tuple[str, str]] = (
        "Quantiles",
        "the median, or other values below which a share of the rows lies",
    )
    reads_down: ClassVar[bool] = True
    probabilities: Annotated[tuple[Probability, ...], Field(min_length=1, max_length=MAX_PROBABILITIES)] = (
        "0.5",
    )

    def build(self, table: Table, /, *, micro_epsilon: int, rows: int) -> TrustedQuery:
        shares = tuple(Fraction(share) for share in self.probabilities)
        return Quantile(self.grids(table)[0], shares, micro_epsilon=micro_epsilon, rows=rows)

    def outputs(self, _table: Table, /) -> tuple[str, ...]:
        return tuple(f"quantile {share}" for share in self.probabilities)


class CovarianceQuery(Query):
    """Covariances of every pair of columns, their means, and the count."""

    kind: Literal["covariance"] = "covariance"
    words: ClassVar[tuple[str, str]] = ("Covariance", "of every pair of some columns")
    columns: Annotated[tuple[ClippedColumn, ...], Field(min_length=2, max_length=MAX_COLUMNS)]

    @property
    def read_columns(self) -> tuple[ClippedColumn, ...]:
        return self.columns

    def build(self, table: Table, /, *, micro_epsilon: int, rows: int) -> TrustedQuery:
        return Covariance(self.grids(table), micro_epsilon=micro_epsilon, rows=rows)

    def outputs(self, _table: Table, /) -> tuple[str, ...]:
        names = [column.name for column in self.columns]
        pairs = (f"cov({one}, {other})" for one, other in combinations_with_replacement(names, 2))
        return *pairs, *(f"mean({name})" for name in names), "count"


class RegressionQuery(Query):
    """Linear regression of the target on the features: intercept, slopes, and the count."""

    kind: Literal["regression"] = "regression"
    words: ClassVar[tuple[str, str]] = ("Linear regression", "of the column on the columns that you tick")
    features: Annotated[tuple[ClippedColumn, ...], Field(min_length=1, max_length=MAX_COLUMNS - 1)]
    target: ClippedColumn

    @property
    def read_columns(self) -> tuple[ClippedColumn, ...]:
        return *self.features, self.target

    def build(self, table: Table, /, *, micro_epsilon: int, rows: int) -> TrustedQuery:
        return LinearRegression(self.grids(table), micro_epsilon=micro_epsilon, rows=rows)

    def outputs(self, _table: Table, /) -> tuple[str, ...]:
        return "intercept", *(f"slope({column.name})" for column in self.features), "count"


AnyQuery = Annotated[
    CountQuery
    | SumQuery
    | MeanQuery
    | VarianceQuery
    | HistogramQuery
    | QuantileQuery
    | CovarianceQuery
    | RegressionQuery,
    Field(discriminator="kind"),
]
QUERIES: dict[str, type[Query]] = {
    kind.model_fields["kind"].default: kind for kind in get_args(get_args(AnyQuery)[0])
}
"""By name, all that there are."""
