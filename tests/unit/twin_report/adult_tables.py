"""UCI Adult (CC BY 4.0, Becker and Kohavi) as a data set in folders, with twins that leak and others.

The bounds and categories are those of the data set's own description (adult.names): nothing is read off the
rows.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
from lent_data import lent

from domain.dataset import Declaration
from domain.model import parse
from privacy.keystream import Keystream

BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 16),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 5000),
    "hours-per-week": (1, 99),
}
PATH = "people.csv"
Rows = list[list[str]]


def columns() -> list[dict[str, Any]]:
    """As the description of the data set names them, in its order; the class last."""
    text = (lent("uci_adult") / "adult.names").read_text()
    described = dict(re.findall(r"^([a-z-]+): (.+?)\.?$", text, re.MULTILINE))
    found: list[dict[str, Any]] = []
    for name in described:
        if name in BOUNDS:
            low, high = BOUNDS[name]
            found.append({"name": name, "kind": "integer", "lower": low, "upper": high})
        else:
            words = [word.strip() for word in described[name].split(",")]
            rate = 0.06 if name in ("workclass", "occupation", "native-country") else 0
            found.append({"name": name, "kind": "categorical", "categories": words, "missing": "?",
                          "missing_rate": rate})  # fmt: skip
    found.append({"name": "income", "kind": "categorical", "categories": ["<=50K", ">50K"]})
    return found


def declare(people: int, **more: Any) -> Declaration:
    return parse(
        Declaration,
        {
            "name": "adult",
            "title": "Adult",
            "privacy_unit": {"table": PATH, "column": "person"},
            "nominal_size": people,
            "tables": [{"path": PATH, "columns": [{"name": "person", "kind": "person"}, *columns()]}],
            "budget_epsilon": "10",
            "policy": {},
            **more,
        },
    )


def people(name: str, most: int | None = None) -> Rows:
    """Rows of adult.data.gz or adult.test.gz, without names."""
    with gzip.open(lent("uci_adult") / name, "rt") as file:
        rows = [line.strip().rstrip(".").split(", ") for line in file if "," in line]
    return rows[:most]


def permuted(rows: Rows, seed: int = 0) -> Rows:
    """Every column in another order of its own."""
    dealt = random.Random(seed)
    cells = [list(column) for column in zip(*rows, strict=True)]
    for column in cells:
        dealt.shuffle(column)
    return [list(row) for row in zip(*cells, strict=True)]


def write(folder: Path, rows: Rows, prefix: str = "p") -> Path:
    """A folder with the table."""
    folder.mkdir(parents=True, exist_ok=True)
    head = ["person", *(column["name"] for column in columns())]
    lines = [",".join(head), *(",".join([f"{prefix}{n}", *row]) for n, row in enumerate(rows))]
    (folder / PATH).write_text("\n".join(lines) + "\n")
    return folder


def exact_totals(declaration: Declaration, rows: Rows, pairs: tuple[tuple[int, int], ...]) -> list[int]:
    """What a scan counts: the cells of each column, then of each pair."""
    from domain.twin.cells import cell_grid

    grids = [cell_grid(column, declaration.nominal_size) for column in declaration.tables[0].columns[1:]]
    texts = zip(*rows, strict=True)
    codes = [grid.codes(cells).astype(np.int64) for grid, cells in zip(grids, texts, strict=True)]
    totals = [np.bincount(one, minlength=grid.count) for one, grid in zip(codes, grids, strict=True)]
    for a, b in pairs:
        size = grids[a].count * grids[b].count
        totals.append(np.bincount(codes[a] * grids[b].count + codes[b], minlength=size))
    return [int(count) for part in totals for count in part]


class Repeated(Keystream):
    """The same words every time: a verdict about an attack may not hang on the day's noise."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = random.Random(seed)

    def _fill(self, out: memoryview, *, size_bytes: int) -> None:
        out[:size_bytes] = self._random.randbytes(size_bytes)


def release(declaration: Declaration, rows: Rows, level: int, micro_epsilon: int) -> dict[str, Any]:
    """`twin-counts.json` of these people, with the product's own mechanisms."""
    from domain.twin import TableCounts, cell_grid
    from domain.twin.request import FORM
    from privacy.twin import ColumnCounts, Patterns

    declared = declaration.tables[0].columns[1:]
    cells = tuple(cell_grid(column, declaration.nominal_size).count for column in declared)
    mechanism: ColumnCounts | Patterns = ColumnCounts(cells, micro_epsilon)
    if level == 2:
        mechanism = Patterns(cells, micro_epsilon, nominal_size=declaration.nominal_size)
    counts = mechanism.release(exact_totals(declaration, rows, mechanism.pairs), keystream=Repeated(level))
    named = TableCounts(tuple(column.name for column in declared), counts, 2 if level == 2 else 1)
    return {"form": FORM, "tables": {PATH: named.document()}}


def write_twin(
    folder: Path, declaration: Declaration, released: dict[str, Any] | None, seed: int = 0
) -> Path:
    """A folder with the twin, and the counts that it was drawn from beside it."""
    from domain.twin import TableCounts
    from twins.drawn import make_twin

    counts = {} if released is None else {p: TableCounts.parse(d) for p, d in released["tables"].items()}
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in make_twin(declaration, counts=counts, seed=seed).items():
        (folder / path).write_bytes(content)
    if released is not None:
        folder.with_suffix(".json").write_text(json.dumps(released))
    return folder
