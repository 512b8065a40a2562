"""A sealed table for the engine: a file system of one file, which opens in memory as the engine reads it."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from fsspec import AbstractFileSystem

from domain.dataset import Table
from formats.delimited import stream_rows
from store.sealed_file import JoinedFile
from store.sealing import CHUNK
from worker.scan.source import Source, parquet_source

PLACE = "sealed://table"

_NO_RETURN = bytes.maketrans(b"\r", b" ")


class _OneFile(AbstractFileSystem):
    """Read-only. Every name means the one file."""

    protocol = "sealed"
    cachable = False  # fsspec would hand the next table this one's file

    def __init__(self, opener: Callable[[], JoinedFile], *, hides_returns: bool) -> None:
        super().__init__()
        self._opener, self._hides_returns = opener, hides_returns
        with opener() as file:
            self._size = file.size

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        return {"name": path, "size": self._size, "type": "file"}

    def modified(self, path: str) -> datetime:  # noqa: ARG002  the engine names it
        """Asked for by the reader of Parquet; a snapshot never changes."""
        return datetime(1970, 1, 1, tzinfo=UTC)

    def glob(self, path: str, **_: Any) -> list[str]:
        return [path]

    def _open(self, path: str, mode: str = "rb", **_: Any) -> _SharedFile:
        if mode != "rb":
            raise PermissionError(f"{path} is read only")
        return _SharedFile(self._opener(), hides_returns=self._hides_returns)


class _SharedFile:
    """One open file for all threads of the engine, each with a position of its own.

    The engine seeks and reads in two calls, from several threads at once: with one position for all, a thread
    would read where another had sought.

    In a table without quotes whose rows end in a line feed, every carriage return is read as a space: the
    engine would take one for the end of a row, so that a cell could smuggle in rows of other people. The
    import takes none today; snapshots of earlier versions may hold some.
    """

    def __init__(self, file: JoinedFile, *, hides_returns: bool) -> None:
        self._file = io.BufferedReader(file, CHUNK)
        self._hides_returns = hides_returns
        self._lock = threading.Lock()
        self._here = threading.local()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET:
            raise io.UnsupportedOperation("only places from the start are known to every thread")
        self._here.position = offset
        return offset

    def tell(self) -> int:
        return int(self._here.position)

    def read(self, size: int = -1) -> bytes:
        """From where this thread has sought. Raises AttributeError in a thread that never has."""
        with self._lock:
            self._file.seek(self._here.position)
            found = self._file.read(size)
        self._here.position += len(found)
        return found.translate(_NO_RETURN) if self._hides_returns else found

    def close(self) -> None:
        self._file.close()


def sealed_table(opener: Callable[[], JoinedFile], table: Table) -> Source:
    """The table of a snapshot: its declared columns in the declared order, as the import wrote them."""
    if table.is_parquet:
        return parquet_source(PLACE, _OneFile(opener, hides_returns=False))
    is_tsv = table.delimiter == "\t"
    with io.BufferedReader(opener(), CHUNK) as file:
        is_crlf = next(stream_rows(table.path, file)).end == b"\r\n"
    return Source(
        PLACE,
        "tsv" if is_tsv else "csv",
        tuple(column.name for column in table.columns),
        filesystem=_OneFile(opener, hides_returns=is_tsv and not is_crlf),
        quoted=not is_tsv,
        line_end="\r\n" if is_crlf else "\n",
    )
