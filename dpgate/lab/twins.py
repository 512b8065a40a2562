"""The platform's twin of a table that has no declaration: one is made up around what stands in the table.

The twin gets more than a real one does: its bounds and categories are read off the data, where a rights
holder would state them without looking. What links nobody here links nobody there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from domain.dataset import Declaration
from domain.model import parse
from domain.twin import make_twin
from dpgate.lab.attacks.linkage import Known
from dpgate.lab.subjects import Cells, outward_bounds, parse_cells

PERSON = "person in the twin"
PATH = "people.tsv"


def twin_of(cells: Cells, known: Sequence[Known], *, seed: int) -> Cells:
    """As many rows as the table, drawn column by column by the platform's own generator."""
    columns = {column.name: f"column {place}" for place, column in enumerate(known)}
    people = len(next(iter(cells.values())))
    declaration = _declare([_column(columns[column.name], column, cells) for column in known], people=people)
    text = make_twin(declaration, seed=seed)[PATH].decode()
    twin = parse_cells(text, tabs=True, place="the twin")
    return {column.name: twin[columns[column.name]] for column in known}


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
