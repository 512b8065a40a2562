"""What each class has: its size, how diverse its sensitive values are, how far they are from everybody's.

k: L. Sweeney, "k-Anonymity: a model for protecting privacy", IJUFKS 10(5), 2002, definition 3.
l: A. Machanavajjhala et al., "l-Diversity: privacy beyond k-anonymity", TKDD 1(1), 2007. Distinct: the number
of different values; entropy (definition 4.1): the exponential of the entropy, so that l may be a fraction.
t: N. Li, T. Li, S. Venkatasubramanian, "t-Closeness", ICDE 2007, section 4: the earth mover's distance of the
values of a class to those of the whole table. Equal distance: the total variation. Ordered distance: with m
values in order, the sum of |differences summed up to i|, over m - 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from domain.errors import InvalidRequest
from twins.anonymity.table import MISSING

Distance = Literal["equal", "ordered"]
Counts = NDArray[np.int64]
"""(values, classes), as `counts_in_classes` gives them."""


def distinct(counts: Counts) -> NDArray[np.float64]:
    """(classes,): how many different values each class has."""
    found: NDArray[np.float64] = (counts > 0).sum(axis=0).astype(np.float64)
    return found


def entropy(counts: Counts) -> NDArray[np.float64]:
    """(classes,): the exponential of the entropy of each class, from 1 to the number of its values."""
    if not counts.size:
        return np.zeros(counts.shape[1])
    shares = counts / counts.sum(axis=0)
    terms = shares * np.log(np.where(shares > 0, shares, 1.0))
    found: NDArray[np.float64] = np.exp(-terms.sum(axis=0))
    return found


def closeness(counts: Counts, distance: Distance) -> NDArray[np.float64]:
    """(classes,): how far each class is from the whole, from 0 to 1. Values in order for ordered distance."""
    if not counts.size:
        return np.zeros(counts.shape[1])
    apart = counts / counts.sum(axis=0) - (counts.sum(axis=1) / counts.sum())[:, np.newaxis]
    if distance == "equal":
        found: NDArray[np.float64] = np.abs(apart).sum(axis=0) / 2
        return found
    # of a value that nobody of the table has nothing can be carried: the ground distance is over those here
    steps = max(1, len(counts) - 1)
    moved: NDArray[np.float64] = np.abs(np.cumsum(apart, axis=0)).sum(axis=0) / steps
    return moved


def in_order(cells: Sequence[str], name: str) -> NDArray[np.int64]:
    """(rows,): the rank of each cell among the column's different numbers, for ordered distance.

    Raises InvalidRequest for a cell that is no number; it names the row, never the cell.
    """
    numbers = []
    for row, cell in enumerate(cells, start=1):
        try:
            numbers.append(float(cell))
        except ValueError:
            numbers.append(np.nan)
        if not np.isfinite(numbers[-1]):
            what = "is empty" if cell in MISSING else "is no number"
            raise InvalidRequest(
                f"sensitive.{name}", f"{what} in row {row}: it has no order.", "Use the distance equal."
            )
    return np.unique(np.array(numbers), return_inverse=True)[1].astype(np.int64).reshape(-1)
