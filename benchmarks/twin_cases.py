"""The tables of the benchmark of twins, as declared columns and cell numbers: nothing is taken from the data
but the cells of Synthea's and ds004148's text columns, which stand for a public list of categories."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from domain.dataset import Column
from domain.twin.cells import CellGrid, cell_grid

Codes = NDArray[np.int64]

ADULT_WITH_MISSING = ("workclass", "occupation", "native-country")
ADULT_RANGES = {
    "age": (17, 90),
    "fnlwgt": (10_000, 1_500_000),
    "education-num": (1, 16),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 4_500),
    "hours-per-week": (1, 99),
}
ADULT_ORDER = [
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
    *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country"),
    "income",
]
SYNTHEA = ["MARITAL", "RACE", "ETHNICITY", "GENDER", "BIRTHPLACE", "CITY", "COUNTY", "ZIP"]
SYNTHEA_RANGES = {
    "BIRTHDATE": (1900, 2021),
    "HEALTHCARE_EXPENSES": (0, 2_500_000),
    "HEALTHCARE_COVERAGE": (0, 250_000),
}
PARTICIPANTS = 20
"""Columns of ds004148 that are counted, after the one of names: age, sex and the first scales."""


@dataclass(frozen=True)
class Case:
    """A table: its declared columns, and the text of each, row by row."""

    name: str
    columns: tuple[Column, ...]
    texts: tuple[tuple[str, ...], ...]
    size: int

    @cached_property
    def grids(self) -> tuple[CellGrid, ...]:
        return tuple(cell_grid(column, self.size) for column in self.columns)

    @cached_property
    def cells(self) -> tuple[int, ...]:
        return tuple(grid.count for grid in self.grids)

    @cached_property
    def codes(self) -> Codes:
        """(rows, columns)."""
        return self.codes_of(self.texts)

    def codes_of(self, texts: Sequence[Sequence[str]]) -> Codes:
        """Of other rows of the same columns."""
        return np.stack(
            [grid.codes(column) for grid, column in zip(self.grids, texts, strict=True)], axis=1
        ).astype(np.int64)


def totals_of(codes: Codes, cells: Sequence[int], pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Exact counts, as a scan hands them over."""
    counts = [np.bincount(codes[:, a], minlength=cells[a]) for a in range(len(cells))]
    counts += [
        np.bincount(codes[:, a] * cells[b] + codes[:, b], minlength=cells[a] * cells[b]) for a, b in pairs
    ]
    return [int(count) for count in np.concatenate(counts)]


def adult() -> tuple[Case, Codes]:
    """The 32,561 rows of the training part, and the cells of the 16,281 of the test part."""
    train, test = _adult_rows("adult.data.gz"), _adult_rows("adult.test.gz")
    places = range(len(ADULT_ORDER))
    found = [sorted({row[place] for row in (*train, *test)} - {"?"}) for place in places]
    columns = tuple(
        _ranged(name, *ADULT_RANGES[name])
        if name in ADULT_RANGES
        else _listed(name, words, missing="?" if name in ADULT_WITH_MISSING else None)
        for name, words in zip(ADULT_ORDER, found, strict=True)
    )
    case = Case("Adult", columns, tuple(zip(*train, strict=True)), len(train))
    return case, case.codes_of(tuple(zip(*test, strict=True)))


def synthea() -> Case:
    """1,171 patients: eight columns of words, three of numbers."""
    with (_data() / "synthea_apr2020" / "patients.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["BIRTHDATE"] = row["BIRTHDATE"][:4]
    texts = {name: tuple(row[name] for row in rows) for name in (*SYNTHEA, *SYNTHEA_RANGES)}
    columns = [_listed(name, sorted(set(texts[name]) - {""}), missing="n/a") for name in SYNTHEA]
    columns += [_ranged(name, *bounds) for name, bounds in SYNTHEA_RANGES.items()]
    return Case("Synthea patients.csv", tuple(columns), tuple(texts.values()), len(rows))


def ds004148() -> Case:
    """60 participants, 20 columns: those of numbers in ten bins of a round range."""
    with (_data() / "openneuro_ds004148" / "participants.tsv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, delimiter="\t")
    columns, texts = [], []
    for place in range(1, PARTICIPANTS + 1):
        values = tuple(row[place].strip() for row in rows)
        numbers = [float(value) for value in values if is_number(value)]
        if len(numbers) > len(values) / 2:
            top = 10 * -(-max(numbers) // 10)
            columns.append(_ranged(header[place], 0, top, missing="n/a"))
        else:
            columns.append(_listed(header[place], sorted(set(values) - {"n/a"}), missing="n/a"))
        texts.append(values)
    return Case("ds004148 participants", tuple(columns), tuple(texts), len(rows))


def _ranged(name: str, lower: float, upper: float, *, missing: str | None = None) -> Column:
    kind = "integer" if missing is None else "number"
    return _declared(missing, name=name, kind=kind, lower=lower, upper=upper)


def _listed(name: str, words: Sequence[str], *, missing: str | None) -> Column:
    return _declared(missing, name=name, kind="categorical", categories=list(words))


def _declared(missing: str | None, **fields: object) -> Column:
    """With a cell for missing values where there is a code for them."""
    more = {} if missing is None else {"missing": missing, "missing_rate": 0.1}
    return Column.model_validate(fields | more)


def _adult_rows(name: str) -> list[list[str]]:
    with gzip.open(_data() / "uci_adult" / name, "rt", encoding="ascii") as file:
        lines = [line.strip().rstrip(".") for line in file]
    return [line.split(", ") for line in lines if line and not line.startswith("|")]


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _data() -> Path:
    return Path(os.environ["DPGATE_DATA"])
