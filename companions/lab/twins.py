"""The platform's twins of a table that has no declaration: one is made up around what stands in the table.

The twins get more than real ones do: their bounds and categories are read off the data, where a rights holder
would state them without looking. What links nobody here links nobody there.

Also the table with its columns permuted, which is what a reviewed scramble does: it is not anonymous."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from companions.lab.attacks.linkage import Known
from companions.lab.simulation import Generator
from companions.lab.subjects import MISSING, Cells, outward_bounds, parse_cells
from domain.dataset import Declaration
from domain.model import parse
from domain.twin import TableCounts, cell_grid
from privacy.loss import MICRO
from privacy.twin import ColumnCounts, Patterns
from twins.drawn import make_twin
from twins.evaluation.marginals import joint

PERSON = "person in the twin"
PATH = "people.tsv"
MISSING_CELL = "n/a"


def twin_of(cells: Cells, known: Sequence[Known], *, seed: int) -> Cells:
    """At level 0: as many rows as the table, drawn column by column by the platform's own generator."""
    declaration = declare(cells, known)
    return _named(known, make_twin(declaration, seed=seed))


def counted_twin(
    cells: Cells, known: Sequence[Known], *, level: Literal[1, 2], epsilon: int, seed: int
) -> Cells:
    """At level 1 or 2: drawn from the platform's noisy counts of these columns (`pure_dp`). Only the drawing
    has a seed. Raises ValueError for a table of too many cells."""
    declaration = declare(cells, known, counted=True)
    size = declaration.nominal_size
    columns = declaration.tables[0].columns[1:]
    grids = [cell_grid(column, size) for column in columns]
    widths = tuple(grid.count for grid in grids)
    codes = np.stack(
        [grid.codes(texts(cells[one.name])) for grid, one in zip(grids, known, strict=True)], axis=1
    ).astype(np.int64)
    mechanism = (
        ColumnCounts(widths, epsilon * MICRO)
        if level == 1
        else Patterns(widths, epsilon * MICRO, nominal_size=size)
    )
    totals = [np.bincount(codes[:, place], minlength=width) for place, width in enumerate(widths)]
    totals += [
        np.bincount(joint(codes, widths, pair), minlength=widths[pair[0]] * widths[pair[1]])
        for pair in mechanism.pairs
    ]
    noisy = mechanism.release([int(count) for counts in totals for count in counts])
    counts = TableCounts(tuple(column.name for column in columns), noisy, level)
    return _named(known, make_twin(declaration, counts={PATH: counts}, seed=seed))


def permuted(cells: Cells, generator: Generator) -> Cells:
    """Every column dealt out anew: all values stay, no row does."""
    return {
        name: tuple(column[row] for row in generator.permutation(len(column)).tolist())
        for name, column in cells.items()
    }


def declare(cells: Cells, known: Sequence[Known], *, counted: bool = False) -> Declaration:
    """A declaration of these columns, as `column 0`, `column 1`, ...; `counted` ones have a cell for what is
    missing, where something is."""
    columns = [_column(f"column {place}", column, cells) for place, column in enumerate(known)]
    if counted:
        for column, one in zip(columns, known, strict=True):
            column["count_missing"] = MISSING_CELL in texts(cells[one.name])
    return _declare(columns, people=len(next(iter(cells.values()))))


def texts(column: Sequence[str]) -> tuple[str, ...]:
    """Cells as the declaration knows them: words in small letters, and one code for what is missing."""
    words = (cell.strip().lower() for cell in column)
    return tuple(MISSING_CELL if word in MISSING else word for word in words)


def _named(known: Sequence[Known], files: dict[str, bytes]) -> Cells:
    twin = parse_cells(files[PATH].decode(), tabs=True, place="the twin")
    return {column.name: twin[f"column {place}"] for place, column in enumerate(known)}


def _declare(columns: list[dict[str, Any]], *, people: int) -> Declaration:
    return parse(
        Declaration,
        {
            "name": "laboratory",
            "title": "A table of the attack laboratory",
            "privacy_unit": {"table": PATH, "column": PERSON},
            "nominal_size": people,
            "tables": [{"path": PATH, "columns": [{"name": PERSON, "kind": "person"}, *columns]}],
            "budget_epsilon": "1",
            "policy": {},
        },
    )


def _column(name: str, column: Known, cells: Cells) -> dict[str, Any]:
    if column.is_amount:
        lower, upper = outward_bounds(column.numbers[~np.isnan(column.numbers)])
        whole = not any("." in cell or "e" in cell.lower() for cell in cells[column.name])
        return {"name": name, "kind": "integer" if whole else "number", "lower": lower, "upper": upper}
    words = [word for word in column.codes if len(word) <= 200 and word.isprintable()]
    return {"name": name, "kind": "categorical", "categories": words or ["n/a"]}
