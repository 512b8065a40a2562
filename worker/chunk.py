"""The steps of one chunk of group runs: claim it, stage its inputs, run them, keep the sealed outputs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import lru_cache
from typing import Any

from domain.dataset import Dataset, Declaration
from domain.image import ImageKind, SyscallTable
from domain.job import Job, JobRequest, Reason
from domain.mechanism import BlackBox
from domain.schedule import Schedule
from domain.states import JobState
from domain.surroundings import Isolation
from privacy.partition import derive_key
from privacy.plan import Blocks, HalfSamples, RunPlan
from store import datasets, images, jobs, runs
from store.sealing import seal
from store.snapshots import SnapshotArea
from worker.cancelling import first_lease_s, staging, watched
from worker.collect import collect, default_of, output_context, pack
from worker.levels import FarTooMuch, ParticipantLevel, has_participant_level
from worker.older_plan import DEALING, start_again_if_older
from worker.order import order_for
from worker.readiness import of_profile
from worker.sandbox.protocol import NOTHING, Audience, RunResult, SandboxUnavailable, Slot, SlotOrder
from worker.sealed_source import SealedSource
from worker.signalling import surroundings, unaccepted
from worker.stage import Inputs, People, cut, open_people
from worker.time_grid import TimeGrid
from worker.zone import WorkerZone

MISSED = RunResult(None)
"""Of a run that was not ready at its turn: not made, and a failed one like any other."""


@dataclass(frozen=True)
class Chunk:
    """Some runs of a job, claimed by this process."""

    job: Job
    dataset: Dataset
    number: int
    claim: str
    schedule: Schedule
    claimed_at: float  # of the monotonic clock
    # the record of its image as it was then: what is approved meanwhile holds for later chunks
    image: images.Image | None = None

    @property
    def must_be_alone(self) -> bool:
        """All but a pipeline is the platform's own code, in which nobody listens."""
        is_pipeline = isinstance(self.job.request, JobRequest)
        return is_pipeline and self.dataset.declaration.policy.isolation is Isolation.EXCLUSIVE

    @property
    def is_participant(self) -> bool:
        return self.schedule.is_participant(self.number)


@dataclass(frozen=True)
class Wanted:
    """What a chunk that waits asks of the host: whether its runs must be alone there; and why this worker has
    to leave it to another, if so."""

    isolation: Isolation
    refusal: Reason | None = None


def wanted(zone: WorkerZone, job_id: str, number: int) -> Wanted | None:
    """None: it waits no more. All but a pipeline is our own code, in which nobody listens: it goes on beside
    other work, and never beside runs that must be alone."""
    with zone.database.reading() as connection:
        job = jobs.get(connection, job_id)
        if job.state is not JobState.RUNNING or number not in runs.waiting(connection, job_id):
            return None
        dataset, image = datasets.of_job(connection, job), _image_of(connection, job)
    lacking = None if zone.sealed.holds(dataset) else Reason.SNAPSHOT_MISSING
    if lacking is not None or not isinstance(job.request, JobRequest):
        return Wanted(Isolation.SHARED, lacking)
    if image is not None and zone.images.get(image.digest) is None:  # before this process has turn or lease
        return Wanted(Isolation.SHARED, Reason.IMAGE_CHANGED)
    refusal = _refusal(zone, job, dataset, image)
    return Wanted(dataset.declaration.policy.isolation, refusal)


def _refusal(zone: WorkerZone, job: Job, dataset: Dataset, image: images.Image | None) -> Reason | None:
    """Asked of each worker: another one may have charged the job."""
    if image is None:
        return None  # no code of a data user runs
    assert isinstance(job.request, JobRequest)
    return of_profile(zone.settings.isolation, dataset) or unaccepted(
        job.request,
        dataset,
        settings=zone.settings,
        record=image,
        in_memory=zone.images.is_in_memory(image.digest),
    )


def _image_of(connection: Any, job: Job) -> images.Image | None:
    return None if job.image_digest is None else images.get(connection, job.image_digest)


