"""Small tables of cell numbers, and their exact counts as a scan would hand them over."""

from collections.abc import Sequence
from typing import Any

import numpy as np


def totals_of(mechanism: Any, rows: Sequence[Sequence[int]]) -> list[int]:
    """Counted one by one, from the interface's own words: columns first, then pairs, row-major."""
    cells = mechanism.cells
    totals = [sum(row[a] == u for row in rows) for a in range(len(cells)) for u in range(cells[a])]
    for a, b in mechanism.pairs:
        for u in range(cells[a]):
            totals += [sum(row[a] == u and row[b] == v for row in rows) for v in range(cells[b])]
    return totals


def totals_of_array(mechanism: Any, rows: np.ndarray) -> list[int]:
    """The same for large tables of shape (rows, columns)."""
    cells = mechanism.cells
    counts = [np.bincount(rows[:, a], minlength=cells[a]) for a in range(len(cells))]
    counts += [
        np.bincount(rows[:, a] * cells[b] + rows[:, b], minlength=cells[a] * cells[b])
        for a, b in mechanism.pairs
    ]
    return np.concatenate(counts).tolist()
