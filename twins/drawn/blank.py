"""One cell of a blank form: drawn from what its column declares, and from nothing else.

Columns that use only what the first version of a declaration had are drawn as they always were, to the byte:
pipelines were tried on those twins.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from domain.dataset import Column
from domain.dataset.column import plain
from domain.twin.cells import any_grid, written
from twins.pii import masks

Draw = Callable[[str, random.Random], str]

_TRIES = 100
_MASKS = 1_000_000
_WORDS = {
    "code": "tw{number:06d}",
    "line": "twin text {number:06d}, drawn without the data",
    "paragraph": "This is twin text {number:06d}. It stands for a paragraph that somebody wrote. It was made "
    "without opening the data, has about the length of a paragraph, and says nothing about anybody. A "
    "pipeline can count its words, split it into sentences, or look for a term that it will not find.",
}


def blank_cell(column: Column) -> Draw:
    """What draws a cell for a person; its draws come from the generator given, in a fixed order."""
    if not column.is_drawn_anew:
        return lambda person, draw: _as_ever(column, person, draw)
    if column.kind == "text" or _decision(column) == "mask":
        return lambda _person, draw: _or_missing(column, draw, lambda: _placeholder(column, draw))
    if column.kind == "categorical" and column.is_generalised:
        coarse = tuple(dict.fromkeys(column.coarsen.values()))
        return lambda _person, draw: _or_missing(column, draw, lambda: draw.choice(coarse))
    if column.kind == "categorical":
        weights = [column.typical_shares[category] for category in column.categories]
        return lambda _person, draw: _or_missing(
            column, draw, lambda: draw.choices(column.categories, weights=weights)[0]
        )
    numbers = _Numbers(column)
    return lambda _person, draw: _or_missing(column, draw, lambda: numbers.draw(draw))


def _or_missing(column: Column, draw: random.Random, present: Callable[[], str]) -> str:
    return column.missing if draw.random() < column.missing_rate else present()


def _decision(column: Column) -> str:
    return column.pii.decision if column.pii else "keep"


def _placeholder(column: Column, draw: random.Random) -> str:
    """Text in the form that the import leaves it in: a made-up value, a pseudonym, or as long as declared."""
    if column.pii and column.pii.decision == "mask":
        return masks(column.pii.kind, draw.randrange(_MASKS))
    if _decision(column) == "pseudonymise":
        return f"p{draw.getrandbits(80):020x}"
    return _WORDS[column.text_length].format(number=draw.randrange(_MASKS))


class _Numbers:
    """Numbers and days on the lattice of their column: a special value as often as declared, half of the
    time in all where nobody says; else a number near what is usual, or from any bin alike."""

    def __init__(self, column: Column) -> None:
        self._grid = any_grid(column, 0)
        shares = [column.typical_shares.get(plain(value), 0.0) for value in column.special_values]
        if column.special_values and not column.typical_shares:
            shares = [0.5 / len(shares)] * len(shares)
        self._shares = shares
        usual = column.typical or column.usual
        self._usual = (usual.mean, usual.sd) if usual else None

    def draw(self, draw: random.Random) -> str:
        grid, at = self._grid, draw.random() if self._shares else 1.0
        for number, share in enumerate(self._shares):
            at -= share
            if at < 0:
                return grid.text(grid.bins + number, draw)
        if self._usual is None or grid.column.is_generalised:
            return grid.text(draw.randrange(grid.bins), draw)  # even on the declared scale
        assert grid.lattice is not None
        value = _truncated(*self._usual, grid.column.bounds, draw)
        return written(grid.column, grid.lattice, grid.lattice.nearest(value))


def _truncated(mean: float, sd: float, bounds: tuple[float, float], draw: random.Random) -> float:
    """A normal number inside the bounds; an even one where hardly any would be."""
    lower, upper = bounds
    for _ in range(_TRIES):
        value = draw.gauss(mean, sd)
        if lower <= value <= upper:
            return value
    share = draw.random()
    return lower * (1 - share) + upper * share


def _as_ever(column: Column, person: str, draw: random.Random) -> str:
    if column.kind == "person":
        return person
    if draw.random() < column.missing_rate:
        return column.missing
    if column.kind == "categorical":
        return draw.choice(column.categories)
    lower, upper = column.bounds
    value = _number(column, draw, lower=lower, upper=upper)
    if column.kind == "integer":
        return str(min(max(round(value), math.ceil(lower)), math.floor(upper)))
    text = f"{value:.{column.decimals}f}"
    # bounds may be finer than the decimals; the twin keeps to the bounds
    return text if lower <= float(text) <= upper else repr(value)


def _number(column: Column, draw: random.Random, *, lower: float, upper: float) -> float:
    if column.typical is None:
        share = draw.random()
        value = lower * (1 - share) + upper * share  # their difference may be beyond the largest float
    else:
        value = draw.gauss(column.typical.mean, column.typical.sd)
    return min(max(value, lower), upper)
