"""Distances between rows of numbers and words: who is nearest to whom.

Gower's distance (J. C. Gower, Biometrics 27, 1971): the mean over columns of |a - b| divided by the declared
range, or of 0 and 1 for equal and different words. A missing cell is a value like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from twins.evaluation.proportions import Proportion
from twins.evaluation.sheet import Floats, Sheet, Values

Rows32 = NDArray[np.float32]

_MISSING = np.float32(3.0)
_CHUNK = 2**21
"""Cells of one block of distances: small enough for the cache."""


@dataclass(frozen=True, eq=False)
class Points:
    """Rows as numbers, one array for each column: scaled numbers, or codes of words that are 1 or more
    apart."""

    columns: tuple[Rows32, ...]
    rows: int

    def only(self, rows: NDArray[np.int64]) -> Points:
        return Points(tuple(column[rows] for column in self.columns), len(rows))


def points_of(*sheets: Sheet) -> tuple[Points, ...]:
    """All sheets in the same terms. They have the same columns."""
    columns = [_scaled([sheet.columns[place] for sheet in sheets]) for place in range(len(sheets[0].columns))]
    return tuple(
        Points(tuple(column[number] for column in columns), sheet.rows) for number, sheet in enumerate(sheets)
    )


def distances(targets: Points, table: Points, columns: Sequence[int]) -> Iterator[tuple[slice, Rows32]]:
    """Blocks of targets with their distance to every row of the table: (targets of the block, rows)."""
    step = max(1, _CHUNK // max(1, table.rows))
    for start in range(0, targets.rows, step):
        block = slice(start, min(start + step, targets.rows))
        total = np.zeros((block.stop - block.start, table.rows), np.float32)
        for column in columns:
            apart = np.abs(targets.columns[column][block][:, np.newaxis] - table.columns[column][np.newaxis])
            total += np.minimum(apart, np.float32(1), out=apart)
        yield block, total / np.float32(max(1, len(columns)))


def nearest(targets: Points, table: Points) -> Floats:
    """(targets,): the distance to the nearest row of the table; 1 where the table is empty."""
    found = np.ones(targets.rows)
    if table.rows:
        for block, apart in distances(targets, table, range(len(targets.columns))):
            found[block] = apart.min(axis=1)
    return found


def nearer_share(to_original: Floats, to_holdout: Floats) -> tuple[float, Proportion]:
    """The share of twin rows nearer to the original than to people who were not in it; equal distances
    count half. With as many rows on both sides, .5 is what a twin without copies gives.

    Also the same share as counts, over the rows that are nearer to one of the two.
    """
    nearer = int((to_original < to_holdout).sum())
    farther = int((to_original > to_holdout).sum())
    equal = len(to_original) - nearer - farther
    share = (nearer + equal / 2) / len(to_original) if len(to_original) else 0.5
    return share, Proportion(nearer, nearer + farther)


def _scaled(columns: Sequence[Values]) -> list[Rows32]:
    if not columns[0].is_ordered:
        codes = np.unique(np.concatenate([one.words for one in columns]), return_inverse=True)[1]
        ends = np.cumsum([len(one.texts) for one in columns])[:-1]
        return [part.astype(np.float32) for part in np.split(codes, ends)]
    low, high = _range(columns)
    return [_between(one.numbers, low, high) for one in columns]


def _range(columns: Sequence[Values]) -> tuple[float, float]:
    """Of all values: declared bounds would let one far value outside of them hide all differences."""
    present = np.concatenate([one.numbers[one.present] for one in columns])
    return (float(present.min()), float(present.max())) if len(present) else (0.0, 1.0)


def _between(numbers: Floats, low: float, high: float) -> Rows32:
    width = high / 2 - low / 2
    share = (numbers / 2 - low / 2) / width if width > 0 else np.where(np.isnan(numbers), np.nan, 0.0)
    return np.where(np.isnan(share), _MISSING, share).astype(np.float32)
