"""Where a table's bytes are, and how the engine is told to read them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import duckdb

from domain.errors import NotReady

Form = Literal["csv", "tsv", "parquet"]

LONGEST_LINE = 2**23
"""Bytes of one row; longer ones are left out, as are rows that cannot be taken apart."""

PLACE_IN_FILE = "file_row_number"
"""Of each row of Parquet, from 0: the engine's own column, unless one of the file keeps that name."""

_PROBE_BYTES = 2**22


@dataclass(frozen=True)
class Source:
    """One table for the engine: `header` are its columns in the order of the file.

    `filesystem` serves `place` where that is no path. `quoted` says that cells may be in quotes; `line_end`
    is how rows end; `text_columns` are those of a Parquet file that hold text.
    """

    place: str
    form: Form
    header: tuple[str, ...]
    filesystem: Any = None
    quoted: bool = True
    line_end: Literal["\n", "\r\n"] = "\n"
    text_columns: frozenset[str] = frozenset()

    def is_text(self, name: str) -> bool:
        """Whether the cells of a column are text, in which a number may be spelled or said to be missing."""
        return self.form != "parquet" or name in self.text_columns

    def relation(self) -> str:
        """SQL for the table with its columns named c0, c1, ..., in the order of the file, all but Parquet's
        as text. Rows of Parquet have their `PLACE_IN_FILE` as well.

        The place is the parameter `place`. Nothing is guessed from the data: every option that the engine
        would look for in the first rows is given, as what one person's row holds must not change how others
        are read.
        """
        names = ", ".join(f"c{number}" for number in range(len(self.header)))
        if self.form == "parquet":
            return f"read_parquet($place) AS t({names})"
        columns = ", ".join(f"'c{number}': 'VARCHAR'" for number in range(len(self.header)))
        options = {
            "auto_detect": "false",
            "header": "true",
            "columns": "{" + columns + "}",
            "delim": "'\\t'" if self.form == "tsv" else "','",
            "quote": "'\"'" if self.quoted else "''",
            "escape": "'\"'" if self.quoted else "''",
            "new_line": repr(self.line_end),
            "max_line_size": str(LONGEST_LINE),
            "buffer_size": str(4 * LONGEST_LINE),
            "strict_mode": "false",
            "ignore_errors": "true",
            # a line end inside quotes can look like the end of a row to a reader that starts in the middle
            "parallel": "false" if self.quoted else "true",
        }
        spelled = ", ".join(f"{name}={value}" for name, value in options.items())
        return f"read_csv($place, {spelled}) AS t({names})"

    def column(self, name: str) -> str:
        """The SQL name of a column. Raises NotReady when the file has none of that name."""
        if name not in self.header:
            raise NotReady(f"the file {self.place} has no column {name}")
        return f"c{self.header.index(name)}"


def plain_file(path: Path) -> Source:
    """A file on this machine: a twin's table, or a table to measure on."""
    form: Form = {".csv": "csv", ".tsv": "tsv"}.get(path.suffix, "parquet")  # type: ignore[assignment]
    if form == "parquet":
        return parquet_source(str(path))
    with path.open("rb") as file:
        start = file.read(_PROBE_BYTES)
    first, line_end = _first_line(start)
    quoted = form == "csv" and _has_quotes(path)
    return Source(str(path), form, tuple(_cells(first, form)), quoted=quoted, line_end=line_end)


def _first_line(start: bytes) -> tuple[str, Literal["\n", "\r\n"]]:
    line, _, _ = start.partition(b"\n")
    line_end: Literal["\n", "\r\n"] = "\r\n" if line.endswith(b"\r") else "\n"
    return line.decode("utf-8-sig").removesuffix("\r"), line_end


def _cells(line: str, form: Form) -> Sequence[str]:
    return line.split("\t") if form == "tsv" else next(csv.reader([line]))


def _has_quotes(path: Path) -> bool:
    with path.open("rb") as file:
        return any(b'"' in part for part in iter(lambda: file.read(_PROBE_BYTES), b""))


def parquet_source(place: str, filesystem: Any = None) -> Source:
    """A Parquet file at a path, or at a place that `filesystem` serves. Raises NotReady for any other."""
    connection = duckdb.connect(":memory:")
    try:
        if filesystem is not None:
            connection.register_filesystem(filesystem)
        described = connection.execute("DESCRIBE FROM read_parquet($place)", {"place": place}).fetchall()
    except duckdb.Error:
        raise NotReady(f"{place} is not a Parquet file") from None
    finally:
        connection.close()
    kinds = {name: kind for name, kind, *_ in described}
    text = frozenset(name for name, kind in kinds.items() if kind == "VARCHAR")
    return Source(place, "parquet", tuple(kinds), filesystem=filesystem, text_columns=text)
