"""DatLeak's leakage of a scrambled table: as it is published, and corrected.

Published (SIESTA's DatLeak): row i of the original is compared with row i of the other table, cell by cell.
All valid cells equal is full leakage of the row, some of them partial leakage; a cell is valid where neither
side holds the value to ignore. Three things make these figures say little: rows in another order do not
count, an empty cell is never equal to an empty cell, and unrelated rows agree in some cell by chance.

Corrected: the order of rows does not count, a missing cell equals a missing one, and beside each figure
stands what people who were not in the original give, or what chance gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from twins.evaluation.sheet import Codes


@dataclass(frozen=True)
class Leakage:
    """Shares of rows, from 0 to 1, and the mean and deviation of the number of equal cells in a row."""

    full: float
    partial: float
    mean_equal: float
    deviation: float


def as_published(
    original: Sequence[Sequence[str]], other: Sequence[Sequence[str]], *, ignored: float | str | None
) -> Leakage | None:
    """Columns of cells, in file order; None for tables of another shape, of which DatLeak says nothing.

    Its reader takes a column for numbers if every cell that is not empty is one; numbers equal numbers only.
    Without a value to ignore the published program stops with an error; here all cells are valid then.
    """
    if [len(column) for column in original] != [len(column) for column in other] or not original:
        return None
    rows = len(original[0])
    if not rows:
        return Leakage(0.0, 0.0, 0.0, 0.0)
    equal, valid = np.zeros((2, rows), np.int64)
    for one, two in zip(original, other, strict=True):
        first, second = _read(one), _read(two)
        counted = [_valid(a, ignored) and _valid(b, ignored) for a, b in zip(first, second, strict=True)]
        valid += counted
        pairs = zip(first, second, counted, strict=True)
        equal += [counts and a is not None and a == b for a, b, counts in pairs]
    full = equal == valid  # as published: also a row without any valid cell
    partial = (equal > 0) & ~full
    return Leakage(float(full.mean()), float(partial.mean()), float(equal.mean()), float(equal.std()))


@dataclass(frozen=True)
class CellMatches:
    """The share of cells that agree with the same row's original, and that chance gives: rows paired at
    random agree in a cell with probability sum p(v) q(v)."""

    found: float
    by_chance: float


def cell_matches(original: Codes, twin: Codes) -> CellMatches | None:
    """None for tables with another number of rows. Missing cells are equal."""
    if original.shape != twin.shape or not original.size:
        return None
    chance = []
    for column in range(original.shape[1]):
        size = int(max(original[:, column].max(), twin[:, column].max())) + 1
        shares = [np.bincount(codes[:, column], minlength=size) / len(codes) for codes in (original, twin)]
        chance.append(float((shares[0] * shares[1]).sum()))
    return CellMatches(float((original == twin).mean()), float(np.mean(chance)))


def _read(column: Sequence[str]) -> list[float | str | None]:
    """None for what never equals anything: an empty cell."""
    texts = [None if cell in _EMPTY else cell for cell in column]
    try:
        return [None if text is None else float(text) for text in texts]
    except ValueError:
        return list(texts)


def _valid(cell: float | str | None, ignored: float | str | None) -> bool:
    return ignored is None or cell != ignored


_EMPTY = frozenset({"", "NA", "N/A", "n/a", "nan", "NaN", "null", "NULL", "None", "#N/A"})
"""What pandas takes for an empty cell, of what tables usually hold."""
