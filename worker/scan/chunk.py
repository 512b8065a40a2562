"""The one chunk of a query's job: the scan in its turn of the public time grid, and its sums packed."""

from __future__ import annotations

from collections.abc import Sequence

from domain.dataset import Dataset, Table
from domain.errors import PlatformError
from domain.query import QueryRequest
from privacy.partition import derive_key
from worker.cancelling import watched
from worker.chunk import Chunk, grid_of
from worker.scan.engine import ScanFailed
from worker.scan.scan import Limits, scan
from worker.scan.sealed import sealed_table
from worker.scan.source import Source
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
