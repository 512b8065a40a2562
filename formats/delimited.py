"""TSV and CSV as rows that keep their bytes: what is not changed stays as it was, cell for cell.

A row ends with a line feed, or with both characters of CRLF. TSV has no quotes (BIDS); a CSV cell may be in
quotes, and then go on over the end of a line. What other programs could take apart in another way is refused:
a carriage return on its own, a NUL, a quotation mark inside a cell that is not in quotes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

BOM = b"\xef\xbb\xbf"
LONGEST_ROW = 2**23
"""Bytes of one row with its line end; the scanner of trusted queries takes no longer ones either."""

_CSV_CELLS = {
    mark: re.compile(rf'("[^"]*(?:""[^"]*)*"|[^"{re.escape(mark)}]*)({re.escape(mark)}|$)')
    for mark in ",;|\t"
}
_CODECS = {"latin-1": "latin-1", "windows-1252": "cp1252"}
_NO_LETTERS = re.compile(r"[\x80-\x9f]")


class NotText(ValueError):
    """Bytes that are not in their encoding."""


class Row(NamedTuple):
    """One record: the line on which it starts, its bytes with the line end, its cells without quotes."""

    number: int
    raw: bytes
    cells: tuple[str, ...]

    @property
    def end(self) -> bytes:
        """The line end, which the last row of a file may lack."""
        return self.raw[len(self.raw.rstrip(b"\r\n")) :]


@dataclass(frozen=True)
class Delimited:
    """A table in memory: a header, and rows with as many cells. `bom` is the byte order mark, if any."""

    header: Row
    rows: tuple[Row, ...]
    bom: bytes = b""

    def write(self, rows: Sequence[Row]) -> bytes:
        """The header and these rows, without the mark. A line end is added only where two rows would meet."""
        return joined([self.header, *rows], end=self.header.end)


def joined(rows: Sequence[Row], *, end: bytes = b"") -> bytes:
    """Rows byte for byte; one without a line end gets `end` (or a line feed) unless it is the last."""
    if not rows:
        return b""
    *before, last = (row.raw for row in rows)
    return b"".join(raw if raw.endswith(b"\n") else raw + (end or b"\n") for raw in before) + last


def read_rows(name: str, content: bytes) -> Delimited:
    """The table in `content`; a `name` that ends in .csv means commas and quotes, any other means tabs.

    Raises ValueError, with name and line, for rows of another length than the header, bytes that are not
    UTF-8, and whatever the page above refuses. An empty content is one empty header.
    """
    header, *rows = stream_rows(name, io.BytesIO(content))
    return Delimited(header, tuple(rows), BOM if content.startswith(BOM) else b"")


def stream_rows(name: str, file: BinaryIO, *, delimiter: str = ",", encoding: str = "utf-8") -> Iterator[Row]:
    """The same for a file that is read as it goes: the header first, then each row, one in memory at a time.

    A byte order mark is skipped. `delimiter` is that of a .csv file, `encoding` that of either.
    """
    width = -1
    for row in _rows(name, file, delimiter, encoding):
        if width < 0:
            width = len(row.cells)
        elif len(row.cells) != width:
            raise ValueError(f"{name}, line {row.number}, has {len(row.cells)} cells, the header {width}")
        yield row


def delimiter_of(name: str) -> str:
    return "," if name.endswith(".csv") else "\t"


def cells_of(record: str, *, is_csv: bool, delimiter: str = ",") -> tuple[list[str], list[str]]:
    """The cells of one record (without its line end) as they are written, and as they read.

    Raises ValueError for a quotation mark that does not enclose a whole cell.
    """
    if not is_csv or '"' not in record:
        raw = record.split(delimiter if is_csv else "\t")
        return raw, raw
    raw, at, more = [], 0, delimiter
    form = _CSV_CELLS[delimiter]
    while more:
        match = form.match(record, at)
        if match is None:
            raise ValueError("a quotation mark stands inside a cell that is not in quotes")
        raw.append(match.group(1))
        more, at = match.group(2), match.end()
    return raw, [(cell[1:-1].replace('""', '"') if cell.startswith('"') else cell) for cell in raw]


def _rows(name: str, file: BinaryIO, delimiter: str, encoding: str) -> Iterator[Row]:
    is_csv = name.endswith(".csv")
    for first, raw in _records(name, file, is_csv=is_csv):
        text = _text(name, first, raw, encoding)
        if "\0" in text or ("\r" in text and "\r" in text.replace("\r\n", "")):
            raise ValueError(
                f"{name}, line {first}, holds a NUL, or a line that ends in a carriage return alone"
            )
        record = text.removesuffix("\n").removesuffix("\r")
        try:
            cells = cells_of(record, is_csv=is_csv, delimiter=delimiter)[1]
        except ValueError as error:
            raise ValueError(f"{name}, line {first}, is not CSV: {error}") from None
        yield Row(first, raw, tuple(cells))


def _text(name: str, line: int, raw: bytes, encoding: str) -> str:
    """Latin-1 has control characters where Windows-1252 has letters: nobody writes those."""
    try:
        text = raw.decode(_CODECS.get(encoding, encoding))
    except UnicodeDecodeError:
        mend = "convert the file" if encoding == "utf-8" else "state another encoding in the dialect"
        raise NotText(f"{name}, line {line}, is not {encoding.upper()}; {mend}") from None
    if encoding == "latin-1" and _NO_LETTERS.search(text):
        raise NotText(f"{name}, line {line}, is not LATIN-1 but perhaps windows-1252; state that encoding")
    return text


def _records(name: str, file: BinaryIO, *, is_csv: bool) -> Iterator[tuple[int, bytes]]:
    """Lines, put together where a quoted cell goes on; with the number of the first, from 1."""
    held: list[bytes] = []
    size, first, is_open = 0, 1, False
    for number, line in enumerate(_lines(file), start=1):
        size += len(line)
        if size > LONGEST_ROW:
            raise ValueError(f"{name}, line {first}, is longer than {LONGEST_ROW} bytes")
        if is_csv and b'"' in line:
            is_open ^= bool(line.count(b'"') % 2)
        held.append(line)
        if not is_open:
            yield first, b"".join(held) if len(held) > 1 else line
            held, size, first = [], 0, number + 1
    if held:
        raise ValueError(f"{name}, line {first}, opens a quotation mark that nothing closes")


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """At least one, if only an empty one; the mark in front is gone. A piece of a longer line is too long."""
    yield file.readline(LONGEST_ROW + 1).removeprefix(BOM)
    yield from iter(lambda: file.readline(LONGEST_ROW + 1), b"")