def claim_chunk(zone: WorkerZone, job_id: str, number: int) -> Chunk | None:
    """A lease on the chunk, for as long as a healthy worker may say nothing."""
    with zone.database.transaction() as connection:
        job = jobs.get(connection, job_id)
        if job.state is not JobState.RUNNING or job.slots is None:
            return None
        dataset = datasets.of_job(connection, job)
        schedule = job.request.schedule(dataset.declaration, slots=job.slots)
        start_again_if_older(connection, job, schedule)
        first = schedule.participant_chunks
        if number >= first and not runs.all_done_before(connection, job_id, first):
            return None  # group runs wait for the whole participant level, whatever message came first
        lease_s = first_lease_s(zone, schedule.longest_s(number))
        image = _image_of(connection, job)
        if _refusal(zone, job, dataset, image) is not None:
            return None  # approved for another table since its message was taken
        claimed = runs.claim(
            connection, job_id=job_id, number=number, lease_until=zone.now() + timedelta(seconds=lease_s)
        )
        if claimed is None:
            return None
        return Chunk(job, dataset, number, claimed, schedule, claimed_at=time.monotonic(), image=image)


def run(zone: WorkerZone, chunk: Chunk) -> dict[int, bytes]:
    """Each input in a sandbox of its own, one after the other, on the public time grid: packed outputs."""
    request = _request(chunk)
    mechanism = request.mechanism_for(chunk.dataset.declaration)
    with staging(zone, chunk):
        level = participant_level(zone, chunk) if has_participant_level(request.pipeline) else None
        inputs = stage(zone, chunk, mechanism, level)
    packed, grid = dict[int, bytes](), grid_of(chunk)
    with (
        zone.sandbox.open_slot(order_of(zone, chunk), slot=zone.slot) as slot,
        watched(zone, chunk, slot),
    ):
        for turn, (number, view) in enumerate(inputs.items()):
            before = _before(level, inputs.members[number])
            on_time = grid.wait_for(turn)
            if not slot.take_turn(turn, on_time=on_time):
                result = MISSED
            elif before is None:
                result = _run_on_nobody(slot, level, within_s=grid.left_s(turn))
            else:
                result = slot.run(view, before=before, within_s=grid.left_s(turn))
            default = default_of(mechanism, number)
            units = collect(result.outputs, shape=request.shape, grids=mechanism.grids, default=default)
            packed[number] = pack(units, width=len(mechanism.grids))
    grid.end(len(inputs), dying_s=chunk.schedule.dying_s)
    _check_accepted(zone, chunk)  # the host may have begun to swap meanwhile
    return packed


def _run_on_nobody(slot: Slot, level: ParticipantLevel | None, *, within_s: float | None) -> RunResult:
    """In place of one that has failed before it starts: a later run can tell how many there were."""
    assert level is not None
    slot.run(level.people.view([]), within_s=within_s)
    return RunResult(None)


def _before(level: ParticipantLevel | None, people: Sequence[str]) -> Mapping[str, bytes] | None:
    """None: the run has failed before it starts."""
    try:
        return level.before(people) if level else NOTHING
    except FarTooMuch:
        return None


def stage(zone: WorkerZone, chunk: Chunk, mechanism: BlackBox, level: ParticipantLevel | None) -> Inputs:
    """The inputs of this chunk's runs. Raises OutcomeMissing where the participant level has not run."""
    people, plan, wanted = _people(zone, chunk.dataset), mechanism.plan, chunk.schedule.runs_of(chunk.number)
    key = _key(zone, chunk, plan)
    if level is None:
        return cut(people, plan, key=key, wanted=wanted)
    succeeded = level.succeeded()
    if not isinstance(plan, Blocks):
        return cut(succeeded, plan, key=key, wanted=wanted)
    # whether a person's level failed moves nobody else: a failed one leaves a slot free
    return cut(people, plan, key=key, wanted=wanted).only(succeeded.names)


def participant_level(zone: WorkerZone, chunk: Chunk) -> ParticipantLevel:
    """That of the chunk's job, on all people of its data set."""
    assert chunk.job.image_digest is not None
    request = _request(chunk)
    return ParticipantLevel(
        pipeline=request.pipeline,
        image_digest=chunk.job.image_digest,
        people=_people(zone, chunk.dataset),
        outputs=zone.sealed.of(chunk.dataset).participants.of_job(chunk.job.id, cohort=chunk.dataset.cohort),
        accepted=chunk.dataset.declaration.policy.accepted_for(request.guarantee),
    )


