"""Medians and quartiles of many resamples at once: the exponential mechanism of `privacy.median`, in floats.

For previews only: a release draws from integer weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.preview.bootstrap import Bootstrap, uniform

Units = NDArray[np.int64]
Floats = NDArray[np.float64]

_CELLS = 2**20
"""Cells of a table of weights made at once: 8 MiB."""


@dataclass(frozen=True)
class Ranks:
    """The distinct values of an output over a twin's blocks, and how often each stands in each resample.

    `values` has shape (v,), in grid units and increasing; `upto` has shape (replays, v): how many blocks of a
    resample lie at or below each value.
    """

    values: Units
    upto: NDArray[np.int32]
    blocks: int
    cells: int

    @classmethod
    def of(
        cls, bootstrap: Bootstrap, index: int, grid: OutputGrid, *, quantile: Fraction | None = None
    ) -> Ranks:
        """Failed blocks stand at the lower bound in even places and at the upper bound in odd ones; for
        another quantile than the median, at the lower bound in its own proportion."""
        units = bootstrap.units(index, even=0, odd=grid.cells)
        order = np.argsort(units, kind="stable")
        values, first = np.unique(units[order], return_index=True)
        counts = np.add.reduceat(_counts(bootstrap, quantile)[:, order], first, axis=1)
        upto = np.cumsum(counts, axis=1, dtype=np.int32)
        return cls(values, upto, bootstrap.blocks, grid.cells)

    def choose(self, quantile: float, epsilon: float, *, keystream: Keystream) -> Units:
        """One private quantile of every resample, in grid units.

        P(v) ~ exp(-epsilon/2 * max(0, below(v) - q l, q l - upto(v))): repeats of the partition multiply
        ranks and sensitivity alike and cancel. The weight is constant between two values, so a segment is
        drawn first and a point of it second.
        """
        first, points = self._segments
        drawn = np.empty(len(self.upto), np.int64)
        rows = max(1, _CELLS // len(points))
        for start in range(0, len(drawn), rows):
            mass = np.cumsum(self._weights(slice(start, start + rows), quantile, epsilon), axis=1)
            wanted = uniform(len(mass), keystream=keystream) * mass[:, -1]
            segment = (mass <= wanted[:, None]).sum(axis=1)
            within = uniform(len(mass), keystream=keystream) * points[segment]
            drawn[start : start + rows] = first[segment] + within.astype(np.int64)
        return drawn

    def plain(self, quantile: Fraction) -> Floats:
        """The quantile of every resample without noise: the middle of where its rank may be."""
        wanted = quantile * self.blocks
        low = self.values[(self.upto < math.ceil(wanted)).sum(axis=1)]
        high = self.values[(self.upto < math.floor(wanted) + 1).sum(axis=1)]
        middle: Floats = (low + high) / 2
        return middle

    def _weights(self, rows: slice, quantile: float, epsilon: float) -> Floats:
        """Weight of each segment, the largest of a row being 1: one row per resample."""
        wanted = quantile * self.blocks
        upto = self.upto[rows]
        before = np.concatenate([np.zeros((len(upto), 1)), upto], axis=1)
        distances = np.empty((len(upto), 2 * len(self.values) + 1))
        distances[:, 0::2] = np.abs(before - wanted)
        distances[:, 1::2] = np.maximum(0, np.maximum(before[:, :-1] - wanted, wanted - upto))
        exponent = np.multiply(distances, -epsilon / 2, out=distances)
        exponent += self._log_points
        exponent -= exponent.max(axis=1, keepdims=True)
        return np.exp(exponent, out=exponent)

    @cached_property
    def _segments(self) -> tuple[Units, Units]:
        """First grid point and number of points: before the first value, the value, after it, and so on."""
        edges = np.concatenate([[-1], self.values, [self.cells + 1]])
        first = np.empty(2 * len(self.values) + 1, np.int64)
        points = np.ones_like(first)
        first[0::2] = edges[:-1] + 1
        first[1::2] = self.values
        points[0::2] = np.diff(edges) - 1
        return first, points

    @cached_property
    def _log_points(self) -> Floats:
        with np.errstate(divide="ignore"):  # nothing between two neighbouring points: weight 0
            return np.log(self._segments[1])


def _counts(bootstrap: Bootstrap, quantile: Fraction | None) -> NDArray[np.int32]:
    """As they are for a median; else with failed blocks divided between the bounds as the quantile is."""
    if quantile is None:
        return bootstrap.counts
    counts = bootstrap.counts.copy()
    failed = counts[:, -2:].sum(axis=1)
    counts[:, -2] = np.ceil(failed * float(quantile))
    counts[:, -1] = failed - counts[:, -2]
    return counts
