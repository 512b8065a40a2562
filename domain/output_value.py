"""One number that may be released: its name and its bounds."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints, model_validator

from domain.model import Model, Number
from privacy.grid import OutputGrid

ValueName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$")]


class OutputValue(Model):
    """One number that may be released. The bounds are the researcher's, typed without seeing the data."""

    name: ValueName
    lower: Number
    upper: Number

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
