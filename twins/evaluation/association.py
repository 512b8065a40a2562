"""How strongly columns belong together: Cramer's V for any two columns, Pearson's r for two of numbers.

Cramer's V = sqrt(chi^2 / (n (min(r, c) - 1))), 0 for independent columns and 1 where one decides the other
(H. Cramer, Mathematical Methods of Statistics, 1946, section 21.9). Without bias correction, so that a table
and its twin of the same size are compared alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twins.evaluation.marginals import joint
from twins.evaluation.sheet import Codes, Floats, Sheet

MOST_CORRELATED = 200


def cramers_v(codes: Codes, cells: Sequence[int], first: int, second: int) -> float:
    """Of two columns; 0 where one of them has a single value."""
    if not len(codes):
        return 0.0
    size = cells[first] * cells[second]
    counts = np.bincount(joint(codes, cells, [first, second]), minlength=size).astype(np.float64)
    counts = counts.reshape(cells[first], cells[second])
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    least = min(counts.shape)
    if least < 2:
        return 0.0
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(codes)
    squared = float(((counts - expected) ** 2 / expected).sum())
    return float(min(1.0, np.sqrt(squared / (len(codes) * (least - 1)))))


def cramer_matrix(codes: Codes, cells: Sequence[int], columns: Sequence[int]) -> Floats:
    """(c, c), symmetric, 1 on the diagonal."""
    found = np.eye(len(columns))
    for row, first in enumerate(columns):
        for place in range(row):
            found[row, place] = found[place, row] = cramers_v(codes, cells, first, columns[place])
    return found


def correlations(sheet: Sheet) -> Floats:
    """(o, o): Pearson's r between the first MOST_CORRELATED ordered columns, over rows with both; 0 where one
    is constant."""
    columns = [sheet.columns[place].numbers for place in sheet.ordered[:MOST_CORRELATED]]
    found = np.eye(len(columns))
    for row, first in enumerate(columns):
        for place in range(row):
            found[row, place] = found[place, row] = _pearson(first, columns[place])
    return found


def mean_difference(first: Floats, second: Floats) -> float:
    """Mean absolute difference over all pairs of different columns; 0 where there is no pair."""
    above = np.triu_indices(len(first), 1)
    return float(np.abs(first - second)[above].mean()) if len(above[0]) else 0.0


def _pearson(first: Floats, second: Floats) -> float:
    both = ~(np.isnan(first) | np.isnan(second))
    if both.sum() < 2:
        return 0.0
    one, other = first[both], second[both]
    one, other = one - one.mean(), other - other.mean()
    scale = float(np.sqrt((one**2).sum()) * np.sqrt((other**2).sum()))
    return float(np.clip((one * other).sum() / scale, -1, 1)) if scale > 0 else 0.0
