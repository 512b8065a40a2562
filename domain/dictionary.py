"""The data dictionary of a declaration: one row for each column, for pages, programs and spreadsheets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.dataset import Declaration
from formats.delimited_text import csv_text

COLUMNS = (
    "table", "column", "kind", "lower", "upper", "categories", "missing", "missing_rate", "rows_per_person",
    "typical_rows", "most_rows", "description",
)  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """One declared column."""

    table: str
    column: str
    kind: str
    # of a column of dates: days like 2020-01-31
    lower: float | str | None
    upper: float | str | None
    categories: tuple[str, ...]
    missing: str
    missing_rate: float
    rows_per_person: str
    # in the twin, where the rights holder states it
    typical_rows: int | None
    # kept of one person at the most
    most_rows: int | None
    description: str


def entries(declaration: Declaration, *, sought: str = "") -> tuple[Entry, ...]:
    """Every column whose table, name, meaning or categories have all the words that are sought."""
    found = (
        Entry(
            table=table.path,
            column=column.name,
            kind=column.kind,
            lower=column.lower,
            upper=column.upper,
            categories=column.categories,
            missing=column.missing,
            missing_rate=column.missing_rate,
            rows_per_person=table.rows_per_person,
            typical_rows=table.typical_rows,
            most_rows=table.most_rows,
            description=column.description,
        )
        for table in declaration.tables
        for column in table.columns
    )
    words = sought.casefold().split()
    return tuple(entry for entry in found if all(word in _text(entry) for word in words))


def as_csv(found: Sequence[Entry]) -> str:
    """One row for each entry; categories stand in one cell, between vertical bars."""
    return csv_text(
        COLUMNS,
        (
            [
                "|".join(value) if isinstance(value, tuple) else value
                for value in (getattr(entry, name) for name in COLUMNS)
            ]
            for entry in found
        ),
    )


def _text(entry: Entry) -> str:
    return " ".join([entry.table, entry.column, entry.description, *entry.categories]).casefold()
