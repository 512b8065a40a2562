"""The steps of one chunk: claim it, stage its blocks, run them, keep their sealed outputs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache

from domain.dataset import Dataset, Declaration
from domain.image import ImageKind, SyscallTable
from domain.job import Job
from domain.schedule import Schedule
from domain.states import JobState
from privacy.partition import derive_key
from privacy.sample_aggregate import SampleAggregate
from store import datasets, images, jobs, runs
from store.sealing import seal
from store.snapshots import SnapshotArea
from worker.cancelling import cancelled_with
from worker.collect import collect, output_context, pack
from worker.order import order_for
from worker.sandbox.protocol import Audience, SandboxUnavailable, SlotOrder
from worker.stage import Block, People, cut, open_people
from worker.time_grid import TimeGrid
from worker.zone import WorkerZone


@dataclass(frozen=True)
class Chunk:
    """Some blocks of a job, claimed by this process."""

    job: Job
    dataset: Dataset
    number: int
    claim: str
    mechanism: SampleAggregate
    schedule: Schedule
    claimed_at: float  # of the monotonic clock


def claim_chunk(zone: WorkerZone, job_id: str, number: int) -> Chunk | None:
    """A lease on the chunk, for as long as it can take on a healthy worker."""
    with zone.database.transaction() as connection:
        job = jobs.get(connection, job_id)
        if job.state is not JobState.RUNNING or job.slots is None:
            return None
        dataset = datasets.get(connection, job.dataset_id)
        size = dataset.declaration.nominal_size
        schedule = job.request.schedule(nominal_size=size, slots=job.slots)
        lease_s = schedule.chunk_s + zone.settings.lease_margin_s
        claimed = runs.claim(
            connection, job_id=job_id, number=number, lease_until=zone.now() + timedelta(seconds=lease_s)
        )
        if claimed is None:
            return None
        mechanism = job.request.mechanism_for(size)
        return Chunk(job, dataset, number, claimed, mechanism, schedule, claimed_at=time.monotonic())


def stage(zone: WorkerZone, chunk: Chunk) -> Mapping[int, Block]:
    """The inputs of this chunk's blocks, cut by the job's own keyed partition."""
    assert chunk.dataset.snapshot is not None
    people = _people(zone, chunk.dataset)
    key = derive_key(zone.keys.partition, dataset_id=chunk.dataset.id, job_id=chunk.job.id)
    return cut(people, key=key, blocks=chunk.schedule.blocks, wanted=chunk.schedule.blocks_of(chunk.number))


def run(zone: WorkerZone, chunk: Chunk, blocks: Mapping[int, Block]) -> dict[int, tuple[int, ...] | None]:
    """Each block in a sandbox of its own, one after the other, on the public time grid."""
    outputs: dict[int, tuple[int, ...] | None] = {}
    grid = grid_of(chunk)
    with (
        zone.sandbox.open_slot(_order(zone, chunk), slot=zone.slot) as slot,
        cancelled_with(zone, chunk.job.id, slot),
    ):
        for turn, (block, files) in enumerate(blocks.items()):
            grid.wait_for(turn)
            result = slot.run(files)
            outputs[block] = collect(result.outputs, shape=chunk.job.request.shape, mechanism=chunk.mechanism)
        grid.wait_for(len(blocks))
    return outputs


def keep(zone: WorkerZone, chunk: Chunk, outputs: dict[int, tuple[int, ...] | None]) -> None:
    """Seal the un-noised outputs into the store, once; a lost claim keeps nothing."""
    width, key = len(chunk.mechanism.grids), zone.keys.outputs
    sealed = {
        block: seal(pack(units, width=width), key=key, context=output_context(chunk.job.id, block))
        for block, units in outputs.items()
    }
    with zone.database.transaction() as connection:
        runs.finish(connection, job_id=chunk.job.id, number=chunk.number, claim=chunk.claim, sealed=sealed)


def give_back(zone: WorkerZone, chunk: Chunk) -> None:
    """The platform failed, not the pipeline: the chunk waits for another worker."""
    with zone.database.transaction() as connection:
        runs.give_back(connection, job_id=chunk.job.id, number=chunk.number, claim=chunk.claim)


def _people(zone: WorkerZone, dataset: Dataset) -> People:
    assert dataset.snapshot is not None
    return _opened(zone.snapshots, dataset.snapshot, dataset.declaration)


@lru_cache(maxsize=1)  # the chunks of one job follow each other in one process
def _opened(area: SnapshotArea, snapshot: str, declaration: Declaration) -> People:
    return open_people(declaration, area.open(snapshot))


def _order(zone: WorkerZone, chunk: Chunk) -> SlotOrder:
    """Raises SandboxUnavailable if the image has left this worker since the job was charged."""
    digest = chunk.job.image_digest
    image = zone.images.get(digest)
    if image is None:
        raise SandboxUnavailable(f"this worker does not hold the image {digest}")
    with zone.database.reading() as connection:
        record = images.get(connection, digest)
    return order_for(
        chunk.job.request.pipeline,
        image=image,
        audience=Audience.ORIGINAL,
        syscalls=record.syscalls or SyscallTable.STRICT,
        warm=record.warm or record.kind is ImageKind.HOST,
    )


def grid_of(chunk: Chunk) -> TimeGrid:
    """The chunk's turns, from public values."""
    return TimeGrid(
        start=chunk.claimed_at + chunk.schedule.first_run_s,
        quantum_s=chunk.schedule.quantum_s,
        padded=chunk.dataset.declaration.policy.timing.mode == "padded",
    )
