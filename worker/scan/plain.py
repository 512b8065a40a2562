"""A Parquet file behind a descriptor, row by row as text: for looking at it, in a sandbox that has no paths.

Errors of the engine may quote cells, so none of them leaves this file as it is.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import duckdb
from fsspec import AbstractFileSystem

_PLACE = "plain://table"
_ROWS = 4096
_SETTINGS = {
    "memory_limit": "192MiB",
    "threads": 1,
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "enable_progress_bar": "false",
}


class NotParquet(ValueError):
    """A file that cannot be read as Parquet. The sentence says nothing about what is in it."""


def text_rows(descriptor: int) -> tuple[tuple[str, ...], Iterator[tuple[str, ...]]]:
    """The names of the columns, and the rows; a missing cell is an empty text. Raises NotParquet."""
    connection = duckdb.connect(":memory:")
    for name, value in _SETTINGS.items():
        connection.execute(f"SET {name} = '{value}'")
    size = os.fstat(descriptor).st_size
    connection.register_filesystem(OneFile(size, partial(_Described, descriptor)))
    try:
        described = connection.execute(f"DESCRIBE FROM read_parquet('{_PLACE}')").fetchall()
    except (duckdb.Error, MemoryError):
        raise NotParquet(
            "it cannot be read as Parquet: it is damaged, or of a kind that is not read"
        ) from None
    names = tuple(str(name) for name, *_ in described)
    nested = [
        name for name, kind, *_ in described if any(mark in str(kind) for mark in ("STRUCT", "MAP", "["))
    ]
    if nested:
        raise NotParquet(f"column {nested[0]!r} holds lists or structures; a table has one value in a cell")
    return names, _rows(connection, names)


def _rows(connection: duckdb.DuckDBPyConnection, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    cells = ", ".join(f"COALESCE(CAST({_name(name)} AS VARCHAR), '')" for name in names)
    try:
        found = connection.execute(f"SELECT {cells} FROM read_parquet('{_PLACE}')")  # noqa: S608  quoted below
        while rows := found.fetchmany(_ROWS):
            yield from rows
    except (duckdb.Error, MemoryError):
        raise NotParquet("its rows cannot be read: a part of it is damaged, or too large") from None
    finally:
        connection.close()


def _name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'


class OneFile(AbstractFileSystem):
    """Read-only. Every name means the one file."""

    protocol = "plain"
    cachable = False  # fsspec would hand the next table this one's file

    def __init__(self, size: int, opener: Callable[[], Placed]) -> None:
        super().__init__()
        self._size, self._opener = size, opener

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        return {"name": path, "size": self._size, "type": "file"}

    def modified(self, path: str) -> datetime:  # noqa: ARG002  the engine names it
        """Asked for by the reader of Parquet; what is read here never changes."""
        return datetime(1970, 1, 1, tzinfo=UTC)

    def glob(self, path: str, **_: Any) -> list[str]:
        return [path]

    def _open(self, path: str, mode: str = "rb", **_: Any) -> Placed:
        if mode != "rb":
            raise PermissionError(f"{path} is read only")
        return self._opener()


class Placed:
    """One open file for all threads of the engine, each with a position of its own.

    The engine seeks and reads in two calls, from several threads at once: with one position for all, a thread
    would read where another had sought. Reading raises AttributeError in a thread that never has.
    """

    def __init__(self) -> None:
        self._here = threading.local()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET:
            raise io.UnsupportedOperation("only places from the start are known to every thread")
        self._here.position = offset
        return offset

    def tell(self) -> int:
        return int(self._here.position)


class _Described(Placed):
    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def read(self, size: int = -1) -> bytes:
        wanted = size if size >= 0 else os.fstat(self._descriptor).st_size
        found = os.pread(self._descriptor, wanted, self._here.position)
        self._here.position += len(found)
        return found

    def close(self) -> None:
        """The descriptor stays open: it is somebody else's."""
