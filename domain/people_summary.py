"""What is read of the rows of a table that has a row for each person: one number for each summary.

Nothing here sees rows; `domain/shape/table.py` reads them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from domain.model import Model, Number, is_none
from privacy.people import square

ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]*$")]


class Product(Model):
    """(x - centre of its bounds) (y - centre of its bounds), both clipped to their bounds first."""

    column: ColumnName
    bounds: tuple[Number, Number]
    beside: tuple[Number, Number]
    """Bounds of `column`, and of the column that it is multiplied with."""


class Standard(Model):
    """A column as it is standardised: clipped to its bounds, less its centre, in units of its spread."""

    bounds: tuple[Number, Number]
    centre: Number
    spread: Annotated[Number, Field(gt=0)]

    def of(self, number: float) -> float:
        low, high = self.bounds
        return (min(max(number, low), high) - self.centre) / self.spread


class Square(Model):
    """The square of the sum, or of the difference, of two columns that were standardised."""

    column: ColumnName
    of: Literal["sum", "difference"]
    standards: tuple[Standard, Standard]
    """Of the summary's own column, and of `column`."""

    def value(self, x: float, y: float) -> float:
        u, v = (standard.of(number) for standard, number in zip(self.standards, (x, y), strict=True))
        return square(u, v if self.of == "sum" else -v)


class Summary(Model):
    """What is read of the rows of a table: the mean of a column, the share of rows above a number, a
    quantile, or the mean of a product or of a square.

    `of` names what it is a part of. With `complete`, rows without a number in that column do not count.
    """

    column: ColumnName
    above: Number | None = None
    quantile: Annotated[Number | None, Field(exclude_if=is_none)] = None
    times: Annotated[Product | None, Field(exclude_if=is_none)] = None
    square: Annotated[Square | None, Field(exclude_if=is_none)] = None
    complete: Annotated[ColumnName | None, Field(exclude_if=is_none)] = None
    of: Annotated[str | None, Field(exclude_if=is_none)] = None

    @property
    def words(self) -> str:
        return self._summary if self.of is None else f"{self._summary} for {self.of}"

    @property
    def _summary(self) -> str:
        if self.times is not None:
            return f"mean product with {self.times.column}"
        if self.square is not None:
            return f"mean square of {self.square.of} with {self.square.column}"
        if self.quantile is not None:
            return f"quantile {self.quantile:g}"
        return "mean" if self.above is None else f"share above {self.above:g}"
