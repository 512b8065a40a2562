"""The one chunk of a training: rows read, steps made, noised weights packed, in its turn of the time grid.

Noise is part of each step, so what is kept here until the release is noised already. Everything before it
stays in this process.
"""

from __future__ import annotations

import numpy as np

from domain.training import TrainingRequest
from privacy.training.fixed_point import WEIGHT_BITS, Floats
from worker.cancelling import watched
from worker.chunk import Chunk, grid_of
from worker.scan.chunk import choice_key, limits_of, source_of
from worker.scan.engine import ScanFailed
from worker.scan.people_rows import read_people
from worker.zone import WorkerZone


def train_chunk(zone: WorkerZone, chunk: Chunk) -> dict[int, bytes]:
    """The noised weights, packed, as the output of run 0. Raises ScanFailed.

    A chunk that is made again draws anew; of several only one is kept, and no other was seen.
    """
    request, dataset = chunk.job.request, chunk.dataset
    assert isinstance(request, TrainingRequest)
    source, limits = source_of(zone, dataset, request.table(dataset.declaration)), limits_of(zone)
    grid = grid_of(chunk)
    # rows far above the public size make a training late, never a failure that others would see
    with watched(zone, chunk, None):
        grid.wait_for(0)
        key = choice_key(zone, dataset)
        try:
            people = read_people(source, request, dataset.declaration, key=key, limits=limits)
            weights = request.trainer(dataset.declaration).train(people)
        except MemoryError:
            raise ScanFailed("a training did not fit into the memory of this worker") from None
        grid.end(1)
    return {0: pack_weights(weights)}


def pack_weights(weights: Floats) -> bytes:
    """Whole units of 2^-20, four bytes each."""
    return np.rint(np.ldexp(weights, WEIGHT_BITS)).astype(">i4").tobytes()


def unpack_weights(packed: bytes) -> list[int]:
    """The inverse of `pack_weights`, in units."""
    return [int(unit) for unit in np.frombuffer(packed, ">i4")]
