"""How near the twin of one table comes to the original: all measures, before anything is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from companions.lab.simulation import seeded
from domain.twin.cells import CellGrid, cell_grid, has_cells
from twins.evaluation.association import correlations, cramer_matrix, mean_difference
from twins.evaluation.draws import Draws
from twins.evaluation.marginals import each_column, each_group, pairs_of, triples_of
from twins.evaluation.moments import Cumulative, LogMoments, cumulatives, log_moments
from twins.evaluation.sheet import Codes, Floats, Sheet

MOST_ASSOCIATED = 40
"""Columns of a matrix of associations: more could not be read."""


@dataclass(frozen=True, eq=False)
class Counted:
    """The columns of a sheet that have cells: one number for each cell of the table."""

    grids: tuple[CellGrid, ...]
    codes: Codes

    @property
    def cells(self) -> tuple[int, ...]:
        return tuple(grid.count for grid in self.grids)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(grid.column.name for grid in self.grids)

    def shares(self, place: int) -> Floats:
        """Of one column's cells."""
        counts = np.bincount(self.codes[:, place], minlength=self.cells[place])
        return counts / max(1, len(self.codes))


@dataclass(frozen=True)
class Distances:
    """Mean total variation of columns, pairs and triples, the largest of a pair, and mean |dCramer V|."""

    one: float
    two: float
    two_most: float
    three: float
    cramer: float


@dataclass(frozen=True, eq=False)
class Fidelity:
    """`baselines` are other tables measured in the same way; matrices cover the first MOST_ASSOCIATED."""

    first: Counted
    twin: Counted
    columns: Floats
    distances: Distances
    baselines: tuple[tuple[str, Distances], ...]
    cramer: tuple[Floats, Floats]
    correlation: float | None
    moments: list[LogMoments]
    cumulatives: list[Cumulative]


def count_cells(sheet: Sheet, nominal_size: int) -> Counted:
    """Each cell of the table as the declared grid counts it."""
    counted = [values for values in sheet.columns if has_cells(values.column)]
    grids = tuple(cell_grid(values.column, nominal_size) for values in counted)
    columns = [grid.codes(values.texts) for grid, values in zip(grids, counted, strict=True)]
    codes = np.stack(columns, axis=1).astype(np.int64) if columns else np.zeros((sheet.rows, 0), np.int64)
    return Counted(grids, codes)


def measure(original: Sheet, twin: Sheet, blind: Sheet, *, nominal_size: int, seed: int) -> Fidelity:
    """All measures. `blind` knows the twin's columns only: what pairs it has right, chance has right."""
    first, second = count_cells(original, nominal_size), count_cells(twin, nominal_size)
    draws = seeded(seed, "groups of columns")
    groups = _groups(len(first.cells), draws)
    pairs = groups[0]
    again = (
        first.codes[draws.integers(0, len(first.codes), len(first.codes))] if original.rows else first.codes
    )
    matrices = [_matrix(codes, first.cells) for codes in (first.codes, second.codes)]

    def against(codes: Codes) -> Distances:
        return _distances(first.codes, codes, first.cells, groups, matrices[0])

    numbers = len(original.ordered)
    return Fidelity(
        first,
        second,
        columns=each_column(first.codes, second.codes, first.cells),
        distances=against(second.codes),
        baselines=(
            ("the original itself, rows drawn again", against(again)),
            ("the twin's columns, dealt out to other rows", against(count_cells(blind, nominal_size).codes)),
        )
        if pairs
        else (("the original itself, rows drawn again", against(again)),),
        cramer=(matrices[0], matrices[1]),
        correlation=mean_difference(correlations(original), correlations(twin)) if numbers > 1 else None,
        moments=log_moments(original, twin),
        cumulatives=cumulatives(original, twin),
    )


def _groups(count: int, draws: Draws) -> tuple[Sequence[tuple[int, ...]], Sequence[tuple[int, ...]]]:
    return pairs_of(count, draws), triples_of(count, draws)


def associations(counted: Counted) -> Floats:
    """Cramer's V between the first MOST_ASSOCIATED columns."""
    return _matrix(counted.codes, counted.cells)


def _matrix(codes: Codes, cells: Sequence[int]) -> Floats:
    return cramer_matrix(codes, cells, range(min(MOST_ASSOCIATED, len(cells))))


def _distances(
    first: Codes,
    second: Codes,
    cells: Sequence[int],
    groups: tuple[Sequence[tuple[int, ...]], Sequence[tuple[int, ...]]],
    matrix: Floats,
) -> Distances:
    columns = each_column(first, second, cells)
    pairs, triples = (each_group(first, second, cells, group) for group in groups)
    return Distances(
        one=_mean(columns),
        two=_mean(pairs),
        two_most=float(pairs.max()) if len(pairs) else 0.0,
        three=_mean(triples),
        cramer=mean_difference(matrix, _matrix(second, cells)),
    )


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0
