"""Total variation between tables, on one, two and three columns together.

TV(p, q) = 1/2 sum |p - q| over the cells: the largest difference of the share of any set of rows. 0 is equal,
1 has nothing in common. The usual measure of synthetic tables (Tao et al., "Benchmarking Differentially
Private Synthetic Data Generation Algorithms", 2021).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from twins.evaluation.draws import Draws
from twins.evaluation.sheet import Codes, Floats

MOST_PAIRS = 2000
TRIPLES = 60
_DENSE = 2**20


def total_variation(first: Codes, second: Codes, cells: Sequence[int], columns: Sequence[int]) -> float:
    """Between the shares of these columns' joint cells; `cells` says how many each column has.

    An empty table differs in everything from one that has rows, and in nothing from another empty one.
    """
    if not len(first) or not len(second):
        return 0.0 if len(first) == len(second) else 1.0
    one, other = joint(first, cells, columns), joint(second, cells, columns)
    size = 1
    for column in columns:
        size *= cells[column]
    if size > _DENSE:
        # so many cells that counting the few that occur is cheaper
        both = np.unique(np.concatenate([one, other]), return_inverse=True)[1]
        one, other, size = both[: len(one)], both[len(one) :], int(both.max()) + 1
    shares = np.bincount(one, minlength=size) / len(one) - np.bincount(other, minlength=size) / len(other)
    return float(np.abs(shares).sum() / 2)


def joint(codes: Codes, cells: Sequence[int], columns: Sequence[int]) -> Codes:
    """One number for each row: its joint cell, row-major. Exact for up to 2^63 joint cells."""
    found = np.zeros(len(codes), np.int64)
    for column in columns:
        found = found * cells[column] + codes[:, column]
    return found


def each_column(first: Codes, second: Codes, cells: Sequence[int]) -> Floats:
    """(columns,): one-way total variation."""
    return np.array([total_variation(first, second, cells, [column]) for column in range(len(cells))])


def pairs_of(count: int, draws: Draws) -> list[tuple[int, ...]]:
    """All pairs of so many columns; of more than MOST_PAIRS, that many at random."""
    return _groups_of(count, 2, MOST_PAIRS, draws)


def triples_of(count: int, draws: Draws) -> list[tuple[int, ...]]:
    """TRIPLES different triples at random, or all where there are fewer."""
    return _groups_of(count, 3, TRIPLES, draws)


def _groups_of(count: int, size: int, most: int, draws: Draws) -> list[tuple[int, ...]]:
    if math.comb(count, size) <= most:
        return list(combinations(range(count), size))
    found: set[tuple[int, ...]] = set()
    while len(found) < most:
        drawn = sorted(set(draws.integers(0, count, size).tolist()))
        if len(drawn) == size:
            found.add(tuple(drawn))
    return sorted(found)


def each_group(
    first: Codes, second: Codes, cells: Sequence[int], groups: Sequence[tuple[int, ...]]
) -> Floats:
    """Total variation of each of these groups of columns."""
    return np.array([total_variation(first, second, cells, group) for group in groups], np.float64)
