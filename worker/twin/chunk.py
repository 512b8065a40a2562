"""The one chunk of a job that counts for a twin: every table in its turn of the public time grid, packed."""

from __future__ import annotations

from domain.dataset import Declaration
from domain.twin import cell_grid
from domain.twin.request import TwinRequest, find_table
from worker.cancelling import watched
from worker.chunk import Chunk, grid_of
from worker.scan.chunk import choice_key, limits_of, pack_sums, source_of
from worker.twin.count import Counting, count
from worker.zone import WorkerZone


def count_chunk(zone: WorkerZone, chunk: Chunk) -> dict[int, bytes]:
    """The exact counts of all tables, one after the other, as the output of run 0. Raises ScanFailed."""
    request = chunk.job.request
    assert isinstance(request, TwinRequest)
    key, limits, grid = choice_key(zone, chunk.dataset), limits_of(zone), grid_of(chunk)
    totals: list[int] = []
    # rows far above the public size make a scan late, never a failure that others would see
    with watched(zone, chunk, None):
        grid.wait_for(0)
        for wanted in countings(request, chunk.dataset.declaration):
            source = source_of(zone, chunk.dataset, wanted.table)
            totals += count(source, wanted, key=key, limits=limits)
        grid.end(1)
    return {0: pack_sums(totals)}


def countings(request: TwinRequest, declaration: Declaration) -> list[Counting]:
    """What is counted of each table, in the order in which its counts are packed."""
    found = []
    for planned, mechanism in request.counted(declaration):
        table = find_table(declaration, planned.path)
        columns = {column.name: column for column in table.columns}
        grids = tuple(cell_grid(columns[name], declaration.nominal_size) for name in planned.counted)
        found.append(Counting(table, grids, mechanism, declaration.nominal_size))
    return found
