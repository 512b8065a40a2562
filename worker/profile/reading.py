"""A delivered table behind a descriptor, as rows of text; or why not, in words that name place and remedy.

Read by the same rules as at an import, so that what can be profiled can be registered.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from formats.delimited import BOM, NotText, stream_rows
from twins.profile.table import NoTable, Reader, Rows

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


def reader_of(name: str, descriptor: int) -> Reader:
    """`name` ends in .csv, .tsv or .parquet, which says how it is read."""

    def read() -> tuple[tuple[str, ...], Rows]:
        os.lseek(descriptor, 0, os.SEEK_SET)
        if name.endswith(".parquet"):
            from worker.scan.plain import NotParquet, text_rows

            try:
                header, rows = text_rows(descriptor)
            except NotParquet as error:
                raise NoTable(str(error)) from None
            return header, _refusing(rows)
        file = open(descriptor, "rb", buffering=2**20, closefd=False)  # noqa: SIM115  read to its end by rows
        check_head(name, file.read(HEAD))
        file.seek(0)
        return open_text(name, file)

    return read


def check_head(name: str, head: bytes) -> None:
    """Raises NoTable for bytes that are no text of UTF-8 with this separator."""
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
    header = head.removeprefix(BOM).splitlines()[0] if head.removeprefix(BOM).strip() else b""
    own, others = (b",", (b";", b"\t")) if name.endswith(".csv") else (b"\t", (b",", b";"))
    if own not in header and (other := next((mark for mark in others if mark in header), None)):
        raise NoTable(
            f"its header has no {_NAMES[own]}, but {_NAMES[other]}s: a {name[name.rfind('.') :]} file is "
            f"separated by {_NAMES[own]}s; convert or rename it"
        )


_NAMES = {b",": "comma", b";": "semicolon", b"\t": "tab"}


def open_text(name: str, file: BinaryIO) -> tuple[tuple[str, ...], Rows]:
    rows = _explained(name, file)
    header = next(rows)
    return header, rows


def _explained(name: str, file: BinaryIO) -> Iterator[tuple[str, ...]]:
    try:
        for row in stream_rows(name, file):
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
