"""Exact counts of pairs of columns, and how far each pair is from independent: what noise has yet to meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privacy.twin.marginals import onto_simplex
from privacy.twin.mechanism import starts
from privacy.twin.merging import merged
from privacy.twin.noisy_counts import NoisyCounts
from privacy.twin.selection import Pair, dependence

Joint = Mapping[Pair, NDArray[np.int64]]


def joint_counts(
    totals: Sequence[int], cells: Sequence[int], pairs: Sequence[Pair], merges: Sequence[Sequence[int]]
) -> dict[Pair, NDArray[np.int64]]:
    """Exact counts of every pair's merged cells, from totals in the order of `release`."""
    places = [np.array(merge, np.intp) for merge in merges]
    begins = starts([sum(cells), *(cells[a] * cells[b] for a, b in pairs)])
    joint = {}
    for position, (a, b) in enumerate(pairs, 1):
        exact = np.array(totals[begins[position] : begins[position + 1]], np.int64)
        joint[a, b] = merged(exact.reshape(cells[a], cells[b]), places[a], places[b])
    return joint


def scores_of(
    joint: Joint, columns: NoisyCounts, merges: Sequence[Sequence[int]], *, noise_of_count: Fraction
) -> dict[Pair, int]:
    """Of every pair, not noised. The total is the noisy one, so that a row moves one count alone.

    `noise_of_count` is the mean magnitude of the noise that each count of a pair will get.
    """
    total = float(max(columns.people, 1))
    expected = [
        onto_simplex(np.array(np.bincount(merge, weights=column), np.float64), total)
        for merge, column in zip(merges, columns.ones, strict=True)
    ]
    return {
        (a, b): dependence(counts, expected[a], expected[b], noise=noise_of_count * counts.size)
        for (a, b), counts in joint.items()
    }
