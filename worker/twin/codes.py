"""SQL for the cell that a value falls into: what `CellGrid.codes` says of the same text, and never NULL.

In two steps, so that the engine reads each value once: what stands in the file as a value of its kind, then
the cell of the value. Both look at one cell of the file alone and cannot fail. Edges are written as floats in
full, so that the engine and `CellGrid` compare the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from domain.twin.cells import CellGrid
from worker.scan.cells import Parameters
from worker.scan.source import Source

# as in `CellGrid`: other spellings could be a number to one of the two readers alone
_DIGITS = "[0-9]+(?:_[0-9]+)*"
_NUMBER = rf"[ \t-\r]*[+-]?(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?[ \t-\r]*"
_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_FIRST_DAY = "DATE '0001-01-01'"


def value_of(grid: CellGrid, source: Source, parameters: Parameters) -> str:
    """SQL for what the file says: text of a category, a double of anything else, NULL where it is neither."""
    name = grid.column.name
    cell, is_text = source.column(name), source.is_text(name)
    if grid.column.kind in ("integer", "number") and not is_text:
        return f"CAST({cell} AS DOUBLE)"
    text = cell if is_text else f"CAST({cell} AS VARCHAR)"
    if grid.column.kind == "categorical":
        return f"coalesce({text}, '')" if "" in grid.words else text
    missing = parameters.bind(grid.column.missing)
    if grid.column.kind == "date":
        return _days(text, missing, parameters)
    form = parameters.bind(_NUMBER)
    is_number = f"{text} <> {missing} AND regexp_full_match({text}, {form})"
    return f"CASE WHEN {is_number} THEN TRY_CAST({text} AS DOUBLE) END"


def cell_of(grid: CellGrid, value: str, parameters: Parameters) -> str:
    """SQL for the number of the cell, 0 to count - 1, whatever the value is."""
    if grid.column.kind == "categorical":
        return _of_category(grid, value, parameters)
    special = [f"WHEN {value} = {_exact(number)} THEN {cell}" for number, cell in grid.specials]
    nothing = f"WHEN {value} IS NULL OR NOT isfinite({value}) THEN {grid.unknown}"
    return f"(CASE {' '.join([nothing, *special])} ELSE {_search(value, grid.edges, first=0)} END)"


def _days(text: str, missing: str, parameters: Parameters) -> str:
    """Days since the year 1, as Python's ordinals; no day before it."""
    form = parameters.bind(_DATE)
    is_day = f"{text} <> {missing} AND regexp_full_match({text}, {form})"
    day = f"CASE WHEN {is_day} THEN TRY_CAST({text} AS DATE) END"
    ordinal = f"CAST(date_diff('day', {_FIRST_DAY}, {day}) + 1 AS DOUBLE)"
    return f"CASE WHEN {day} >= {_FIRST_DAY} THEN {ordinal} END"


def _of_category(grid: CellGrid, value: str, parameters: Parameters) -> str:
    """One case for each cell, which may hold several categories."""
    by_cell: dict[int, list[str]] = {}
    for word, found in grid.words.items():
        by_cell.setdefault(found, []).append(word)
    cases = [f"WHEN {value} IN {parameters.bind_all(words)} THEN {found}" for found, words in by_cell.items()]
    return f"(CASE {' '.join(cases)} ELSE {grid.unknown} END)"


def _search(value: str, edges: Sequence[float], *, first: int) -> str:
    """SQL for the number of edges that are at most `value`, plus `first`: a binary search."""
    if not edges:
        return str(first)
    half = len(edges) // 2
    below = _search(value, edges[:half], first=first)
    above = _search(value, edges[half + 1 :], first=first + half + 1)
    return f"CASE WHEN {value} < {_exact(edges[half])} THEN {below} ELSE {above} END"


def _exact(number: float) -> str:
    """A literal that the engine reads as this very float: one with an exponent is no decimal."""
    return f"{number:.17e}"
