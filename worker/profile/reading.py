"""A delivered table behind a descriptor, as rows of text; or why not, in words that name place and remedy.

Read by the same rules as at an import, so that what can be profiled can be registered.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from domain.dialect import Dialect
from formats.delimited import BOM, NotText, cells_of, stream_rows
from formats.dialect import MARKS, Mark
from twins.profile.table import NoTable, Rows

HEAD = 65_536
_SHARE_OF_NULS = 0.2
_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16 (little endian)"),
    (b"\xfe\xff", "UTF-16 (big endian)"),
)
_KINDS = (
    (b"PK\x03\x04", "a spreadsheet or ZIP archive"),
    (b"\xd0\xcf\x11\xe0", "an old Excel file"),
    (b"\x1f\x8b", "compressed with gzip"),
    (b"PAR1", "a Parquet file"),
    (b"%PDF", "a PDF"),
)


class TableFile:
    """A file behind a descriptor; `name` ends in .csv, .tsv or .parquet, which says how it is read."""

    def __init__(self, name: str, descriptor: int) -> None:
        self._name, self._descriptor = name, descriptor
        self._layout: Dialect | None = None

    def __call__(self) -> tuple[tuple[str, ...], Rows]:
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        if self._name.endswith(".parquet"):
            from worker.scan.plain import NotParquet, text_rows

            try:
                header, rows = text_rows(self._descriptor)
            except NotParquet as error:
                raise NoTable(str(error)) from None
            return header, _refusing(rows)
        # read to its end by rows
        file = open(self._descriptor, "rb", buffering=2**20, closefd=False)  # noqa: SIM115
        if self._layout is None:
            self._layout = _layout_of(self._name, file)
            file.seek(0)
        return open_text(self._name, file, self._layout)

    def layout(self) -> Dialect:
        """What a first look at the whole file tells of its dialect: separator and encoding."""
        return self._layout or Dialect()


def _layout_of(name: str, file: BinaryIO) -> Dialect:
    delimiter = check_head(name, file.read(HEAD))
    file.seek(0)
    return Dialect(delimiter=delimiter, encoding="windows-1252" if _has_eight_bits(file) else "utf-8")


def _has_eight_bits(file: BinaryIO) -> bool:
    """Whether it is in Windows-1252, which has all letters of Latin-1. What is for the most part UTF-8 is
    damaged, and refused where it is."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    is_utf8, letters, in_utf8 = True, 0, 0
    while part := file.read(2**20):
        try:
            decoder.decode(part)
        except UnicodeDecodeError:
            is_utf8 = False
        if not part.isascii():
            if _NO_LETTER.search(part) and not is_utf8:
                return False
            letters += len(part) - len(part.translate(None, _HIGH))
            in_utf8 += sum(map(len, _UTF8.findall(part)))
    return not is_utf8 and 2 * in_utf8 < letters


_HIGH = bytes(range(128, 256))
_NO_LETTER = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def check_head(name: str, head: bytes) -> Mark:
    """Which mark is between cells of a .csv file. Raises NoTable for bytes that are no text of eight bits, or
    whose mark a file of this name cannot have."""
    if not head:
        raise NoTable("it is empty: there is not even a header")
    for start, encoding in _MARKS:
        if head.startswith(start):
            raise NoTable(f"it looks like {encoding}, by its byte order mark; convert it to UTF-8")
    for start, kind in _KINDS:
        if head.startswith(start):
            raise NoTable(f"it is {kind}, whatever its name says; deliver text, or Parquet as .parquet")
    if head.count(0) > _SHARE_OF_NULS * len(head):
        raise NoTable("it looks like UTF-16 without a byte order mark; convert it to UTF-8")
    if b"\n" not in head and b"\r" in head:
        raise NoTable("its lines end in a carriage return alone; convert them to line feeds")
    text = head.removeprefix(BOM).decode("latin-1")
    if name.endswith(".csv"):
        return _delimiter_of(text.splitlines()[:_LINES])
    header = text.splitlines()[0] if text.strip() else ""
    if "\t" not in header and (other := next((mark for mark in ",;" if mark in header), None)):
        called = "commas" if other == "," else "semicolons"
        raise NoTable(
            f"its header has no tab, but {called}: a .tsv file is separated by tabs; convert or rename it"
        )
    return ","


_LINES = 20


def _delimiter_of(lines: Sequence[str]) -> Mark:
    """That of which each of the first lines has as many, the comma before others; else one in the header."""
    for name, mark in MARKS.items():
        widths = {_width(line, mark) for line in lines[:-1] or lines}  # the last may be cut
        if len(widths) == 1 and max(widths) > 1:
            return name
    return next((name for name, mark in MARKS.items() if lines and mark in lines[0]), ",")


def _width(line: str, mark: str) -> int:
    try:
        return len(cells_of(line, is_csv=True, delimiter=mark)[0])
    except ValueError:
        return 0


def open_text(name: str, file: BinaryIO, layout: Dialect | None = None) -> tuple[tuple[str, ...], Rows]:
    rows = _explained(name, file, layout or Dialect())
    header = next(rows)
    return header, rows


def _explained(name: str, file: BinaryIO, layout: Dialect) -> Iterator[tuple[str, ...]]:
    try:
        for row in stream_rows(name, file, delimiter=MARKS[layout.delimiter], encoding=layout.encoding):
            yield row.cells
    except NotText as error:
        raise NoTable(f"{_without(name, error)}. It looks like {_eight_bits(file)}") from None
    except ValueError as error:
        hint = "; a quotation mark may be open" if "longer than" in str(error) else ""
        raise NoTable(_without(name, error) + hint) from None


def _without(name: str, error: ValueError) -> str:
    """The sentence, without the file's name in front: whoever shows it says that."""
    return str(error).removeprefix(f"{name}, ")


def _eight_bits(file: BinaryIO) -> str:
    """Which encoding of eight bits the first such part of the file may be in."""
    file.seek(0)
    while part := file.read(2**20):
        high = {byte for byte in part if byte > 127}
        if high:
            windows = bool(high & set(range(0x80, 0xA0)))
            return "Windows-1252" if windows else "Latin-1 (ISO 8859-1) or Windows-1252"
    return "no encoding known here"


def _refusing(rows: Iterator[Sequence[str]]) -> Rows:
    from worker.scan.plain import NotParquet

    try:
        yield from rows
    except NotParquet as error:
        raise NoTable(str(error)) from None
