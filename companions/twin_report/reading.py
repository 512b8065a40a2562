"""Tables of a folder as sheets: the original's, the twin's, those of people who were held out.

This runs where the original lies. Errors name a file, a line or a column, and never repeat a cell.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from domain.dataset import Declaration, Table
from domain.twin.counts import TableCounts
from domain.twin.request import FORM
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import read_text
from formats.delimited import stream_rows
from twins.evaluation.sheet import Sheet, sheet_of
from worker.scan.plain import text_rows

MAX_BYTES = 1024 * 1024 * 1024
MAX_COUNTS_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, eq=False)
class TableSet:
    """One declared table in up to three folders."""

    table: Table
    original: Sheet
    twin: Sheet
    holdout: Sheet | None


def read_tables(
    declaration: Declaration, *, original: Path, twin: Path, holdout: Path | None
) -> list[TableSet]:
    """Every declared table that has a column to measure. Raises DpgateError with what to do."""
    found = []
    for table in declaration.tables:
        theirs = read_sheet(original, table, is_delivered=True)
        held_out = read_sheet(holdout, table, is_delivered=True) if holdout else None
        if theirs.columns:
            found.append(TableSet(table, theirs, read_sheet(twin, table), held_out))
    if not found:
        raise DpgateError("no declared table has a column to compare: all are names of people or free text")
    return found


def read_sheet(folder: Path, table: Table, *, is_delivered: bool = False) -> Sheet:
    """One table of a folder, as it was delivered or as twins have it. Raises DpgateError."""
    path = folder / table.path
    if not path.is_file():
        raise DpgateError(f"{folder} has no file {table.path}, which the declaration names")
    if path.stat().st_size > MAX_BYTES:
        raise DpgateError(f"{path} has more than {MAX_BYTES >> 20} MiB; compare an extract of both tables")
    try:
        return _parquet(path, table) if table.is_parquet else _text(path, table, is_delivered=is_delivered)
    except ValueError as error:
        raise DpgateError(f"{path}: {error}") from None


def read_counts(path: Path, declaration: Declaration) -> Mapping[str, TableCounts]:
    """The counts of `twin-counts.json`, by the path of their table; nothing here says who wrote that file.
    Raises DpgateError."""
    return parse_counts(path, read_text(path, max_bytes=MAX_COUNTS_BYTES), declaration)


def parse_counts(path: Path, text: str, declaration: Declaration) -> Mapping[str, TableCounts]:
    """The same of its text; `path` is for the words of a DpgateError."""
    try:
        content = json.loads(text)
        if not isinstance(content, dict) or set(content) != {"form", "tables"} or content["form"] != FORM:
            raise ValueError(f"it is not of the form {FORM}")
        if not isinstance(content["tables"], dict):
            raise ValueError("tables must be an object with one entry for each table")
        tables = {table.path: table for table in declaration.tables}
        found = {str(place): TableCounts.parse(document) for place, document in content["tables"].items()}
        for place, counts in found.items():
            if place not in tables:
                raise ValueError(f"it has counts of {place}, which the declaration does not name")
            counts.check(tables[place], declaration.nominal_size)
    except ValueError as error:
        raise DpgateError(f"{path} holds no counts of this data set: {error}") from None
    return found


def _text(path: Path, table: Table, *, is_delivered: bool) -> Sheet:
    with path.open("rb") as file:
        rows = table.delivered_rows(file) if is_delivered else stream_rows(table.path, file)
        header = next(rows).cells
        return sheet_of(table, header, (row.cells for row in rows))


def _parquet(path: Path, table: Table) -> Sheet:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        header, rows = text_rows(descriptor)
        return sheet_of(table, header, rows)
    finally:
        os.close(descriptor)
