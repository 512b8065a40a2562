"""What a scrambled table shows of people, counted: for the rights holder alone. Counts, never a value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from companions.scramble.identifiers import Identifier
from companions.scramble.methods import Columned, Columns
from domain.people_in_paths import MISSING


@dataclass(frozen=True)
class ColumnLeaks:
    """`held_by_one`: values that one person has; `reappear`: how many of these stand there again.

    `extremes`: whether the smallest and the largest number stand there again; None where a cell is no number.
    """

    name: str
    held_by_one: int
    reappear: int
    extremes: tuple[bool, bool] | None


@dataclass(frozen=True)
class TableLeaks:
    """`exact_rows`: rows without their ids that equal some row of the original. `identifiers`: columns that
    identify people by themselves."""

    path: str
    rows: int
    rows_before: int
    id_columns: tuple[str, ...]
    exact_rows: int
    columns: tuple[ColumnLeaks, ...]
    identifiers: tuple[Identifier, ...] = ()


def leaks_of(original: Columned, columns: Columns, identifiers: tuple[Identifier, ...] = ()) -> TableLeaks:
    """`columns` in the order of the original's; they may have another number of rows."""
    rest = [place for place in range(len(columns)) if place not in original.ids]
    people = _people(original)
    before = set(zip(*(original.columns[place] for place in rest), strict=True))
    after = list(zip(*(columns[place] for place in rest), strict=True))
    return TableLeaks(
        original.path,
        len(columns[0]),
        original.rows,
        tuple(original.names[place] for place in sorted(original.ids)),
        sum(row in before for row in after),
        tuple(
            _column(original.names[place], original.columns[place], columns[place], people) for place in rest
        ),
        identifiers,
    )


def _people(original: Columned) -> Sequence[object]:
    """Who each row speaks of; without an id column every row is somebody else's."""
    if not (places := sorted(original.who or original.ids)):
        return range(original.rows)
    return list(zip(*(original.columns[place] for place in places), strict=True))


def _column(name: str, before: Sequence[str], after: Sequence[str], people: Sequence[object]) -> ColumnLeaks:
    holders: dict[str, set[object]] = defaultdict(set)
    for cell, person in zip(before, people, strict=True):
        if cell not in MISSING:
            holders[cell].add(person)
    alone = {cell for cell, whose in holders.items() if len(whose) == 1}
    numbers, there = _numbers(before), _numbers(after)
    extremes = None
    if numbers:
        extremes = (min(numbers) in (there or ()), max(numbers) in (there or ()))
    return ColumnLeaks(name, len(alone), len(alone & set(after)), extremes)


def _numbers(cells: Sequence[str]) -> set[float] | None:
    """None for a column in which a cell is neither missing nor a number."""
    try:
        return {float(cell) for cell in cells if cell not in MISSING}
    except ValueError:
        return None
