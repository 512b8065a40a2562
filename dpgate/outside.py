"""What a table holds that its declaration does not: where the data are, for their rights holder alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from domain.dataset import Declaration
from domain.dataset.column import Column
from domain.shape.text import find_number

_MISSING = {"", "n/a", "na", "nan", "null", "none"}
_LONGEST = 40
_OTHER_SPELLING = re.compile(r"[+-]?[\d.]*,\d+|\d{1,2}([./-])\d{1,2}\1\d{4}.*", re.ASCII)


@dataclass
class _Seen:
    """Of one column: how many values there are, are missing, and are not what is declared, with the first."""

    column: Column
    values: int = 0
    absent: int = 0
    outside: int = 0
    first: tuple[str, int] | None = None

    def look(self, cell: str, line: int) -> None:
        if cell == self.column.missing or cell.casefold() in _MISSING:
            self.absent += 1
            return
        self.values += 1
        if not _is_declared(self.column, cell):
            self.outside += 1
            self.first = self.first or (cell, line)

    def told(self, path: str) -> Iterator[str]:
        if self.absent and not self.column.missing_rate:
            yield (
                f"{path}, {self.column.name}: {self.absent:,} of {self.absent + self.values:,} values are "
                "missing, and the twin will have none: a pipeline that was tried on it alone may fail where "
                "one is missing. Declare missing_rate, about what is known in public."
            )
        if self.first:
            yield self._outside(path, *self.first)

    def _outside(self, path: str, cell: str, line: int) -> str:
        shown = cell if len(cell) <= _LONGEST else f"{cell[:_LONGEST]}..."
        some = f"{path}, {self.column.name}: {self.outside:,} of {self.values:,} values"
        if self.column.kind == "categorical":
            return (
                f"{some} are no declared category, such as {shown} in line {line}. Spell them alike, or "
                "declare the category."
            )
        lower, upper = (
            f"{bound:.12g}" if isinstance(bound, float) else str(bound)
            for bound in (self.column.lower, self.column.upper)
        )
        counted = (
            "" if self.column.kind == "date" else " A trusted query counts a number beyond a bound as it."
        )
        mend = "Check the unit, or declare wider bounds from what is public."
        if _OTHER_SPELLING.fullmatch(cell):
            mend = "If they are numbers or days in another spelling, declare it: dialect."
        return (
            f"{some} are no {self.column.kind} from {lower} to {upper}, such as {shown} in line {line}."
            f"{counted} {mend}"
        )


def about_outside(data: Path, declared: Declaration) -> Iterator[str]:
    """Sentences on each declared column of a text table that holds values of other kinds or sizes, or lacks
    some where its declaration speaks of none."""
    for table in declared.tables:
        if table.path.endswith(".parquet"):
            continue
        with (data / table.path).open("rb") as file:
            rows = table.delivered_rows(file)
            header = next(rows).cells
            kinds = ("integer", "number", "categorical", "date")
            seen = [
                (header.index(column.name), _Seen(column)) for column in table.columns if column.kind in kinds
            ]
            for row in rows:
                for position, one in seen:
                    one.look(row.cells[position].strip(), row.number)
        for _, one in seen:
            yield from one.told(table.path)


def _is_declared(column: Column, cell: str) -> bool:
    if column.kind == "categorical":
        return cell in column.categories
    if column.kind == "date":
        day = column.day_of(cell)
        return day is not None and str(column.lower) <= day.isoformat() <= str(column.upper)
    number = find_number(cell)
    if number is None:
        return False
    assert column.lower is not None
    assert column.upper is not None
    return float(column.lower) <= number <= float(column.upper)
