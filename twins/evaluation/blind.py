"""A table that knows a twin's cells column by column, and nothing else: what attacks are compared with.

Each value is drawn anew inside its cell, and the cells of each column are dealt out to other rows. Who
attacks this table knows the shape of every column, but no value of anybody and no row. Against a twin of
level 0 or 1, whose values are drawn inside cells just so, an attack can do no better; what it does better
against another twin, it takes from real values or from patterns.
"""

from __future__ import annotations

import random

from domain.twin.cells import cell_grid, has_cells
from twins.evaluation.draws import Draws
from twins.evaluation.sheet import Sheet, Values


def blind_copy(twin: Sheet, nominal_size: int, *, draws: Draws, seed: int) -> Sheet:
    """As many rows. Columns that have no cells are dealt out with the values that they hold."""
    anew = random.Random(f"{seed}:blind")  # noqa: S311 - not a secret
    columns = []
    for values in twin.columns:
        texts = list(values.texts)
        if has_cells(values.column):
            grid = cell_grid(values.column, nominal_size)
            texts = grid.texts(grid.codes(texts), anew)
        order = draws.permutation(len(texts)).tolist()
        columns.append(Values(values.column, tuple(texts[place] for place in order)))
    return Sheet(tuple(columns), twin.people)
