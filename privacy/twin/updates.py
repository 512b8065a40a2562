"""Gradual updates: drawn rows moved, few at a time, until the counts of their pairs are near the wanted ones.

(Zhang, Wang, Li, Honorio, Backes, He, Chen, Zhang 2021, "PrivSyn", section 4.4.) Post-processing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privacy.twin.draws import SeededDraws
from privacy.twin.marginals import Marginals, Table

_SLOWER = 0.84


def update(out: NDArray[np.int32], marginals: Marginals, draws: SeededDraws, *, sweeps: int) -> None:
    """Sweeps over all pairs, in an order of their own, each moving a smaller part of what is too many."""
    rows = len(out)
    wanted = {pair: table * (rows / table.sum()) for pair, table in marginals.pairs.items()}
    pairs = list(wanted)
    for sweep in range(sweeps):
        for position in draws.order(len(pairs)).tolist():
            pair = pairs[position]
            _move(out, pair, wanted[pair], draws, share=_SLOWER ** (sweep / 5))


def _move(
    out: NDArray[np.int32],
    pair: tuple[int, int],
    wanted: Table,
    draws: SeededDraws,
    *,
    share: float,
) -> None:
    """Rows of cells that are too many become rows of cells that are too few.

    Half of them as a copy of a drawn row that is there already, which keeps how its other columns belong
    together; the others change these two columns alone.
    """
    a, b = pair
    width = wanted.shape[1]
    code = out[:, a] * width + out[:, b]
    present = np.bincount(code, minlength=wanted.size)
    missing = wanted.ravel() - present
    over, under = np.flatnonzero(missing < -0.5), np.flatnonzero(missing > 0.5)
    if not over.size or not under.size:
        return
    leaving = np.floor(-missing[over] * share + draws.uniform(over.size)).astype(np.intp)
    shuffled = draws.order(len(out))
    by_cell = shuffled[np.argsort(code[shuffled].astype(_narrowest(wanted.size)), kind="stable")]
    begins = np.concatenate([[0], np.cumsum(present)])
    moved = by_cell[
        np.repeat(begins[over] - np.cumsum(leaving) + leaving, leaving) + np.arange(leaving.sum())
    ]
    if not moved.size:
        return
    target = under[draws.spread(missing[under], moved.size)]
    copied = (draws.uniform(moved.size) < 0.5) & (present[target] > 0)
    within = (draws.uniform(moved.size) * present[target]).astype(np.intp)
    source = by_cell[(begins[target] + within)[copied]]
    out[moved[copied]] = out[source]
    changed = moved[~copied]
    out[changed, a], out[changed, b] = np.divmod(target[~copied], width)


def _narrowest(size: int) -> type[np.uint16] | type[np.int64]:
    """numpy sorts 16 bits by counting, ten times as fast as by comparing."""
    return np.uint16 if size <= 2**16 else np.int64
