"""What a table holds, column by column, as its rights holder declares it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.model import InsidePath, Model, Number, Whole, Words

ONE_LINE = r"^[^\t\r\n\x00]*$"
ColumnName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=ONE_LINE)]
Category = Annotated[str, StringConstraints(max_length=200, pattern=ONE_LINE)]


MOST_TYPICAL_ROWS = 100_000
_TWIN_ROWS = 2  # on average, where nobody states how many there are


def _is_nothing(value: object) -> bool:
    return value is None


def repeated(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]


def _strict(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        raise ValueError(str(error)) from None


class _Lines(list[str]):
    # the writer quotes a cell only for the characters of its own line end: both of them must be in it
    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")


class Typical(Model):
    """Public knowledge about a column (an instrument's manual, a national statistic): enlivens the twin."""

    mean: Number
    sd: Annotated[Number, Field(gt=0)]


class Column(Model):
    """One declared column. Columns of the file that are not declared are left out of the snapshot."""

    name: ColumnName
    kind: Literal["person", "integer", "number", "categorical"]
    lower: Number | None = None
    upper: Number | None = None
    decimals: Annotated[Whole, Field(ge=0, le=12)] = 2
    categories: tuple[Category, ...] = ()
    typical: Typical | None = None
    missing: Category = "n/a"
    missing_rate: Annotated[Number, Field(ge=0, lt=1)] = 0
    description: Words = ""

    @model_validator(mode="after")
    def _kind_has_what_it_needs(self) -> Column:
        if self.kind in ("integer", "number"):
            if self.lower is None or self.upper is None:
                raise ValueError(f"column {self.name}: lower and upper bounds are missing; declare both")
            if self.lower >= self.upper:
                raise ValueError(f"column {self.name}: lower must be less than upper")
            if self.kind == "integer" and math.ceil(self.lower) > math.floor(self.upper):
                raise ValueError(f"column {self.name}: no whole number lies between lower and upper")
        if self.kind == "categorical" and not self.categories:
            raise ValueError(f"column {self.name}: categories are missing; declare them")
        return self


class Table(Model):
    """One file of rows; the ending says what it is: text with tabs (.tsv) or commas (.csv), or Parquet."""

    path: Annotated[InsidePath, StringConstraints(pattern=r"\.(tsv|csv|parquet)$")]
    columns: Annotated[tuple[Column, ...], Field(min_length=1, max_length=5000)]
    rows_per_person: Literal["one", "many"] = "one"
    # left out when it is not stated: twins are drawn from the digest of the declaration
    typical_rows: Annotated[Whole | None, Field(ge=1, le=MOST_TYPICAL_ROWS, exclude_if=_is_nothing)] = None

    @model_validator(mode="after")
    def _typical_rows_of_many(self) -> Table:
        if self.typical_rows is not None and self.rows_per_person == "one":
            raise ValueError("typical_rows is for tables with rows_per_person: many; remove one of the two")
        return self

    @model_validator(mode="after")
    def _one_person_column(self) -> Table:
        if twice := repeated(column.name for column in self.columns):
            raise ValueError(f"column {twice[0]} is declared twice")
        if sum(column.kind == "person" for column in self.columns) != 1:
            raise ValueError("exactly one column must have kind person: the one that names the privacy unit")
        return self

    @property
    def twin_rows(self) -> int:
        """Of each person in the twin; on average, where there are many."""
        return 1 if self.rows_per_person == "one" else self.typical_rows or _TWIN_ROWS

    @property
    def is_parquet(self) -> bool:
        return self.path.endswith(".parquet")

    @property
    def delimiter(self) -> str:
        return "\t" if self.path.endswith(".tsv") else ","

    def split(self, text: str) -> Iterator[list[str]]:
        """The rows of this text. TSV has no quotes (BIDS), CSV has. Raises ValueError on a bad quote."""
        if self.delimiter == "\t":
            lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
            return (line.split("\t") for line in lines)
        return _strict(csv.reader(io.StringIO(text, newline=""), strict=True))

    def join(self, rows: Iterable[list[str]]) -> str:
        """Rows as this table's text; cells keep their text, so `n/a` and `25` stay what they were."""
        if self.delimiter == "\t":
            return "".join("\t".join(row) + "\n" for row in rows)
        lines = _Lines()
        csv.writer(lines, lineterminator="\r\n").writerows(rows)
        return "".join(lines)

    @property
    def person_column(self) -> Column:
        return next(column for column in self.columns if column.kind == "person")
