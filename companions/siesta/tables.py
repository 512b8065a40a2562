"""TSV and CSV files as lines that can be kept or dropped; every byte of a kept line stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.people_in_paths import MISSING, PERSON, id_columns, label_of
from dpgate.errors import DpgateError
from formats.delimited import Row as Line
from formats.delimited import joined, read_rows

__all__ = ["PERSON", "SUFFIXES", "Line", "Table", "label_of", "read_table"]

SUFFIXES = (".tsv", ".csv")


@dataclass(frozen=True)
class Table:
    """A header and rows with as many cells as the header."""

    name: str
    header: Line
    rows: tuple[Line, ...]

    def write(self, rows: Sequence[Line]) -> bytes:
        """The header and these rows, byte for byte. A line end is added only where two lines would meet."""
        return joined([self.header, *rows], end=self.header.end)

    def id_columns(self) -> list[int]:
        """Columns that say whose row it is: by their header, or because every cell reads `sub-XX`."""
        return id_columns(self.header, self.rows)

    def people(self, row: Line, columns: Sequence[int]) -> frozenset[str]:
        """Labels (`XX` of `sub-XX`) in the id columns of a row. Raises DpgateError when there is none."""
        cells = {row.cells[column] for column in columns} - set(MISSING)
        if not cells:
            raise DpgateError(f"{self.name}, line {row.number}, names nobody; fill in its id")
        return frozenset(label_of(cell) for cell in cells)


def read_table(name: str, content: bytes) -> Table:
    """Raises DpgateError, naming the line, for a file that is not a plain UTF-8 table."""
    if content.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise DpgateError(f"{name} starts with a byte order mark; save it as UTF-8 without one")
    try:
        table = read_rows(name, content)
    except ValueError as error:
        raise DpgateError(str(error)) from None
    return Table(name, table.header, table.rows)
