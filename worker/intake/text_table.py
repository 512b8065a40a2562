"""A declared TSV or CSV file, read row by row: no more than one row of it is in memory."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from domain.dataset import ImportProblem, Table
from domain.people_in_paths import mentions
from formats.delimited import BOM, NotText, Row, cells_of, delimiter_of
from worker.intake.checksums import Open
from worker.intake.decisions import UNDECIDED, Decisions
from worker.intake.refusal import ImportRefused

_PIECE = 2**20


class TextTable:
    """One table as it was delivered. Raises ImportRefused for a header that lacks what is declared."""

    def __init__(self, table: Table, opener: Open, decisions: Decisions = UNDECIDED) -> None:
        self.table = table
        self._opener = opener
        self._changes = decisions.of_table(table)
        self.kept_name = decisions.of_people(table)
        with opener() as file, _refusing(table):
            first = next(table.delivered_rows(file))
        header = first.cells
        check_header(table, header)
        self._end = first.end or b"\n"
        self._kept = [header.index(column.name) for column in table.columns]
        self._is_whole = self._kept == list(range(len(header)))
        self._ends: set[bytes] = set()
        self._person = header.index(table.person_column.name)

    def people(self) -> Iterator[tuple[int, str]]:
        """The line and the person of each row. Raises ImportRefused for rows that are none, or nobody's."""
        position, place = self._person, self.table.path
        for row in self._rows():
            self._ends.add(row.raw[-2:])
            person = row.cells[position].strip()
            if not person:
                raise ImportRefused(ImportProblem.PERSON_EMPTY, place=place, detail=f"line {row.number}")
            yield row.number, person

    def mentions(self) -> Iterator[tuple[int, str, str]]:
        """The line and person of each row whose other declared cells hold `sub-`, with a label behind it."""
        others = [position for position in self._kept if position != self._person]
        for row in self._rows():
            for label in {label for position in others for label in mentions(row.cells[position])}:
                yield row.number, row.cells[self._person].strip(), label

    def open_declared(self) -> BinaryIO:
        """The declared columns alone, in the declared order: what nobody declared enters no snapshot.

        Cells keep their bytes; a file that holds just these columns stays as it is but for a byte order mark.
        One line end holds for all rows: that of the header. Go through `people` before.
        """
        is_kept = not (self._has_other_ends or self._changes or self.table.is_rewritten)
        if self._is_whole and is_kept:
            file = self._opener()
            if file.read(len(BOM)) != BOM:
                file.seek(0)
            return file
        return io.BufferedReader(_Generated(self._declared()), _PIECE)

    @property
    def _has_other_ends(self) -> bool:
        is_crlf = self._end == b"\r\n"
        return any(end.endswith(b"\n") and (end == b"\r\n") is not is_crlf for end in self._ends)

    def _declared(self) -> Iterator[bytes]:
        joint, is_csv = delimiter_of(self.table.path), self.table.path.endswith(".csv")
        is_header = True
        for row in self._rows(header=True):
            cells: Iterable[str] = row.cells
            if is_csv and b'"' in row.raw:
                cells = cells_of(row.raw.decode().removesuffix("\n").removesuffix("\r"), is_csv=True)[0]
            written = list(cells)
            if self._changes and not is_header:
                self._change(row, written, is_csv=is_csv)
            is_header = False
            yield joint.join([written[position] for position in self._kept]).encode() + self._end

    def _change(self, row: Row, written: list[str], *, is_csv: bool) -> None:
        """What was decided, in place; the other cells keep their bytes."""
        person = row.cells[self._person].strip()
        for position, column in zip(self._kept, self.table.columns, strict=True):
            if change := self._changes.get(column.name):
                changed = change(person, row.cells[position])
                needs_quotes = is_csv and any(mark in changed for mark in ',"')
                written[position] = '"' + changed.replace('"', '""') + '"' if needs_quotes else changed

    def _rows(self, *, header: bool = False) -> Iterator[Row]:
        with self._opener() as file, _refusing(self.table):
            rows = self.table.delivered_rows(file)
            if not header:
                next(rows)
            yield from rows


@contextmanager
def _refusing(table: Table) -> Iterator[None]:
    try:
        yield
    except NotText as error:
        raise ImportRefused(ImportProblem.NOT_UTF8, place=table.path, detail=str(error)) from None
    except ValueError as error:
        raise ImportRefused(ImportProblem.NOT_A_TABLE, place=table.path, detail=str(error)) from None


def check_header(table: Table, header: tuple[str, ...]) -> None:
    """Raises ImportRefused unless each declared column is there once, whatever else is."""
    if not any(header):
        raise ImportRefused(ImportProblem.NOT_A_TABLE, place=table.path, detail="it has no header")
    if len(set(header)) != len(header):
        repeated = next(name for name in header if header.count(name) > 1)
        raise ImportRefused(ImportProblem.COLUMN_REPEATED, place=table.path, detail=repr(repeated))
    if table.person_column.name not in header:
        one = "; its header is one cell: state the delimiter in the dialect" * (len(header) == 1)
        detail = repr(table.person_column.name) + one
        raise ImportRefused(ImportProblem.UNIT_COLUMN_MISSING, place=table.path, detail=detail)
    for column in table.columns:
        if column.name not in header:
            raise ImportRefused(ImportProblem.COLUMN_MISSING, place=table.path, detail=repr(column.name))


class _Generated(io.RawIOBase):
    """Pieces of bytes as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        if not self._held:
            self._held = memoryview(_gathered(self._pieces))
        size = min(len(buffer), len(self._held))
        buffer[:size] = self._held[:size]
        self._held = self._held[size:]
        return size


def _gathered(pieces: Iterator[bytes]) -> bytes:
    """The next pieces, about a MiB of them; nothing at the end."""
    found: list[bytes] = []
    size = 0
    for piece in pieces:
        found.append(piece)
        size += len(piece)
        if size >= _PIECE:
            break
    return b"".join(found)
