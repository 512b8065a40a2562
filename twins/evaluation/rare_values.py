"""Values that exactly one person has, and whether they stand in the twin again.

A twin of levels 0 to 2 can repeat such a value only by drawing it: a declared category, or a point of the
declared grid inside the bounds. A value outside of these can only have come from the data: there must be
none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from domain.dataset import Column
from twins.evaluation.sheet import Sheet, Values


@dataclass(frozen=True)
class RareValues:
    """Of one column: values that one person alone has; how many of them the twin holds; how many of those
    no draw could have made."""

    name: str
    held_by_one: int
    reappear: int
    undeclared: int


def rare_values(original: Sheet, twin: Sheet) -> list[RareValues]:
    """Each column that is in both."""
    pairs = zip(original.columns, twin.columns, strict=True)
    return [_of_column(one, other, original.people) for one, other in pairs]


def _of_column(original: Values, twin: Values, people: tuple[str, ...]) -> RareValues:
    holders: dict[float | str, str | None] = {}
    for value, person in zip(_values(original), people, strict=True):
        if value is not None:
            holders[value] = person if holders.get(value, person) == person else None
    alone = {value for value, person in holders.items() if person is not None}
    again = alone & {value for value in _values(twin) if value is not None}
    undeclared = sum(not is_declared(original.column, value) for value in again)
    return RareValues(original.name, len(alone), len(again), undeclared)


def is_declared(column: Column, value: float | str) -> bool:
    """Whether a draw from the declaration alone can give this value."""
    if isinstance(value, str):
        return value in {category.strip() for category in column.categories}
    if value in column.special_values:
        return True
    low, high = column.bounds
    if not low <= value <= high:
        return False
    places = 0 if column.kind in ("integer", "date") else column.decimals
    # the twin may hold more digits than declared where the bounds are finer than those
    return math.isclose(value, round(value, places), rel_tol=1e-12, abs_tol=0.0)


def _values(values: Values) -> list[float | str | None]:
    found: list[float | str] = (values.numbers if values.is_ordered else values.words).tolist()
    return [value if there else None for value, there in zip(found, values.present.tolist(), strict=True)]
