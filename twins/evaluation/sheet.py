"""A table as the measures read it: declared columns as numbers or words, rows in their order.

The column that names people and free text are left out: a twin has its own names and placeholders there.
Cells are read as a table's own missing code and its kind say; what is no number in a column of numbers counts
as missing, since measures must work on scrambled tables too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from domain.dataset import Column, Table

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
"""(rows, columns): a whole number for each cell."""

LEFT_OUT = frozenset({"person", "text"})
ORDERED = frozenset({"integer", "number", "date"})
NOTHING = frozenset({"", "n/a", "na", "nan", "null", "none"})


@dataclass(frozen=True, eq=False)
class Values:
    """One column of a sheet."""

    column: Column
    texts: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def is_ordered(self) -> bool:
        return self.column.kind in ORDERED

    @cached_property
    def numbers(self) -> Floats:
        """Of an ordered column, dates as days; NaN where nothing stands."""
        read = self._day if self.column.kind == "date" else _number
        missing = self.column.missing
        return np.array([np.nan if text == missing else read(text) for text in self.texts], np.float64)

    def _day(self, text: str) -> float:
        day = self.column.day_of(text.strip())
        return float("nan") if day is None else float(day.toordinal())

    @cached_property
    def words(self) -> NDArray[np.str_]:
        """Of any column, as text without outer spaces; "" where nothing stands."""
        missing = self.column.missing
        found = (
            "" if text == missing or text.strip().lower() in NOTHING else text.strip() for text in self.texts
        )
        return np.array(tuple(found), dtype=np.str_)

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Where something stands."""
        if self.is_ordered:
            return ~np.isnan(self.numbers)
        found: NDArray[np.bool_] = self.words != ""
        return found


@dataclass(frozen=True, eq=False)
class Sheet:
    """The measured columns of one table, all of the same length."""

    columns: tuple[Values, ...]
    people: tuple[str, ...]
    """Whose row each is, as the table names people."""

    @property
    def rows(self) -> int:
        return len(self.people)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(values.name for values in self.columns)

    @property
    def ordered(self) -> tuple[int, ...]:
        """Places of the columns of numbers and dates."""
        return tuple(place for place, values in enumerate(self.columns) if values.is_ordered)

    def only_rows(self, rows: Sequence[int] | NDArray[np.int64]) -> Sheet:
        """These rows in this order."""
        kept = [int(row) for row in rows]
        columns = (Values(v.column, tuple(v.texts[row] for row in kept)) for v in self.columns)
        return Sheet(tuple(columns), tuple(self.people[row] for row in kept))


def sheet_of(table: Table, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Sheet:
    """The measured columns of this table. Raises ValueError with the name of a declared column that lacks."""
    if lacking := next((column.name for column in table.columns if column.name not in header), None):
        raise ValueError(f"{table.path} has no column {lacking}, which the declaration names")
    place_of = {name: place for place, name in enumerate(header)}
    measured = [column for column in table.columns if column.kind not in LEFT_OUT]
    places = [place_of[table.person_column.name], *(place_of[column.name] for column in measured)]
    kept = [[row[place] for place in places] for row in rows]
    people, *texts = zip(*kept, strict=True) if kept else [() for _ in places]
    columns = tuple(Values(column, cells) for column, cells in zip(measured, texts, strict=True))
    return Sheet(columns, tuple(name.strip() for name in people))


def exact_codes(*sheets: Sheet) -> tuple[Codes, ...]:
    """Equal numbers for equal values, over all sheets together: `25` and `25.0` are one value, and so is
    everything missing. The sheets have the same columns."""
    columns = []
    for place in range(len(sheets[0].columns)):
        found = [sheet.columns[place] for sheet in sheets]
        values = [one.numbers if one.is_ordered else one.words for one in found]
        columns.append(np.unique(np.concatenate(values), return_inverse=True)[1])
    ends = np.cumsum([sheet.rows for sheet in sheets])[:-1]
    whole = np.stack(columns, axis=1).astype(np.int64) if columns else np.zeros((0, 0), np.int64)
    return tuple(np.split(whole, ends))


def _number(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        return float("nan")
    return found if np.isfinite(found) else float("nan")
