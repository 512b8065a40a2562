"""A table by column, as text: what the measures and the search read. No file, no quotes, no line ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from domain.errors import InvalidRequest

MISSING = ("", "n/a")
"""Cells that say nothing. They are a value like any other: an empty cell may be what sets somebody apart."""


@dataclass(frozen=True)
class TextTable:
    """`columns[i]` are the cells of `names[i]`; all columns have `rows` cells."""

    names: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    rows: int

    def column(self, name: str, *, field: str) -> tuple[str, ...]:
        """Raises InvalidRequest, on behalf of `field`, for a column that is not there."""
        if name not in self.names:
            raise InvalidRequest(
                field, f"names a column {name!r} that the table lacks.", "Check its spelling."
            )
        return self.columns[self.names.index(name)]


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> TextTable:
    """Of rows as long as the header. Raises InvalidRequest for two columns of one name, and for none."""
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise InvalidRequest("table", f"has two columns named {twice[0]!r}.", "Rename one of them.")
    if not any(header):
        raise InvalidRequest("table", "has no header.", "Write the names of the columns on its first line.")
    columns = tuple(zip(*rows, strict=True)) if rows else tuple(() for _ in header)
    return TextTable(tuple(header), columns, len(rows))


# Equivalence classes: rows that agree in all quasi-identifiers. Who knows these cannot tell them apart.

Codes = NDArray[np.int64]
"""(rows,): a whole number from 0 for each row."""


def codes_of(cells: Sequence[str]) -> Codes:
    """Equal cells get equal numbers, in the order of their first row."""
    seen: dict[str, int] = {}
    return np.array([seen.setdefault(cell, len(seen)) for cell in cells], np.int64)


def classes(columns: Sequence[Codes], rows: int) -> Codes:
    """The number of each row's class; without any column everybody is in one class."""
    found = np.zeros(rows, np.int64)
    for column in columns:
        if rows:
            # renumbered after every column, so that the product cannot overflow
            joined = found * (int(column.max()) + 1) + column
            found = np.unique(joined, return_inverse=True)[1].astype(np.int64).reshape(-1)
    return found


def counts_in_classes(found: Codes, sensitive: Codes) -> NDArray[np.int64]:
    """(values, classes): how often each value of a sensitive column stands in each class."""
    values, size = int(sensitive.max(initial=-1)) + 1, int(found.max(initial=-1)) + 1
    return np.bincount(sensitive * size + found, minlength=values * size).reshape(values, size)
