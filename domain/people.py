"""What is made of a table with a row for each person: which numbers are drawn, and what follows from them.

A column gives one number or several of each person; a release draws a mean or a quantile over people of each.
Sums, counts, covariances and correlations follow from drawn numbers alone, so they cost nothing further.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field, model_validator

from domain.model import Model, Number, is_empty, is_none
from domain.output_value import OutputValue, PersonValue, ValueName
from domain.people_summary import ColumnName, Product, Square, Standard, Summary
from privacy.people import SQUARES_MOST, Kind

Aggregate = Literal["mean", "share", "sum", "count", "quantile", "covariance", "correlation"]

LONGEST_OF_SEVERAL = 56
"""Letters of a name from which further names are made."""

_SINGLE = ("mean", "share", "quantile")
"""What is one drawn number, and no result of several."""

_QUANTILE_STEPS = 1000

_WIDEST = 1000
"""Bounds over spread: what is wider has a spread that was mistyped, or squares that overflow."""


class Beside(Model):
    """The other column of a covariance or a correlation, with the bounds that a person's number is clipped
    to, and its centre and spread where the correlation is made of two means."""

    column: ColumnName
    """Its heading in the first row of the file."""
    lower: Number
    """Smaller numbers are clamped to this."""
    upper: Number
    """Larger numbers are clamped to this."""
    centre: Annotated[Number | None, Field(exclude_if=is_none)] = None
    """As that of the column itself: all four, or none."""
    spread: Annotated[Number | None, Field(exclude_if=is_none)] = None
    """As that of the column itself."""

    @model_validator(mode="after")
    def _bounds_in_order(self) -> Beside:
        OutputValue(name="beside", lower=self.lower, upper=self.upper)
        return self


class Result(Model):
    """A number that follows from drawn ones, which `parts` names in the order that its formula wants."""

    name: str
    kind: Kind
    parts: tuple[str, ...]
    standards: Annotated[tuple[Standard, ...], Field(exclude_if=is_empty)] = ()
    """Of x and y, where squares of them are the parts."""

    def centres(self, values: Sequence[OutputValue]) -> tuple[Fraction, ...]:
        """What x and y are taken from: of products the middles of the bounds, by the declared values of the
        parts; of squares what was declared."""
        if self.kind == "total":
            return ()
        if self.standards:
            return tuple(Fraction(repr(each.centre)) for each in self.standards)
        return tuple(Fraction((value.lower + value.upper) / 2) for value in values[:2])


class ColumnBounds(Model):
    """A column of a table that has a row for each person, as one number: the mean over people between bounds,
    the share of people who are above a number, or what `aggregate` says."""

    column: ColumnName
    """Its heading in the first row of the file."""
    name: ValueName
    """How the release calls the number."""
    lower: Annotated[Number | None, Field(exclude_if=is_none)] = None
    """Smaller numbers (of a mean: smaller means of a run) are clamped to this."""
    upper: Annotated[Number | None, Field(exclude_if=is_none)] = None
    """Larger numbers (of a mean: larger means of a run) are clamped to this."""
    above: Annotated[Number | None, Field(exclude_if=is_none)] = None
    """In place of `lower` and `upper`: the share of people above this number, or their count."""
    aggregate: Annotated[Aggregate | None, Field(exclude_if=is_none)] = None
    """`mean`, `share`, `sum`, `count`, `quantile`, `covariance` or `correlation` over people. Left out, it is
    a mean, or a share where `above` stands, or a quantile where `quantile` stands. All but mean and share
    need blocks of one."""
    quantile: Annotated[Number | None, Field(exclude_if=is_none)] = None
    """Which quantile, between 0 and 1, such as 0.25."""
    beside: Annotated[Beside | None, Field(exclude_if=is_none)] = None
    """Of a covariance or a correlation: the other column."""
    centre: Annotated[Number | None, Field(exclude_if=is_none)] = None
    """Of a correlation of two means: about the column's mean, from what you know or the twin."""
    spread: Annotated[Number | None, Field(exclude_if=is_none)] = None
    """Of a correlation of two means: about the standard deviation of the column."""

    @model_validator(mode="after")
    def _says_what_is_summarised(self) -> ColumnBounds:
        self._check_bounds()
        self._check_quantile()
        self._check_beside()
        _ = self.standards
        if len(self.name) > LONGEST_OF_SEVERAL and self.kind not in _SINGLE:
            raise ValueError(f"{self.name}: names of a {self.kind} have at most {LONGEST_OF_SEVERAL} letters")
        _ = self.values
        return self

    def _check_bounds(self) -> None:
        has_bounds = self.lower is not None and self.upper is not None
        if self.kind in ("share", "count"):
            if self.above is None:
                raise ValueError(f"{self.name}: a {self.kind} is of people above a number; add above")
            if self.lower is not None or self.upper is not None:
                raise ValueError(f"{self.name}: a share is from 0 to 1; leave lower and upper out")
        elif self.above is not None:
            raise ValueError(f"{self.name}: above belongs to a share or a count; leave it out")
        elif not has_bounds:
            raise ValueError(
                f"{self.name}: give lower and upper for a {self.kind}, or above for a share of people"
            )

    def _check_quantile(self) -> None:
        if self.kind != "quantile":
            if self.quantile is not None:
                raise ValueError(
                    f"{self.name}: quantile belongs to aggregate quantile; leave one of them out"
                )
            return
        if self.quantile is None:
            raise ValueError(f"{self.name}: say which quantile, such as quantile: 0.25")
        if not 0 < self.quantile < 1:
            raise ValueError(
                f"{self.name}: a quantile lies between 0 and 1; the least and the largest are single "
                "people's numbers, so take 0.05 or 0.95"
            )
        if (Fraction(str(self.quantile)) * _QUANTILE_STEPS).denominator != 1:
            raise ValueError(f"{self.name}: quantile has at most three decimals")

    def _check_beside(self) -> None:
        if self.kind not in ("covariance", "correlation"):
            if self.beside is not None:
                raise ValueError(f"{self.name}: beside belongs to a covariance or a correlation")
            return
        if self.beside is None:
            raise ValueError(
                f"{self.name}: name the other column of the {self.kind} and its bounds: "
                "beside: {column: ..., lower: ..., upper: ...}"
            )
        if self.beside.column == self.column:
            raise ValueError(
                f"{self.name}: a {self.kind} of {self.column} with itself says nothing; name another column"
            )

    @property
    def standards(self) -> tuple[Standard, ...]:
        """Of this column and the other, where a correlation is made of two means. Raises ValueError for
        centres and spreads that are not all there, or that do not fit the bounds."""
        sides = (self, *(() if self.beside is None else (self.beside,)))
        typed = [number for side in sides for number in (side.centre, side.spread)]
        if all(number is None for number in typed):
            return ()
        if self.kind != "correlation":
            raise ValueError(f"{self.name}: centre and spread belong to a correlation; leave them out")
        return tuple(self._standard(side) for side in sides)

    def _standard(self, side: ColumnBounds | Beside) -> Standard:
        low, high, centre, spread = side.lower, side.upper, side.centre, side.spread
        if low is None or high is None or centre is None or spread is None:
            raise ValueError(
                f"{self.name}: a correlation of two means wants centre and spread of both columns, "
                "or neither of either"
            )
        if not low <= centre <= high or not (high - low) / _WIDEST <= spread <= high - low:
            raise ValueError(
                f"{self.name}: the centre of {side.column} lies within its bounds, and its spread, a "
                f"standard deviation, is at most as wide as they are and at least a {_WIDEST:,}th of that"
            )
        return Standard(bounds=(low, high), centre=centre, spread=spread)

    @property
    def kind(self) -> Aggregate:
        if self.aggregate is not None:
            return self.aggregate
        if self.quantile is not None:
            return "quantile"
        return "mean" if self.above is None else "share"

    @property
    def is_of_each_person(self) -> bool:
        """Whether it takes every person's own number, and so blocks of one."""
        return self.kind not in ("mean", "share")

    @property
    def value(self) -> OutputValue:
        """Of a column that gives one number."""
        return self.values[0]

    @property
    def values(self) -> tuple[OutputValue, ...]:
        """The numbers that are drawn, in the order of `summaries`."""
        lower, upper = (0.0, 1.0) if self.lower is None or self.upper is None else (self.lower, self.upper)
        if self.kind == "quantile":
            return (PersonValue(name=self.name, lower=lower, upper=upper, quantile=self.quantile),)
        if self.kind == "count":
            return (self._part("share", 0, 1, absent=0),)
        if self.kind == "sum":
            return (self._part("mean", lower, upper, absent=min(max(0, lower), upper)),)
        if self.beside is None:
            return (OutputValue(name=self.name, lower=lower, upper=upper),)
        if self.standards:
            # whoever lacks one of the two numbers counts as nothing in both, which leaves their quotient
            return tuple(self._part(part, 0, SQUARES_MOST, absent=0) for part in ("plus", "minus"))
        return self._moments(lower, upper, self.beside)

    def _moments(self, lower: float, upper: float, beside: Beside) -> tuple[OutputValue, ...]:
        """Whoever lacks one of the two numbers counts as the centre of both bounds in each of them."""
        a, b = (upper - lower) / 2, (beside.upper - beside.lower) / 2
        both = (
            self._part("x", lower, upper, absent=(lower + upper) / 2),
            self._part("y", beside.lower, beside.upper, absent=(beside.lower + beside.upper) / 2),
            self._part("xy", -a * b, a * b, absent=0),
        )
        if self.kind == "covariance":
            return both
        return (*both, self._part("xx", 0, a * a, absent=0), self._part("yy", 0, b * b, absent=0))

    def _part(self, suffix: str, lower: float, upper: float, *, absent: float) -> OutputValue:
        name = f"{self.name}.{suffix}"
        return PersonValue(name=name, lower=lower, upper=upper, absent=absent, is_mean=True)

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """What is read of a table for each of `values`."""
        if self.result is None:
            return (Summary(column=self.column, above=self.above, quantile=self.quantile),)
        if self.beside is None:
            return (Summary(column=self.column, above=self.above, of=self.name),)
        assert self.lower is not None
        assert self.upper is not None
        one, other = (self.lower, self.upper), (self.beside.lower, self.beside.upper)
        x, y = self.column, self.beside.column
        if standards := self.standards:
            ways: tuple[Literal["sum", "difference"], ...] = ("sum", "difference")
            squares = [Square(column=y, of=way, standards=(standards[0], standards[1])) for way in ways]
            return tuple(Summary(column=x, square=each, complete=y, of=self.name) for each in squares)
        pairs = [(x, y, one, other)]
        if self.kind == "correlation":
            pairs += [(x, x, one, one), (y, y, other, other)]
        means = [Summary(column=a, complete=b, of=self.name) for a, b in ((x, y), (y, x))]
        products = [
            Summary(
                column=a,
                times=Product(column=b, bounds=bounds_b, beside=bounds_a),
                complete=y if a == x else x,
                of=self.name,
            )
            for a, b, bounds_a, bounds_b in pairs
        ]
        return (*means, *products)

    @property
    def result(self) -> Result | None:
        """What follows from `values`; None where the one drawn number is the result itself."""
        if self.kind in _SINGLE:
            return None
        kind: Kind = self.kind if self.kind in ("covariance", "correlation") else "total"
        if self.standards:
            kind = "correlation of squares"
        parts = tuple(value.name for value in self.values)
        return Result(name=self.name, kind=kind, parts=parts, standards=self.standards)
