"""Noisy counts made into tables that could be counts: not below zero, and agreeing with each other.

All of it is post-processing: nothing here has seen data that is not noised.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privacy.twin.noisy_counts import VARIANCE, NoiseName, NoisyCounts

Table = NDArray[np.float64]

_ROUNDS = 30
_TINY = 1e-9
_SURE = 4
"""Standard deviations of the sum of many squares."""

_ONE_LARGE = 1e-5
"""How likely one square of m may be beyond what is taken for noise: the sum of few squares has a heavy tail,
and one large draw would look like dependence, which Cramér's V makes much of in rare cells. Of independent
pairs of 30,000 rows at epsilon 1 one in 60,000 or fewer does, of two by two cells one in 11,000."""


@dataclass(frozen=True)
class Marginals:
    """Rows expected in each merged cell of each column, and in each two merged cells of each chosen pair."""

    people: float
    ones: tuple[Table, ...]
    pairs: Mapping[tuple[int, int], Table]


def onto_simplex(counts: Table, total: float) -> Table:
    """The nearest numbers that are not negative and add up to `total` >= 1, in the Euclidean sense.

    `counts` lie within 2^52 of zero: then rounding leaves the largest above zero.
    (Duchi, Shalev-Shwartz, Singer, Chandra 2008, Algorithm 1.)
    """
    descending = np.sort(counts)[::-1]
    excess = np.cumsum(descending) - total
    kept = np.arange(1, counts.size + 1)
    last = np.flatnonzero(descending - excess / kept > 0)[-1]
    return np.asarray(np.maximum(counts - excess[last] / kept[last], 0), np.float64)


def fit(counts: NoisyCounts) -> Marginals:
    """Every column once from all that is known of it, each weighed by the inverse of its variance, then every
    pair brought to its columns."""
    people = float(max(counts.people, 1))
    merges = counts.merges or tuple(tuple(range(cells)) for cells in counts.cells)
    tables = {
        pair.columns: np.array(pair.counts, np.float64).reshape(
            counts.merged_cells[pair.columns[0]], counts.merged_cells[pair.columns[1]]
        )
        for pair in counts.pairs
    }
    ones = tuple(
        onto_simplex(_column(index, counts, merges[index], tables), people) + _TINY
        for index in range(len(counts.cells))
    )
    pairs = {
        (a, b): _agreeing(table, ones[a], ones[b], scale=float(counts.pair_scale or 0), noise=counts.noise)
        for (a, b), table in tables.items()
    }
    return Marginals(people, ones, {pair: table for pair, table in pairs.items() if table is not None})


def _column(
    index: int, counts: NoisyCounts, merge: Sequence[int], tables: Mapping[tuple[int, int], Table]
) -> Table:
    """The counts of merged cells of one column: its own and the margins of its pairs, weighed.

    Noise has a variance of about 2 scale^2, or scale^2 if it is Gaussian; for the weights the factor is all
    the same. A sum of m noisy counts has m times as much.
    """
    own = np.bincount(merge, weights=np.array(counts.ones[index], np.float64))
    inverse = 1 / (np.bincount(merge) * float(counts.one_scale) ** 2)
    summed, weight = own * inverse, inverse
    for (a, b), table in tables.items():
        if index in (a, b):
            scale = float(counts.pair_scale or 0)
            inverse_of_pair = 1 / (table.shape[1 if index == a else 0] * scale**2)
            summed = summed + table.sum(axis=1 if index == a else 0) * inverse_of_pair
            weight = weight + inverse_of_pair
    return np.asarray(summed / weight)


def _agreeing(table: Table, first: Table, second: Table, *, scale: float, noise: NoiseName) -> Table | None:
    """A table without negative numbers whose margins are `first` and `second`, near the noisy one; None where
    noise and chance explain all that the noisy one says against independence.

    Least squares to the margins, then towards independence as far as noise explains the distance, then the
    simplex and iterative proportional fitting. A touch of independence keeps every row and column from being
    empty.
    """
    total = float(first.sum())
    independent = np.outer(first, second) / total
    for _ in range(3):
        table = table + ((first - table.sum(axis=1)) / table.shape[1])[:, None]
        table = table + ((second - table.sum(axis=0)) / table.shape[0])[None, :]
    away = table - independent
    signal = _signal(away, independent, scale=scale, noise=noise)
    if signal == 0:
        return None
    near = onto_simplex((independent + signal * away).ravel(), total).reshape(table.shape)
    near += _TINY * independent + 1e-3 * _TINY
    for _ in range(_ROUNDS):
        near *= (first / near.sum(axis=1))[:, None]
        near *= (second / near.sum(axis=0))[None, :]
    return near


def _signal(away: Table, independent: Table, *, scale: float, noise: NoiseName = "laplace") -> float:
    """The part of the squared distance from independence that noise does not explain, 0 to 1.

    With its margins fixed a table has m = (rows - 1)(columns - 1) free noisy counts. Their squares add up to
    2 m scale^2 on average, to m scale^2 if noise is Gaussian; those of chance, in counts of independent
    columns, to the sum of E (1 - p)(1 - q). What is within `_margin` of both counts as nothing, so that
    independent columns stay independent. Beyond that, this part is the factor of James and Stein (1961),
    which is nearer to the truth on average.
    """
    free = (away.shape[0] - 1) * (away.shape[1] - 1)
    if not free:
        return 0.0
    total = float(independent.sum())
    by_chance = float(
        independent.sum()
        * (1 - (independent.sum(axis=1) ** 2).sum() / total**2)
        * (1 - (independent.sum(axis=0) ** 2).sum() / total**2)
    )
    explained = VARIANCE[noise] * free * scale**2
    squared = float((away**2).sum())
    beyond = squared > explained + by_chance + _margin(free, by_chance, scale=scale, noise=noise)
    return 1 - explained / squared if beyond else 0.0


def _margin(free: int, by_chance: float, *, scale: float, noise: NoiseName) -> float:
    """How far the squares of m = `free` draws of noise and of chance may lie above their mean.

    Laplace: four standard deviations, of which noise has sqrt(20 m) scale^2; and no more than one large draw
    of m, P(|Z| > scale log(m/a)) = a/m. Gaussian: noise and chance are normal together, with variance w, and
    their squares above m w by 2 w (sqrt(m t) + t) with probability e^-t at most (Laurent, Massart 2000,
    Lemma 1).
    """
    if noise == "gaussian":
        rare = -math.log(_ONE_LARGE)
        return 2 * (scale**2 + by_chance / free) * (math.sqrt(free * rare) + rare)
    return max(
        _SURE * math.sqrt(20 * free * scale**4 + 2 * by_chance**2 / free),
        (scale * math.log(free / _ONE_LARGE)) ** 2,
    )
