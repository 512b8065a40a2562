"""Rows drawn from noisy counts: free, as often as wanted, and never copied from anybody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from privacy.twin.draws import SeededDraws
from privacy.twin.marginals import Marginals, Table, fit, onto_simplex
from privacy.twin.noisy_counts import NoisyCounts
from privacy.twin.updates import update

Rows = NDArray[np.int32]

MAX_VALUES = 10**8
"""Most cell numbers of one drawing: 400 MB."""

SWEEPS = 6


def draw_rows(counts: NoisyCounts, rows: int, *, seed: int) -> Rows:
    """Cell numbers of `rows` drawn rows, shape (rows, columns): a function of its arguments alone.

    Columns are drawn along the tree of the chosen pairs, each given the one before it; then sweeps of gradual
    updates bring the pairs beyond the tree near their counts (`updates`); then merged cells are drawn apart.
    Post-processing of a release: it costs nothing and needs no secret.
    """
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise ValueError("a twin has at least 1 row, in whole rows.")
    if rows * len(counts.cells) > MAX_VALUES:
        raise ValueError(f"a twin of these columns has up to {MAX_VALUES // len(counts.cells)} rows.")
    draws = SeededDraws(seed)
    marginals = fit(counts)
    tree = list(_tree(marginals))
    out = _along(tree, rows, draws)
    if sum(parent is not None for _, parent, _ in tree) < len(marginals.pairs):
        update(out, marginals, draws, sweeps=SWEEPS)
    if counts.merges:
        _draw_apart(out, counts, draws)
    return out


def _along(tree: Sequence[tuple[int, int | None, Table]], rows: int, draws: SeededDraws) -> Rows:
    out = np.empty((rows, len(tree)), np.int32, order="F")
    for column, parent, table in tree:
        if parent is None:
            out[:, column] = draws.spread(table, rows)
        else:
            out[:, column] = draws.spread_within(out[:, parent], table)
    return out


def _tree(marginals: Marginals) -> Iterator[tuple[int, int | None, Table]]:
    """Every column once: the first of each tree with its counts, any other with its parent and their joint
    counts, the parent's cells outermost. Pairs that would close a cycle are left out."""
    label = list(range(len(marginals.ones)))
    beside: dict[int, list[int]] = {column: [] for column in label}
    for a, b in marginals.pairs:
        if label[a] != label[b]:
            old, new = label[b], label[a]
            label = [new if one == old else one for one in label]
            beside[a].append(b)
            beside[b].append(a)
    seen: set[int] = set()
    for root, table in enumerate(marginals.ones):
        if root in seen:
            continue
        seen.add(root)
        yield root, None, table
        waiting = [root]
        while waiting:
            parent = waiting.pop()
            for column in beside[parent]:
                if column not in seen:
                    seen.add(column)
                    waiting.append(column)
                    pair = marginals.pairs.get((parent, column))
                    yield column, parent, marginals.pairs[column, parent].T if pair is None else pair


def _draw_apart(out: Rows, counts: NoisyCounts, draws: SeededDraws) -> None:
    """Merged cells become declared ones again, in place, in proportion to what their own noisy counts leave
    of them above zero."""
    for column, merge in enumerate(counts.merges):
        own = np.array(counts.ones[column], np.float64)
        numbers = np.array(merge)
        weights = np.zeros((int(numbers.max()) + 1, own.size))
        for number in range(len(weights)):
            cells = np.flatnonzero(numbers == number)
            total = max(float(own[cells].sum()), 1.0)
            weights[number, cells] = onto_simplex(own[cells], total)
        out[:, column] = draws.spread_within(out[:, column], weights)
