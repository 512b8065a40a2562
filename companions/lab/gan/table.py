"""A table as the networks read it, and drawn rows as a table: columns dropped, words as codes, amounts in 20
equal bins, everything moved towards a bell by the power of Yeo and Johnson.

As on the slides, but for one cell: there, bins are open at the left, so the smallest amount became missing,
and networks that see one missing number end as nothing but missing numbers. Here it is in the first bin.

Categories, ends of bins and powers are all read off the data. So a table drawn from them can show the
smallest and the largest amount and every rare word, however the networks were trained: no epsilon covers it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from companions.lab.simulation import Generator
from companions.lab.subjects import MISSING, Cells
from dpgate.errors import DpgateError

Values = NDArray[np.float64]

BINS = 20
DROPPED = (
    *("Id", "BIRTHDATE", "DEATHDATE", "SSN", "DRIVERS", "PASSPORT", "PREFIX"),
    *("FIRST", "ADDRESS", "LAST", "SUFFIX", "MAIDEN", "LAT", "LON"),
)
"""Of Synthea's patients.csv."""

AMOUNTS = ("HEALTHCARE_EXPENSES", "HEALTHCARE_COVERAGE")


@dataclass(frozen=True, eq=False)
class Encoded:
    """One column. `points` are the transformed numbers of its codes, rising; `words` the cell of each code,
    or `edges` the ends of the bins, one more than there are codes."""

    name: str
    codes: NDArray[np.int64]
    points: Values
    words: tuple[str, ...] = ()
    edges: tuple[float, ...] = ()

    @property
    def transformed(self) -> Values:
        return self.points[self.codes]

    def decode(self, drawn: Values, generator: Generator) -> tuple[str, ...]:
        """The cell of the nearest code; of an amount, any number of its bin, with two decimals."""
        middles = (self.points[1:] + self.points[:-1]) / 2
        codes = np.searchsorted(middles, drawn)
        if self.words:
            return tuple(self.words[code] for code in codes.tolist())
        edges = np.array(self.edges)
        amounts = edges[codes] + generator.random(len(codes)) * (edges[codes + 1] - edges[codes])
        return tuple(f"{amount:.2f}" for amount in amounts.tolist())


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """The columns that are left, in the table's order."""

    columns: tuple[Encoded, ...]

    @property
    def values(self) -> Values:
        """(rows, columns), what the networks see."""
        return np.stack([column.transformed for column in self.columns], axis=1)

    def decode(self, drawn: Values, generator: Generator) -> Cells:
        """Drawn rows, shape (rows, columns), as a table. Raises DpgateError for numbers that are none."""
        if not np.isfinite(drawn).all():
            raise DpgateError("the network draws numbers without end; train it again with another seed")
        return {
            column.name: column.decode(drawn[:, place], generator)
            for place, column in enumerate(self.columns)
        }


def encode(cells: Cells, *, amounts: Collection[str], dropped: Collection[str] = ()) -> EncodedTable:
    """All columns but those dropped. Raises DpgateError for an amount that is no number."""
    kept = {name: column for name, column in cells.items() if name not in dropped}
    if not kept or not next(iter(kept.values())):
        raise DpgateError("no column or no row is left to learn from; drop fewer columns")
    return EncodedTable(
        tuple(_amount(name, cell) if name in amounts else _words(name, cell) for name, cell in kept.items())
    )


def _words(name: str, cells: Sequence[str]) -> Encoded:
    """Codes in alphabetical order from 0; what is missing has -1, before them."""
    found = sorted({cell for cell in cells if cell.strip().lower() not in MISSING})
    code_of = {word: code for code, word in enumerate(found)}
    numbers = np.array([code_of.get(cell, -1) for cell in cells], np.int64)
    first = int(numbers.min())
    words = ("",) * -first + tuple(found)
    return Encoded(name, numbers - first, _points(numbers, np.arange(first, len(found))), words=words)


def _amount(name: str, cells: Sequence[str]) -> Encoded:
    numbers = np.array([_read(name, cell) for cell in cells], np.float64)
    edges = np.linspace(numbers.min(), numbers.max(), BINS + 1)
    codes = np.clip(np.searchsorted(edges, numbers, side="left") - 1, 0, BINS - 1)
    return Encoded(name, codes, _points(codes, np.arange(BINS)), edges=tuple(edges.tolist()))


def _points(found: NDArray[np.int64], codes: NDArray[np.int64]) -> Values:
    """Each code behind the transform that was fitted to those found. A constant column is 0."""
    if found.min() == found.max():
        return np.arange(len(codes), dtype=np.float64) - (found[0] - codes[0])
    # as slow to import as the whole laboratory
    from sklearn.preprocessing import PowerTransformer

    power: Any = PowerTransformer(method="yeo-johnson", standardize=True)
    power.fit(found[:, np.newaxis].astype(np.float64))
    return np.asarray(power.transform(codes[:, np.newaxis].astype(np.float64))[:, 0], np.float64)


def _read(name: str, cell: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DpgateError(f"column {name} holds a cell that is no number; treat it as words, or drop it")
    return number
