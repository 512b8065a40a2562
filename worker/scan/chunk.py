"""The one chunk of a query's job: the scan in its turn of the public time grid, and its sums packed."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Sequence

from domain.dataset import Dataset, Table
from domain.errors import PlatformError
from domain.query import QueryRequest
from formats.delimited import stream_rows
from privacy.partition import derive_key
from store.sealed_file import JoinedFile
from store.sealing import CHUNK
from worker.cancelling import watched
from worker.chunk import Chunk, grid_of
from worker.scan.engine import ScanFailed
from worker.scan.plain import OneFile, Placed
from worker.scan.scan import Limits, scan
from worker.scan.source import Source, parquet_source
from worker.zone import WorkerZone

_BYTES = 16
"""Of one sum: up to 2^30 for a row, a thousand rows of a person, and as many people as there are."""


def scan_chunk(zone: WorkerZone, chunk: Chunk) -> dict[int, bytes]:
    """The exact sums of the query, packed, as the output of run 0. Raises ScanFailed."""
    request, dataset = chunk.job.request, chunk.dataset
    assert isinstance(request, QueryRequest)
    source, limits = source_of(zone, dataset, request.table(dataset.declaration)), limits_of(zone)
    grid = grid_of(chunk)
    # rows far above the public size make a scan late, never a failure that others would see
    with watched(zone, chunk, None):
        grid.wait_for(0)
        totals = scan(source, request, dataset.declaration, key=choice_key(zone, dataset), limits=limits)
        grid.end(1)
    return {0: pack_sums(totals)}


def source_of(zone: WorkerZone, dataset: Dataset, table: Table) -> Source:
    """A sealed table of this version. Raises ScanFailed."""
    assert dataset.snapshot is not None
    snapshot = zone.sealed.of(dataset).snapshots.open(dataset.snapshot)
    try:
        return sealed_table(lambda: snapshot.open_table(table.path), table)
    except PlatformError as error:
        raise ScanFailed(f"the table could not be scanned: {error}") from None


def limits_of(zone: WorkerZone) -> Limits:
    """What the engine may take on this worker."""
    return Limits(memory_mib=zone.settings.scan_memory_mib, threads=zone.settings.scan_threads)


def choice_key(zone: WorkerZone, dataset: Dataset) -> bytes:
    """Decides which rows of a person count, for all jobs on this version of a data set.

    From the version's id, which is random, and not from the snapshot's name, which is a digest of all rows:
    with a key of that, one person more would choose other rows of everybody.
    """
    return derive_key(zone.keys.choices, dataset_id=dataset.id, job_id="all jobs")


def pack_sums(totals: Sequence[int]) -> bytes:
    """So many bytes for each sum, whatever it is."""
    return b"".join(total.to_bytes(_BYTES, "big", signed=True) for total in totals)


def unpack_sums(packed: bytes) -> tuple[int, ...]:
    """The inverse of `pack_sums`."""
    parts = range(0, len(packed), _BYTES)
    return tuple(int.from_bytes(packed[start : start + _BYTES], "big", signed=True) for start in parts)


# A sealed table for the engine: a file system of one file, which opens in memory as the engine reads it.

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
