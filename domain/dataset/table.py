"""What a table holds, column by column, as its rights holder declares it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Annotated, BinaryIO, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.dataset.column import Column, is_unset
from domain.dataset.identifying import Dropped
from domain.dataset.row_rules import RowRule, check_rules, read_rule
from domain.dialect import Dialect
from domain.model import InsidePath, Model, Whole
from formats.delimited import Row, stream_rows
from formats.dialect import Content, rewritten

MOST_TYPICAL_ROWS = 100_000
MOST_ROWS = 100_000_000
RuleText = Annotated[str, StringConstraints(min_length=1, max_length=500)]
_TWIN_ROWS = 2  # on average, where nobody states how many there are


def is_lf(value: object) -> bool:
    return value == "lf"


def repeated(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]


def _strict(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    try:
        yield from rows
    except csv.Error as error:
        raise ValueError(str(error)) from None


def _content(column: Column) -> Content | None:
    if column.kind == "date":
        return "moment" if column.with_time else "day"
    return "number" if column.kind in ("integer", "number") else None


class _Lines(list[str]):
    # the writer quotes a cell only for the characters of its own line end: both of them must be in it
    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")


class Table(Model):
    """One file of rows; the ending says what it is: text with tabs (.tsv) or commas (.csv), or Parquet."""

    path: Annotated[InsidePath, StringConstraints(pattern=r"\.(tsv|csv|parquet)$")]
    """Ends in `.tsv` (tab), `.csv` (comma) or `.parquet`; the last for trusted queries, with layout
    `tables`."""
    columns: Annotated[tuple[Column, ...], Field(min_length=1, max_length=5000)]
    """Only declared columns reach a run. Exactly one has kind `person`."""
    rows_per_person: Literal["one", "many"] = "one"
    """`one`: a second row of a person is refused."""
    # left out when it is not stated: twins are drawn from the digest of the declaration
    typical_rows: Annotated[Whole | None, Field(ge=1, le=MOST_TYPICAL_ROWS, exclude_if=is_unset)] = None
    """With `many`: how many rows a person of the twin has on average, from 1 to twice as many less one.
    Public knowledge, never counted in the data. Default: 2."""
    most_rows: Annotated[Whole | None, Field(ge=1, le=MOST_ROWS, exclude_if=is_unset)] = None
    """With `many`: an import keeps no more rows of anybody, chosen by lot. A public, round number, needed
    with padded timing."""
    line_end: Annotated[Literal["lf", "crlf"], Field(exclude_if=is_lf)] = "lf"
    """How lines of the text file end; the twin's do too."""
    dialect: Annotated[Dialect | None, Field(exclude_if=is_unset)] = None
    """How the delivered file is written, where it is not with commas, in UTF-8, with decimal points and days
    like 2020-01-31."""
    dropped: Annotated[tuple[Dropped, ...], Field(max_length=5000, exclude_if=is_unset)] = ()
    """Columns of the file that stay outside, with the decision. Part of the version."""
    row_rules: Annotated[tuple[RuleText, ...], Field(max_length=50, exclude_if=is_unset)] = ()
    """What holds between columns; every row of the twin keeps it."""  # in the words of row_rules.py

    @model_validator(mode="after")
    def _numbers_of_rows_of_many(self) -> Table:
        for name in ("typical_rows", "most_rows"):
            if getattr(self, name) is not None and self.rows_per_person == "one":
                raise ValueError(f"{name} is for tables with rows_per_person: many; remove one of the two")
        if self.most_rows is not None and (self.typical_rows or 0) > self.most_rows:
            raise ValueError("typical_rows is more than most_rows; raise most_rows")
        return self

    @model_validator(mode="after")
    def _one_person_column(self) -> Table:
        if twice := repeated(column.name for column in self.columns):
            raise ValueError(f"column {twice[0]} is declared twice")
        if sum(column.kind == "person" for column in self.columns) != 1:
            raise ValueError("exactly one column must have kind person: the one that names the privacy unit")
        return self

    @model_validator(mode="after")
    def _can_be_rewritten(self) -> Table:
        if self.is_parquet and self.is_rewritten:
            raise ValueError("dialect and with_time are of text tables; remove them, or deliver a .csv file")
        marks = (",",) if self.path.endswith(".csv") else (",", "tab")
        if self.dialect and not self.path.endswith(".csv") and self.dialect.delimiter not in marks:
            raise ValueError("a .tsv file has tabs between its cells; call it .csv, or remove delimiter")
        return self

    @model_validator(mode="after")
    def _rules_can_be_kept(self) -> Table:
        columns = {column.name: column for column in self.columns}
        check_rules(self.row_rules, columns, many_rows=self.rows_per_person == "many")
        if both := [column.name for column in self.dropped if column.name in columns]:
            raise ValueError(f"column {both[0]} is both declared and dropped; do one of the two")
        if twice := repeated(column.name for column in self.dropped):
            raise ValueError(f"column {twice[0]} is dropped twice; remove one of the two")
        return self

    @property
    def rules(self) -> tuple[RowRule, ...]:
        return tuple(map(read_rule, self.row_rules))

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

    @property
    def is_rewritten(self) -> bool:
        """Whether an import writes the delivered file anew."""
        return self.dialect is not None or any(column.with_time for column in self.columns)

    @property
    def _contents(self) -> dict[str, Content]:
        """What is read in each column; without a dialect, times alone."""
        found = {column.name: _content(column) for column in self.columns}
        is_read = {column.name for column in self.columns if self.dialect is not None or column.with_time}
        return {name: content for name, content in found.items() if content and name in is_read}

    def delivered_rows(self, file: BinaryIO) -> Iterator[Row]:
        """The header and each row of the file as it was delivered, in the form that runs get. Raises
        ValueError, for a cell that is not written as declared too."""
        if not self.is_rewritten:
            return stream_rows(self.path, file)
        return rewritten(
            self.path,
            file,
            self.dialect or Dialect(),
            self._contents,
            missing={column.name: column.missing for column in self.columns},
            end=b"\r\n" if self.line_end == "crlf" else b"\n",
        )

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
