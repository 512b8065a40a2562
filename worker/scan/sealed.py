"""A sealed table for the engine: a file system of one file, which opens in memory as the engine reads it."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable

from domain.dataset import Table
from formats.delimited import stream_rows
from store.sealed_file import JoinedFile
from store.sealing import CHUNK
from worker.scan.plain import OneFile, Placed
from worker.scan.source import Source, parquet_source

PLACE = "sealed://table"

_NO_RETURN = bytes.maketrans(b"\r", b" ")


class _Sealed(OneFile):
    protocol = "sealed"

    def __init__(self, opener: Callable[[], JoinedFile], *, hides_returns: bool) -> None:
        with opener() as file:
            size = file.size
        super().__init__(size, lambda: _SharedFile(opener(), hides_returns=hides_returns))


class _SharedFile(Placed):
    """In a table without quotes whose rows end in a line feed, every carriage return is read as a space: the
    engine would take one for the end of a row, so that a cell could smuggle in rows of other people. The
    import takes none today; snapshots of earlier versions may hold some.
    """

    def __init__(self, file: JoinedFile, *, hides_returns: bool) -> None:
        super().__init__()
        self._file = io.BufferedReader(file, CHUNK)
        self._hides_returns = hides_returns
        self._lock = threading.Lock()

    def read(self, size: int = -1) -> bytes:
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
        return parquet_source(PLACE, _Sealed(opener, hides_returns=False))
    is_tsv = table.delimiter == "\t"
    with io.BufferedReader(opener(), CHUNK) as file:
        is_crlf = next(stream_rows(table.path, file)).end == b"\r\n"
    return Source(
        PLACE,
        "tsv" if is_tsv else "csv",
        tuple(column.name for column in table.columns),
        filesystem=_Sealed(opener, hides_returns=is_tsv and not is_crlf),
        quoted=not is_tsv,
        line_end="\r\n" if is_crlf else "\n",
    )
