"""Cells as the text of a TSV or CSV file: the way back from `formats.delimited`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence


def table_text(name: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, end: str = "\n") -> str:
    """Commas, and quotes where they are needed, for a `name` that ends in .csv; else tabs and no quotes.

    Raises ValueError for a cell that holds a tab or a line end, where there are no quotes.
    """
    text = io.StringIO()
    if name.endswith(".csv"):
        writer = csv.writer(text, lineterminator=end)
        writer.writerow(header)
        writer.writerows(rows)
        return text.getvalue()
    for row in (header, *rows):
        if any(set("\t\r\n") & set(cell) for cell in row):
            raise ValueError(f"{name}: a cell holds a tab or a line end, which TSV cannot write")
        text.write("\t".join(row) + end)
    return text.getvalue()


# Tables for spreadsheets: rows as CSV in which no cell is a formula.

_FORMULA = "=+-@\t\r"


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str | int | float | None]]) -> str:
    """The table as text. A text that a spreadsheet would run gets an apostrophe first; numbers stay."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return text.getvalue()


def _cell(value: str | int | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value[:1] in _FORMULA and value else value
    return repr(value)
