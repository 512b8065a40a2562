"""Rows of a twin that are somebody's: equal in every cell, or in every cell but one.

Equal rows alone say little: in a large table of few columns many rows are ordinary. The same count against
people who were not in the original (a holdout) is what chance and patterns give.

Rows are compared by a sum of 64-bit numbers, one for each column and value, so that leaving one column out is
one subtraction (A. Zobrist's keys, 1970). Two different rows get one key with probability about 2^-64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from twins.evaluation.proportions import Proportion
from twins.evaluation.sheet import Codes

Keys = NDArray[np.uint64]


def equal_rows(twin: Codes, original: Codes) -> Proportion:
    """Rows of the twin that equal some row of the original in every cell."""
    return _counted(np.isin(_cell_keys(twin).sum(axis=1), _cell_keys(original).sum(axis=1)))


def near_rows(twin: Codes, original: Codes) -> Proportion:
    """Rows of the twin that agree with some row of the original in all cells but at most one.

    Of tables with fewer than three columns nothing is counted: everybody would be near.
    """
    if not twin.size or twin.shape[1] < 3:
        return Proportion(0, 0)
    own, others = _cell_keys(twin), _cell_keys(original)
    sums, other_sums = own.sum(axis=1), others.sum(axis=1)
    near = np.zeros(len(twin), np.bool_)
    for column in range(twin.shape[1]):
        near |= np.isin(sums - own[:, column], other_sums - others[:, column])
    return _counted(near)


def _cell_keys(codes: Codes) -> Keys:
    """(rows, columns): splitmix64 of column and code (G. Steele, D. Lea, C. Flood, OOPSLA 2014)."""
    columns: Keys = np.arange(1, codes.shape[1] + 1, dtype=np.uint64)[np.newaxis, :]
    mixed: Keys = codes.astype(np.uint64)
    mixed = mixed + columns * np.uint64(0x9E3779B97F4A7C15)
    for _ in range(2):
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed


def _counted(found: NDArray[np.bool_]) -> Proportion:
    return Proportion(int(found.sum()), len(found))
