"""Equivalence classes: rows that agree in all quasi-identifiers. Who knows these cannot tell them apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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