def keep(zone: WorkerZone, chunk: Chunk, packed: Mapping[int, bytes]) -> None:
    """Seal the un-noised outputs into the store, once; a lost claim keeps nothing."""
    key = zone.sealed.of(chunk.dataset).keys.outputs
    sealed = {
        run: seal(content, key=key, context=output_context(chunk.job.id, run))
        for run, content in packed.items()
    }
    ran_in = _ran_in(zone, chunk)
    with zone.database.transaction() as connection:
        runs.finish(
            connection,
            job_id=chunk.job.id,
            number=chunk.number,
            claim=chunk.claim,
            sealed=sealed,
            ran_in=ran_in,
        )


def _ran_in(zone: WorkerZone, chunk: Chunk) -> dict[str, Any] | None:
    """Where the runs of a pipeline were made, for the certificate; nothing for the platform's own code."""
    if chunk.image is None:
        return None
    where = surroundings(
        _request(chunk),
        chunk.dataset,
        settings=zone.settings,
        record=chunk.image,
        in_memory=zone.images.is_in_memory(chunk.image.digest),
    )
    return {**asdict(where), "dealing": DEALING}


def give_back(zone: WorkerZone, chunk: Chunk, *, was_tried: bool = True) -> None:
    """The platform failed, not the pipeline: the chunk waits for another worker. What was not tried may be
    given back without end, and does not end the job."""
    number, claim = chunk.number, chunk.claim
    with zone.database.transaction() as connection:
        runs.give_back(connection, job_id=chunk.job.id, number=number, claim=claim, was_tried=was_tried)


def _request(chunk: Chunk) -> JobRequest:
    assert isinstance(chunk.job.request, JobRequest)
    return chunk.job.request


def _key(zone: WorkerZone, chunk: Chunk, plan: RunPlan) -> bytes:
    """A job's own partition; the half-samples of PAC privacy are the same for all jobs of a cohort."""
    if isinstance(plan, HalfSamples):
        return derive_key(zone.keys.worlds, dataset_id=chunk.dataset.cohort, job_id="all jobs")
    return derive_key(zone.keys.partition, dataset_id=chunk.dataset.id, job_id=chunk.job.id)


def _people(zone: WorkerZone, dataset: Dataset) -> People:
    assert dataset.snapshot is not None
    return _opened(zone.sealed.of(dataset).snapshots, dataset.snapshot, dataset.declaration)


@lru_cache(maxsize=1)  # the chunks of one job follow each other in one process
def _opened(area: SnapshotArea, snapshot: str, declaration: Declaration) -> People:
    source = SealedSource(area.open(snapshot))
    return open_people(declaration, source, placed=source.placed)


def _check_accepted(zone: WorkerZone, chunk: Chunk) -> None:
    if (reason := _refusal(zone, chunk.job, chunk.dataset, chunk.image)) is not None:
        raise SandboxUnavailable(reason)


def order_of(zone: WorkerZone, chunk: Chunk) -> SlotOrder:
    """Raises SandboxUnavailable if the image has left this worker since the job was charged."""
    record = chunk.image
    assert record is not None
    image = zone.images.get(record.digest)
    if image is None:
        raise SandboxUnavailable(f"this worker does not hold the image {record.digest}")
    _check_accepted(zone, chunk)  # its copy in memory may have gone since the claim
    order = order_for(
        _request(chunk).pipeline,
        image=image,
        audience=Audience.ORIGINAL,
        syscalls=record.syscalls or SyscallTable.STRICT,
        warm=record.warm or record.kind is ImageKind.HOST,
    )
    return replace(order, seats=chunk.schedule.seats_of(chunk.number)) if _is_padded(chunk) else order


def grid_of(chunk: Chunk) -> TimeGrid:
    """The chunk's turns, from public values."""
    return TimeGrid(
        start=chunk.claimed_at + chunk.schedule.first_run_s,
        quantum_s=chunk.schedule.quantum_of(chunk.number),
        padded=_is_padded(chunk),
    )


def _is_padded(chunk: Chunk) -> bool:
    return chunk.dataset.declaration.policy.timing.mode == "padded"
