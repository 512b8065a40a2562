"""One number that may be released: its name, its bounds, and their grid."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

from pydantic import StringConstraints, model_validator

from domain.model import Model, Number
from privacy.grid import OutputGrid
from privacy.people import Part

ValueName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")]


class OutputValue(Model):
    """One number that may be released. The bounds are the researcher's, typed without seeing the data."""

    name: ValueName
    """How the release calls it."""
    lower: Number
    """Smaller numbers are clamped to this. Type it without looking at the data."""
    upper: Number
    """Larger numbers are clamped to this."""

    @model_validator(mode="after")
    def _bounds_in_order(self) -> OutputValue:
        if self.lower >= self.upper:
            raise ValueError(f"{self.name}: lower must be less than upper")
        try:
            OutputGrid.build(self.lower, self.upper)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None
        return self


class PersonValue(OutputValue):
    """A number over people of what a pipeline says of each of them: a mean, unless a quantile is named.

    `absent` is what counts for whoever has no number, in the value's own units; the mechanism's default where
    it is None. `is_mean`: something is computed from it that only a mean can give.
    """

    quantile: Number | None = None
    absent: Number | None = None
    is_mean: bool = False


def parts_of(values: Sequence[OutputValue]) -> tuple[Part, ...] | None:
    """What outputs are beside their grid; None where they are nothing else."""
    if not any(isinstance(value, PersonValue) for value in values):
        return None
    return tuple(map(_part, values, grids_of(values)))


def _part(value: OutputValue, grid: OutputGrid) -> Part:
    if not isinstance(value, PersonValue):
        return Part()
    return Part(
        quantile=None if value.quantile is None else Fraction(str(value.quantile)),
        absent=None if value.absent is None else grid.snap(value.absent),
        is_mean=value.is_mean,
    )


def grids_of(values: Sequence[OutputValue]) -> tuple[OutputGrid, ...]:
    """The grids of these outputs, from their declared bounds."""
    return tuple(OutputGrid.build(value.lower, value.upper) for value in values)
