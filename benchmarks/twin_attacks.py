"""Singling out by one column, on twins of Adult: what twins give an attacker, beside what no twin gives.

    DPGATE_DATA=FOLDER python benchmarks/twin_attacks.py [--rounds 20]

A sentence about one column that is true of one row of a twin; a hit is one that is true of exactly one
person. All sentences of a twin are tried. Those of one twin depend on each other, as they share its noise, so
the interval is one over rounds, each with a release and a drawing of its own (Student's t over their shares).
It is about the noise and the draws; the original is one table and stays what it is.

Baselines, for which nothing was released: `blank form`, values drawn evenly between declared bounds; `shape`,
values drawn as a coarse histogram of each column says (tenths of its cells, in steps of 5 %), such as public
statistics hold.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence

import numpy as np
from scipy import stats
from twin_cases import Case, Codes, adult, totals_of

from privacy.loss import MICRO
from privacy.twin import (
    ColumnCounts,
    GaussianColumns,
    GaussianLoss,
    GaussianPatterns,
    Patterns,
    TwinMechanism,
    draw_rows,
)
from twins.evaluation.sheet import Sheet, Values
from twins.evaluation.singling_out import about_one_column, singled_out

EVERY = 10**9
ATTO_DELTA = 10**9
"""1e-9."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    attacks(adult()[0], rounds=parser.parse_args().rounds)


def mechanism(case: Case, level: int, epsilon: int, *, with_delta: bool = False) -> TwinMechanism:
    """Class pure_dp, or approx_dp with a delta of 1e-9."""
    if with_delta:
        loss = GaussianLoss(epsilon * MICRO, ATTO_DELTA)
        if level == 1:
            return GaussianColumns(case.cells, loss)
        return GaussianPatterns(case.cells, loss, nominal_size=case.size)
    if level == 1:
        return ColumnCounts(case.cells, epsilon * MICRO)
    return Patterns(case.cells, epsilon * MICRO, nominal_size=case.size)


def attacks(case: Case, *, rounds: int) -> None:
    original = sheet(case, case.texts)

    def permuted(seed: int) -> Sheet:
        order = np.random.default_rng(seed)
        return sheet(case, tuple(tuple(np.array(c)[order.permutation(case.size)]) for c in case.texts))

    singled("permuted columns (not private)", permuted, original, rounds=2)
    singled("blank form, no access", lambda seed: in_cells(case, evenly(case, seed), seed), original, rounds)
    singled("shape, no access", lambda seed: in_cells(case, by_shape(case, seed), seed), original, rounds)
    for level, with_delta in ((1, False), (2, False), (1, True), (2, True)):
        described = mechanism(case, level, 1, with_delta=with_delta)
        totals = totals_of(case.codes, case.cells, described.pairs)

        def drawn(seed: int, described: TwinMechanism = described, totals: list[int] = totals) -> Sheet:
            codes = draw_rows(described.release(totals), case.size, seed=seed)
            return in_cells(case, codes.astype(np.int64), seed)

        singled(f"level {level}, epsilon 1, {described.guarantee}", drawn, original, rounds)


def evenly(case: Case, seed: int) -> Codes:
    """Cells of a table of as many rows, all alike."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.integers(0, cells, case.size) for cells in case.cells], axis=1)


def by_shape(case: Case, seed: int) -> Codes:
    """Cells drawn by the share of each tenth of a column's cells, rounded to 5 %: a coarse public figure."""
    rng, columns = np.random.default_rng(seed), []
    for column, cells in zip(case.codes.T, case.cells, strict=True):
        tenth = np.arange(cells) * min(10, cells) // cells
        shares = np.bincount(tenth[column], minlength=tenth.max() + 1) / case.size
        rounded = np.maximum(np.rint(shares * 20), 0.02)
        weights = (rounded / np.bincount(tenth))[tenth]
        columns.append(rng.choice(cells, case.size, p=weights / weights.sum()))
    return np.stack(columns, axis=1)


def in_cells(case: Case, codes: Codes, seed: int) -> Sheet:
    """A value inside each cell."""
    draw = random.Random(seed)
    return sheet(case, tuple(tuple(grid.texts(codes[:, j], draw)) for j, grid in enumerate(case.grids)))


def sheet(case: Case, texts: Sequence[Sequence[str]]) -> Sheet:
    columns = zip(case.columns, texts, strict=True)
    people = tuple(str(row) for row in range(case.size))
    return Sheet(tuple(Values(column, tuple(map(str, cells))) for column, cells in columns), people)


def singled(name: str, make: Callable[[int], Sheet], original: Sheet, rounds: int) -> None:
    rng, shares, tries, hits = np.random.default_rng(0), [], 0, 0
    for seed in range(rounds):
        found = singled_out(about_one_column(make(seed), most=EVERY, draws=rng), original)
        tries, hits = tries + found.tries, hits + found.hits
        shares.append(found.hits / found.tries if found.tries else 0.0)
    mean = float(np.mean(shares))
    reach = stats.t.ppf(0.975, rounds - 1) * float(np.std(shares, ddof=1)) / np.sqrt(rounds)
    print(
        f"{name:<34}singled out {hits} of {tries} in {rounds} rounds: {mean:.4f} "
        f"[{mean - reach:.4f}, {mean + reach:.4f}], rounds {min(shares):.4f} to {max(shares):.4f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
