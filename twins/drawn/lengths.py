"""How long the texts of a column may be in a twin, told from its declaration: before any of them is made."""

from __future__ import annotations

from collections.abc import Iterator

from domain.dataset import Column
from domain.dataset.column import plain
from domain.twin.lattice import Lattice
from twins.pii import masks

CELL_BYTES = 10
"""Of a cell that is no text, at least: with what stands between two of them."""
_TEXT_BYTES = {"code": 10, "line": 45, "paragraph": 320}
_PSEUDONYM_BYTES = 21
_FLOAT_BYTES = 24
_FEW_POINTS = 20


def longest_cell(column: Column) -> int:
    """About how many bytes its longest cell takes in the file."""
    least = _TEXT_BYTES[column.text_length] if column.kind == "text" else CELL_BYTES
    return max(least, *(1 + length for length in _lengths(column)))


def _lengths(column: Column) -> Iterator[int]:
    yield _written(column.missing)
    decision = column.pii.decision if column.pii else "keep"
    if decision == "pseudonymise":
        yield _PSEUDONYM_BYTES
    if column.pii and decision == "mask":
        yield from (_written(masks(column.pii.kind, number)) for number in (255, 999_999))
    if column.kind == "categorical":
        yield from map(_written, (*column.categories, *column.coarsen.values()))
    if column.kind in ("integer", "number"):
        yield from _of_numbers(column)


def _of_numbers(column: Column) -> Iterator[int]:
    lattice = Lattice.of(column)
    yield from (len(lattice.text(point)) for point in (lattice.first, lattice.last))
    yield from (len(plain(value)) for value in column.special_values)
    # rounded to so few points, many numbers would leave the bounds: those stand there in full
    if column.kind == "number" and (lattice.decimals > column.decimals or lattice.points < _FEW_POINTS):
        yield _FLOAT_BYTES


def _written(text: str) -> int:
    """With the quotation marks that a file with commas needs."""
    quotes = text.count('"')
    return len(text.encode()) + quotes + (2 if quotes or "," in text else 0)
