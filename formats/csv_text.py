"""Tables for spreadsheets: rows as CSV in which no cell is a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

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
