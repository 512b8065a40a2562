"""The people under attack: one number for each, from a table that the owner holds.

This is the owner's own data on the owner's own machine, so errors may name a row; they still do not repeat
a cell.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dpgate.errors import DpgateError
from dpgate.pipeline_folder import read_text

MIN_PEOPLE = 20
MAX_TABLE_BYTES = 256 * 1024 * 1024
_MARK = "\ufeff"
MISSING = {"", "n/a", "na", "nan", "null", "none", "?"}

Cells = Mapping[str, Sequence[str]]
"""A table by column, as text."""


@dataclass(frozen=True)
class Subjects:
    """People, the number that each of them has, and the bounds that a mechanism is told.

    `table` holds the whole table, one row for each of these people, without the column that names them.
    `bounds_stated` says whether somebody stated the bounds, or they were read off the data: fine here, never
    in a job.
    """

    source: str
    column: str
    names: tuple[str, ...]
    values: NDArray[np.float64]
    lower: float
    upper: float
    bounds_stated: bool
    table: Cells

    @property
    def count(self) -> int:
        return len(self.names)

    @property
    def described(self) -> str:
        """One line for the report."""
        origin = "stated" if self.bounds_stated else "read off the data, rounded outwards"
        return (
            f"{self.source}, column {self.column}: {self.count} people; bounds {self.lower:g} to "
            f"{self.upper:g} ({origin})"
        )

    def clamped(self) -> NDArray[np.float64]:
        return np.clip(self.values, self.lower, self.upper)


def load_subjects(
    path: Path, *, column: str, person: str | None, bounds: tuple[float, float] | None = None
) -> Subjects:
    """One number for each person of a TSV or CSV file; several rows of one person are averaged.

    Without `person` every row is a person. Raises DpgateError with what to do.
    """
    cells = read_cells(path)
    for name in (column, *([person] if person else [])):
        if name not in cells:
            raise DpgateError(f"{path} has no column {name}; it has: {', '.join(cells)}")
    rows = len(cells[column])
    names = list(cells[person]) if person else [f"row {number + 1}" for number in range(rows)]
    if not all(name.strip() for name in names):
        raise DpgateError(f"a row of {path} has an empty {person}; every row needs a person")
    numbers = [_number(cell, place=f"row {row + 1} of {path}") for row, cell in enumerate(cells[column])]
    return _one_each(path.name, column, names, numbers, bounds, _without(cells, person))


def read_cells(path: Path) -> dict[str, list[str]]:
    """A table by column; the ending decides the delimiter, as everywhere else. TSV has no quotes."""
    if path.suffix not in (".tsv", ".csv"):
        raise DpgateError(f"{path}: a table ends in .tsv or .csv")
    return parse_cells(
        read_text(path, max_bytes=MAX_TABLE_BYTES), tabs=path.suffix == ".tsv", place=str(path)
    )


def parse_cells(text: str, *, tabs: bool, place: str) -> dict[str, list[str]]:
    """Columns of delimited text with a header. Raises DpgateError for rows of unequal length."""
    try:
        header, *body = _tab_rows(text) if tabs else _comma_rows(text)
    except csv.Error as error:
        raise DpgateError(f"{place} is not CSV: {error}") from None
    except ValueError:
        raise DpgateError(f"{place} is empty; the first line names the columns") from None
    if repeated := {name for name in header if header.count(name) > 1}:
        raise DpgateError(f"{place} has two columns {sorted(repeated)[0]}; rename one")
    for number, row in enumerate(body):
        if len(row) != len(header):
            raise DpgateError(f"row {number + 1} of {place} has {len(row)} cells, the header {len(header)}")
    return {name: [row[index] for row in body] for index, name in enumerate(header)}


def outward_bounds(values: NDArray[np.float64]) -> tuple[float, float]:
    """Round numbers around the data. A mechanism must not get these: they disclose the extremes."""
    low, high = float(values.min()), float(values.max())
    step = 10.0 ** math.floor(math.log10(high - low))
    return math.floor(low / step) * step, math.ceil(high / step) * step


def _one_each(
    source: str,
    column: str,
    names: Sequence[str],
    numbers: Sequence[float | None],
    bounds: tuple[float, float] | None,
    cells: Cells,
) -> Subjects:
    rows_of: dict[str, list[int]] = {}
    for row, (name, number) in enumerate(zip(names, numbers, strict=True)):
        if number is not None:
            rows_of.setdefault(name.strip(), []).append(row)
    if len(rows_of) < MIN_PEOPLE:
        raise DpgateError(
            f"column {column} has a number for {len(rows_of)} people; the laboratory needs {MIN_PEOPLE}"
        )
    values = np.array([np.mean([numbers[row] for row in rows]) for rows in rows_of.values()], np.float64)
    if values.min() == values.max():
        raise DpgateError(f"everybody has the same {column}; there is nothing to attack")
    lower, upper = bounds or outward_bounds(values)
    first = [rows[0] for rows in rows_of.values()]
    table = {name: tuple(cells[name][row] for row in first) for name in cells}
    return Subjects(source, column, tuple(rows_of), values, lower, upper, bounds is not None, table)


def _without(cells: Cells, person: str | None) -> Cells:
    return {name: column for name, column in cells.items() if name != person}


def _tab_rows(text: str) -> list[list[str]]:
    lines = text.removeprefix(_MARK).replace("\r\n", "\n").split("\n")
    return [line.split("\t") for line in lines if line]


def _comma_rows(text: str) -> list[list[str]]:
    rows = csv.reader(io.StringIO(text.removeprefix(_MARK), newline=""), strict=True)
    return [row for row in rows if row]


def _number(cell: str, *, place: str) -> float | None:
    """None for a missing value. What else is no number is refused: a guess would change the people."""
    text = cell.strip()
    if text.lower() in MISSING:
        return None
    try:
        number = float(text)
    except ValueError:
        raise DpgateError(f"{place} holds no number; write a missing value as n/a") from None
    if not math.isfinite(number):
        raise DpgateError(f"{place} is infinite; write a missing value as n/a")
    return number
