"""A text table with the rows of each person together, no more of anybody than is declared, and an index.

A run then gets the rows of its own people at the cost of those rows, however many anybody else has.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from domain.dataset import Table
from domain.dataset.person_size import counted_rows, row_unit
from domain.model import canonical
from formats.delimited import Row, stream_rows
from store.sealing import CHUNK
from store.snapshots import PersonRows
from worker.intake.checksums import Open
from worker.intake.lot import Lot, Winners
from worker.scan import parquet

PIECE_BYTES = CHUNK
"""A piece has so many at most, or the rows of one person: those of nobody else have to be opened for hers."""

_HELD_BYTES = 16 * 2**20
_PARTS = 128
_LENGTH = 4


@dataclass(frozen=True)
class OrderedTable:
    """Opens the table, and says where in it the rows of each person are."""

    content: Open
    rows: PersonRows


def order_by_person(table: Table, content: Open, folder: Path, lot: Lot, kept: ExitStack) -> OrderedTable:
    """Files without a name in `folder`, for as long as `kept` lasts: they are as plain as the delivery.

    Rows of one person stay in their order; people are in an order of their own names. A large table is gone
    through in parts, of which one is in memory.
    """
    ordered, index = (_nameless(folder, kept) for _ in range(2))
    with content() as file, ExitStack() as parts:
        rows = stream_rows(table.path, file)
        header = next(rows)
        end = header.end or b"\n"
        first = _ended(header, end)
        ordered.write(first)
        sizes = [len(first)]
        for part in _parts(table, rows, end, folder, parts, lot):
            for person in sorted(part):
                own = b"".join(part[person].kept())
                if sizes[-1] + len(own) > PIECE_BYTES:
                    sizes.append(0)
                digest = hashlib.sha256(first + own).hexdigest()
                index.write(canonical([person, len(sizes) - 1, sizes[-1], len(own), digest]) + b"\n")
                ordered.write(own)
                sizes[-1] += len(own)
    return OrderedTable(partial(_again, ordered), PersonRows(sizes, partial(_again, index)))


def people_above(table: Table, content: Open) -> int:
    """How many people have more rows than the declaration allows anybody."""
    assert table.most_rows is not None
    counted: Counter[str] = Counter()
    with content() as file:
        for person, size in _parquet_sizes(table, file) if table.is_parquet else _text_sizes(table, file):
            counted[person] += counted_rows(size, row_unit(table))
    return sum(rows > table.most_rows for rows in counted.values())


def _text_sizes(table: Table, file: BinaryIO) -> Iterator[tuple[str, int]]:
    column, rows = _person_at(table), stream_rows(table.path, file)
    end = next(rows).end or b"\n"
    yield from ((row.cells[column].strip(), len(_ended(row, end))) for row in rows)


def _parquet_sizes(table: Table, file: BinaryIO) -> Iterator[tuple[str, int]]:
    """Each row counts once."""
    path = Path(f"/proc/self/fd/{file.fileno()}")
    yield from ((person, 1) for _, person in parquet.people_of(path, table.person_column.name))


def _person_at(table: Table) -> int:
    return next(at for at, each in enumerate(table.columns) if each.kind == "person")


def _parts(
    table: Table, rows: Iterator[Row], end: bytes, folder: Path, parts: ExitStack, lot: Lot
) -> Iterator[dict[str, _All | Winners]]:
    """The rows by person, all at once or some of the people at a time: by a hash of the name, the same in
    every process."""
    column = _person_at(table)
    named = ((row.cells[column].strip(), _ended(row, end)) for row in rows)
    first, size = [], 0
    for person, raw in named:
        first.append((person, raw))
        size += len(raw)
        if size > _HELD_BYTES:
            break
    else:
        yield _grouped(first, table, lot)
        return
    files = [_nameless(folder, parts) for _ in range(_PARTS)]
    for person, raw in chain(first, named):
        _put(files[zlib.crc32(person.encode()) % _PARTS], person.encode(), raw)
    first.clear()
    for file in files:
        file.seek(0)
        yield _grouped(_read_back(file), table, lot)
        file.truncate(0)


def _nameless(folder: Path, kept: ExitStack) -> BinaryIO:
    """A file that nobody else finds, and that is gone with this process."""
    return kept.enter_context(tempfile.TemporaryFile(dir=folder))


def _put(file: BinaryIO, *contents: bytes) -> None:
    for content in contents:
        file.write(len(content).to_bytes(_LENGTH, "big") + content)


class _All:
    """The rows of one person, every one of them."""

    def __init__(self) -> None:
        self._rows: list[bytes] = []

    def add(self, row: bytes) -> None:
        self._rows.append(row)

    def kept(self) -> list[bytes]:
        return self._rows


def _grouped(rows: Iterable[tuple[str, bytes]], table: Table, lot: Lot) -> dict[str, _All | Winners]:
    found: dict[str, _All | Winners] = {}
    for person, raw in rows:
        own = found.get(person)
        if own is None:
            own = found[person] = _All() if table.most_rows is None else _winners(table, person, lot)
        own.add(raw)
    return found


def _winners(table: Table, person: str, lot: Lot) -> Winners:
    assert table.most_rows is not None
    return lot.rows(person, most=table.most_rows, unit=row_unit(table), table=table.path)


def _read_back(file: BinaryIO) -> Iterator[tuple[str, bytes]]:
    while person := _one(file):
        yield person.decode(), _one(file)


def _one(file: BinaryIO) -> bytes:
    return file.read(int.from_bytes(file.read(_LENGTH), "big"))


def _ended(row: Row, end: bytes) -> bytes:
    return row.raw if row.raw.endswith(b"\n") else row.raw + end


def _again(file: BinaryIO) -> BinaryIO:
    """From its start; whoever closes this leaves the file open."""
    file.flush()
    file.seek(0)
    return os.fdopen(os.dup(file.fileno()), "rb")
