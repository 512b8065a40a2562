"""Ladders: how the values of a column are made coarser, step by step, up to a star that says nothing.

Step 0 is the value as it is. Each step is a function of the one below it, so that classes only ever grow
together (a domain generalisation hierarchy in the sense of L. Sweeney, IJUFKS 10(5), 2002, 571-588). Missing
cells stay missing until the star. A value that a ladder does not know is refused, by its row.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from domain.errors import InvalidRequest
from domain.model import Model, Number, Whole
from twins.anonymity.table import MISSING

STAR = "*"
LARGEST_EXPONENT = 300


class Intervals(Model):
    """Numbers into intervals `[low, high)` of these widths, each a multiple of the one before it."""

    kind: Literal["intervals"]
    widths: Annotated[tuple[Annotated[Number, Field(gt=0)], ...], Field(min_length=1, max_length=20)]
    origin: Number = 0.0

    @model_validator(mode="after")
    def _nest(self) -> Self:
        for low, high in pairwise(_exact(width) for width in self.widths):
            if (high / low).denominator != 1 or high == low:
                raise ValueError("each width must be a multiple of the one before it, and wider")
        return self

    @property
    def steps(self) -> int:
        return len(self.widths)

    def step(self, cell: str, step: int) -> str | None:
        number = _number(cell)
        if number is None:
            return None
        width, origin = _exact(self.widths[step - 1]), _exact(self.origin)
        low = origin + (number - origin) // width * width
        return f"[{_short(low)}, {_short(low + width)})"


class Prefix(Model):
    """Texts by so many of their first characters, the others masked: `02138` as `021**`."""

    kind: Literal["prefix"]
    keep: Annotated[tuple[Annotated[Whole, Field(ge=1)], ...], Field(min_length=1, max_length=20)]

    @model_validator(mode="after")
    def _shrink(self) -> Self:
        if any(high <= low for high, low in pairwise(self.keep)):
            raise ValueError("must get smaller from step to step")
        return self

    @property
    def steps(self) -> int:
        return len(self.keep)

    def step(self, cell: str, step: int) -> str | None:
        kept = cell[: self.keep[step - 1]]
        return kept + STAR * (len(cell) - len(kept))


class Categories(Model):
    """Words into coarser words: each map takes the words of the step below it."""

    kind: Literal["categories"]
    maps: Annotated[tuple[dict[str, str], ...], Field(min_length=1, max_length=20)]

    @model_validator(mode="after")
    def _chain(self) -> Self:
        for below, above in pairwise(self.maps):
            left = sorted(set(below.values()) - set(above))
            if left:
                raise ValueError(f"the map above does not take {left[0]!r}")
        return self

    @property
    def steps(self) -> int:
        return len(self.maps)

    def step(self, cell: str, step: int) -> str | None:
        word: str | None = cell
        for one in self.maps[:step]:
            word = one.get(word) if word is not None else None
        return word


class Star(Model):
    """As it is, or not at all."""

    kind: Literal["star"]

    @property
    def steps(self) -> int:
        return 0

    def step(self, cell: str, _step: int) -> str | None:
        return cell


Ladder = Annotated[Intervals | Prefix | Categories | Star, Field(discriminator="kind")]


def height(ladder: Intervals | Prefix | Categories | Star) -> int:
    """The step of the star."""
    return ladder.steps + 1


def climb(
    ladder: Intervals | Prefix | Categories | Star, cells: Sequence[str], step: int, *, name: str
) -> tuple[str, ...]:
    """A column at one step. Raises InvalidRequest, naming the row, for a value unknown to the ladder."""
    if step == 0:
        return tuple(cells)
    if step >= height(ladder):
        return (STAR,) * len(cells)
    made: dict[str, str | None] = {cell: cell for cell in MISSING}
    for row, cell in enumerate(cells, start=1):
        if cell not in made:
            made[cell] = ladder.step(cell, step)
        if made[cell] is None:
            raise InvalidRequest(
                f"quasi.{name}.ladder",
                f"does not know the value in row {row}.",
                "Add it to the ladder, or mend the cell.",
            )
    return tuple(made[cell] or "" for cell in cells)


def _number(cell: str) -> Fraction | None:
    try:
        number = Decimal(cell)
    except InvalidOperation:
        return None
    # of a larger exponent the exact number would fill the memory
    fits = number.is_finite() and abs(number.adjusted()) <= LARGEST_EXPONENT
    return Fraction(number) if fits else None


def _exact(number: float) -> Fraction:
    # 0.1 stands for a tenth, as it was written
    return Fraction(repr(number))


def _short(number: Fraction) -> str:
    return str(number.numerator) if number.denominator == 1 else f"{float(number):.12g}"
