"""One table modelled by every way there is: how near each comes, and what each tells about people.

All are measured on one grid, that of the twins' cells. Computed from the original data without noise: for its
owner alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from companions.lab.attacks.linkage import Known
from companions.lab.chapter import clock
from companions.lab.gan.private_training import PASSES, train_privately
from companions.lab.gan.table import EncodedTable, encode
from companions.lab.gan.training import Training, draw, train
from companions.lab.simulation import seeded
from companions.lab.subjects import MISSING, Cells
from companions.lab.twins import MISSING_CELL, counted_twin, declare, permuted, texts, twin_of
from domain.dataset import Declaration
from domain.twin import CellGrid, cell_grid
from twins.evaluation.anonymity import unique_in_both
from twins.evaluation.association import cramer_matrix, mean_difference
from twins.evaluation.marginals import each_column, each_group, pairs_of
from twins.evaluation.proportions import Proportion
from twins.evaluation.sheet import Codes, Sheet, exact_codes, sheet_of
from twins.evaluation.singling_out import about_one_column, about_several, singled_out

SENTENCES = 500
EPSILONS = (1, 10)
NO_PROMISE = "no guarantee"


@dataclass(frozen=True)
class Way:
    """A way to make a table that stands for another one. `make` may be called once."""

    name: str
    guarantee: str
    make: Callable[[], Cells]


@dataclass(frozen=True)
class Figures:
    """tv1, tv2: mean total variation of single columns and of pairs; association: mean difference of Cramer's
    V. one and several: sentences from the made table that are true of exactly one person. unique_again:
    people who are alone in their words, and whose words one row of the made table has."""

    name: str
    guarantee: str
    tv1: float
    tv2: float
    association: float
    one: Proportion
    several: Proportion
    unique_again: int
    seconds: float


@dataclass(frozen=True, eq=False)
class Measured:
    """The original, in the terms that all are compared in."""

    known: tuple[Known, ...]
    declaration: Declaration
    cells: Cells
    seed: int

    def figures(self, way: Way) -> Figures:
        """Make the table, and measure it."""
        since = clock()
        made = way.make()
        seconds = clock() - since
        first, second = self._codes(self.cells), self._codes(made)
        original, twin = self._sheet(self.cells), self._sheet(made)
        widths = [grid.count for grid in self._grids]
        places = range(len(widths))
        draws = seeded(self.seed, "figures")
        words = [place for place, column in enumerate(self.known) if not column.is_amount]
        exact, theirs = exact_codes(original, twin)
        one = about_one_column(twin, most=SENTENCES, draws=draws)
        several = about_several(twin, most=SENTENCES, draws=draws)
        apart = [cramer_matrix(codes, widths, list(places)) for codes in (first, second)]
        return Figures(
            way.name,
            way.guarantee,
            tv1=float(each_column(first, second, widths).mean()),
            tv2=float(each_group(first, second, widths, pairs_of(len(widths), draws)).mean()),
            association=mean_difference(*apart),
            one=singled_out(one, original),
            several=singled_out(several, original),
            unique_again=unique_in_both(exact, theirs, words),
            seconds=seconds,
        )

    @property
    def _grids(self) -> list[CellGrid]:
        size = self.declaration.nominal_size
        return [cell_grid(column, size) for column in self.declaration.tables[0].columns[1:]]

    def _codes(self, cells: Cells) -> Codes:
        found = [
            grid.codes(texts(cells[one.name])) for grid, one in zip(self._grids, self.known, strict=True)
        ]
        return np.stack(found, axis=1).astype(np.int64)

    def _sheet(self, cells: Cells) -> Sheet:
        table = self.declaration.tables[0]
        columns = [texts(cells[one.name]) for one in self.known]
        rows = [(f"{row}", *values) for row, values in enumerate(zip(*columns, strict=True))]
        return sheet_of(table, [column.name for column in table.columns], rows)


def measure(cells: Cells, *, amounts: Collection[str], seed: int) -> Measured:
    """Amounts as numbers, everything else as words: also postal codes, which look like numbers."""
    known = tuple(_known(name, column, name in amounts) for name, column in cells.items())
    return Measured(known, declare(cells, known, counted=True), cells, seed)


def twins(measured: Measured) -> Iterator[Way]:
    """The platform's, and what is none."""
    cells, known, seed = measured.cells, measured.known, measured.seed
    yield Way("columns permuted", NO_PROMISE, lambda: permuted(cells, seeded(seed, "permuted")))
    yield Way("level 0", "the declaration alone", lambda: twin_of(cells, known, seed=seed))
    for level in (1, 2):
        for epsilon in EPSILONS:
            make = partial(counted_twin, cells, known, level=level, epsilon=epsilon, seed=seed)
            yield Way(f"level {level}", f"pure_dp, epsilon {epsilon}", make)


def networks(measured: Measured, training: Training, private_passes: int = PASSES) -> Iterator[Way]:
    """The two that need the extra `gan`. Raises DpgateError where it is not installed."""
    amounts = [one.name for one in measured.known if one.is_amount]
    table = encode(measured.cells, amounts=amounts)
    yield Way("GAN", NO_PROMISE, lambda: _drawn(table, measured.seed, training, epsilon=None))
    private = Training(private_passes, training.batch, training.rate, training.momentum)
    for epsilon in EPSILONS:
        yield Way(
            "GAN, DP-SGD",
            f"its training alone: approx_dp, epsilon {epsilon}, delta 1e-9",
            partial(_drawn, table, measured.seed, private, epsilon=epsilon),
        )


def _drawn(table: EncodedTable, seed: int, training: Training, *, epsilon: float | None) -> Cells:
    if epsilon is None:
        network = train(table.values, training, seed=seed)
    else:
        network, _ = train_privately(table.values, training, epsilon=epsilon, seed=seed)
    rows = len(table.columns[0].codes)
    return table.decode(draw(network, rows, seed=seed), seeded(seed, "inside bins"))


def _known(name: str, cells: Sequence[str], is_amount: bool) -> Known:
    if is_amount:
        numbers = np.array([np.nan if cell.strip().lower() in MISSING else float(cell) for cell in cells])
        return Known(name, numbers, 0.0, {})
    found = texts(cells)
    codes = {word: code for code, word in enumerate(sorted(set(found) - {MISSING_CELL}))}
    return Known(name, np.array([codes.get(word, np.nan) for word in found], np.float64), 0.0, codes)
