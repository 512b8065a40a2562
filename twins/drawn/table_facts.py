"""Facts about a table, for comparing a twin with its original: names, forms of cells, numbers of each.

Numbers of cells only, never what stands in one. Facts of an original are still exact facts about people:
they are for its rights holder alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from domain.dataset import Column, Table
from formats.delimited import Row

MOST_NAMES = 100_000
"""Distinct categories and people that are told apart; memory stays bounded for any table."""

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.(\d*))?|\.(\d+))(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass
class ColumnFacts:
    """`strange`: neither a value of the declared kind nor the declared missing text. `decimals`: the most
    digits behind a point. `seen`: declared categories that occur; `unknown`: how many others do."""

    column: Column
    cells: int = 0
    missing: int = 0
    strange: int = 0
    outside: int = 0
    decimals: int = 0
    seen: set[str] = field(default_factory=set)
    _others: set[str] = field(default_factory=set)

    @property
    def unknown(self) -> int:
        return len(self._others)

    @property
    def people(self) -> int:
        """How many people a person column names."""
        return len(self._others)

    def add(self, cell: str) -> None:
        self.cells += 1
        kind = self.column.kind
        if kind == "person":
            self._keep(cell.strip())
        elif kind == "categorical" and cell in self.column.categories:
            self.seen.add(cell)
        elif cell == self.column.missing:
            self.missing += 1
        elif kind == "categorical":
            self.strange += 1
            self._keep(cell)
        elif kind in ("integer", "number"):
            self._add_number(cell.strip())
        elif kind == "date":
            day = self.column.day_of(cell.strip())
            self._check(None if day is None else float(day.toordinal()))

    def _add_number(self, cell: str) -> None:
        match = _NUMBER.fullmatch(cell)
        self._check(float(cell) if match and math.isfinite(float(cell)) else None)
        if match:
            self.decimals = max(self.decimals, len(match[1] or match[2] or ""), "." in cell)

    def _check(self, value: float | None) -> None:
        lower, upper = self.column.bounds
        if value is None:
            self.strange += 1
        elif not lower <= value <= upper:
            self.outside += 1

    def _keep(self, name: str) -> None:
        if len(self._others) < MOST_NAMES:
            self._others.add(name)


@dataclass
class TableFacts:
    """`header` as it stands in the file; `line_end` is `crlf` or `lf`; `columns` are the declared ones that
    the file has."""

    header: tuple[str, ...]
    line_end: str
    columns: dict[str, ColumnFacts]
    rows: int = 0

    @classmethod
    def read(cls, table: Table, rows: Iterator[Row]) -> TableFacts:
        """Row by row, the header first, in bounded memory. Raises ValueError for text that is no table."""
        first = next(rows)
        facts = cls.of_header(table, first.cells, line_end="crlf" if first.end == b"\r\n" else "lf")
        facts.add(row.cells for row in rows)
        return facts

    @classmethod
    def of_header(cls, table: Table, header: Sequence[str], *, line_end: str = "lf") -> TableFacts:
        columns = {column.name: ColumnFacts(column) for column in table.columns if column.name in header}
        return cls(tuple(header), line_end, columns)

    def add(self, rows: Iterable[Sequence[str]]) -> None:
        """Count more rows, each as long as the header."""
        places = [(self.header.index(name), facts) for name, facts in self.columns.items()]
        for row in rows:
            self.rows += 1
            for place, facts in places:
                facts.add(row[place])
