"""Many small files as one table: each person's events, one file behind the other, each behind its length.

The frames are made outside, where nobody looks at their content; they are read inside the sandbox.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from twins.profile.table import NoTable, Reader, Rows
from worker.profile.reading import check_head, open_text

LARGEST = 64 * 2**20
_LENGTH = struct.Struct("<I")
ABSENT = "n/a"


def write_frames(paths: Iterable[Path], target: BinaryIO) -> None:
    """Raises NoTable for a file that is too large to be one of many."""
    for path in paths:
        content = path.read_bytes()
        if len(content) > LARGEST:
            raise NoTable(f"one of its files has {len(content)} bytes, more than {LARGEST}")
        target.write(_LENGTH.pack(len(content)) + content)
    target.flush()


def joined_reader(name: str, descriptor: int) -> Reader:
    """The rows of all files. Columns are those of the first; what another lacks is missing there."""

    def read() -> tuple[tuple[str, ...], Rows]:
        os.lseek(descriptor, 0, os.SEEK_SET)
        files = _frames(open(descriptor, "rb", buffering=2**20, closefd=False))  # noqa: SIM115
        first = next(files, None)
        if first is None:
            raise NoTable("there is no such file")
        header, rows = _opened(name, first, 1)
        return header, _all(name, header, rows, files)

    return read


def _frames(file: BinaryIO) -> Iterator[bytes]:
    while len(length := file.read(_LENGTH.size)) == _LENGTH.size:
        yield file.read(_LENGTH.unpack(length)[0])


def _opened(name: str, content: bytes, number: int) -> tuple[tuple[str, ...], Rows]:
    try:
        check_head(name, content)
        return open_text(name, io.BytesIO(content))
    except NoTable as error:
        raise NoTable(f"in file {number} of these: {error}") from None


def _all(name: str, header: tuple[str, ...], rows: Rows, files: Iterator[bytes]) -> Rows:
    yield from rows
    for number, content in enumerate(files, start=2):
        own, more = _opened(name, content, number)
        places = [own.index(column) if column in own else -1 for column in header]
        for row in more:
            yield tuple(row[place] if place >= 0 else ABSENT for place in places)
