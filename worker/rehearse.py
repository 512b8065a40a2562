"""A rehearsal's route: claim -> make the twin -> run on it -> forecast -> DONE, or FAILED in plain words.

It shares sandbox and limits with jobs and sees nothing but the twin, so its author may hear everything. A
worker that dies on the way is noticed by the sweep, which gives the rehearsal to another.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from domain.admission import check_values
from domain.dataset import Dataset, Declaration
from domain.errors import PipelineError, RequestError
from domain.image import ImageKind, SyscallTable
from domain.outputs import values_of
from domain.pipeline import Pipeline
from domain.rehearsal import (
    LONGEST_S,
    MAX_BLOCKS_RUN,
    MAX_TAIL,
    Rehearsal,
    RehearsalState,
    TwinRuns,
)
from domain.states import JobState
from domain.surroundings import Isolation
from privacy.partition import block_count
from privacy.plan import Blocks
from store import apart, datasets, images, jobs, rehearsals, twins, workers
from worker.images.commands import resolve_command
from worker.images.refusal import CommandRefused
from worker.order import order_for
from worker.rehearsal.advice import approved_with
from worker.rehearsal.ladder import preview
from worker.rehearsal.levels import GroupRuns, Progress, open_groups
from worker.rehearsal.passing_outputs import PassingOutputs
from worker.rehearsal.runs import BlockRuns, numbers_of, run_blocks, run_whole
from worker.rehearsal.sampled import plan_of, run_sampled, with_sampled
from worker.rehearsal.slots import TwinSlots
from worker.rehearsal.texts import clean, shown
from worker.rehearsal.twin_source import TwinSource
from worker.sandbox.choice import counts_all_memory
from worker.sandbox.protocol import Audience, SandboxUnavailable, SlotOrder
from worker.sandbox.slot_cores import kept_to
from worker.stage import open_people
from worker.tries import Tries
from worker.zone import WorkerZone

log = logging.getLogger(__name__)
MARGIN_S = 60.0
BEAT_S = 1.0
LOST = "the platform's workers failed repeatedly; ask the operator, or run on your own machine: dpgate run"
NOT_ISOLATED = "the worker cannot isolate runs on its host; ask the operator to run dpgate doctor"
IMAGE_GONE = (
    "the image is not on the worker as it was approved, or its approval was withdrawn; ask the operator"
)
TRIES = Tries(
    rehearsals,
    RehearsalState.RUNNING,
    LOST,
    send=lambda zone, rehearsal_id: zone.messages.rehearse(rehearsal_id),
)


class CannotNow(Exception):
    """This worker lacks something; another try may find it. The text is for the author."""


def rehearse(zone: WorkerZone, rehearsal_id: str) -> None:
    """Run one rehearsal, if it still waits, few enough run, and no job does; never beside runs of jobs that
    must be alone on this host."""
    with zone.database.transaction() as connection:
        if not apart.may_rehearse(connection, now=zone.now()):
            return  # not worth waiting for a turn: the sweep asks again
    if zone.leases.is_lent_alone():
        return  # another platform has charged for it
    with zone.turns.taken(Isolation.SHARED) as has_turn:
        if has_turn:  # else the sweep asks again
            with kept_to(zone.core):
                _rehearse_in_turn(zone, rehearsal_id)


def _rehearse_in_turn(zone: WorkerZone, rehearsal_id: str) -> None:
    found = claim(zone, rehearsal_id)
    if found is None:
        return
    try:
        run_claimed(zone, found)
    finally:
        wake_jobs(zone)


def run_claimed(zone: WorkerZone, found: Rehearsal) -> None:
    """Take a rehearsal of ours to its end, or back into the line."""
    try:
        runs, unable = sample(zone, found, found.runs or run(zone, found))
        values = values_of(found.request.pipeline.manifest, runs.shape)
        ladder = preview(
            runs,
            values,
            dataset=_dataset(zone, found),
            block_size=found.request.block_size,
            is_settled=found.request.pipeline.manifest.needs_blocks_of_one,
        )
        ladder = ladder.model_copy(update={"unable_sampled": unable})
    except (PipelineError, RequestError, ValueError) as failed:
        TRIES.fail(zone, found, clean(str(failed), MAX_TAIL))
        return
    except (CannotNow, SandboxUnavailable) as missing:
        log.error("rehearsal %s: %s", found.id, missing)
        TRIES.put_back(zone, found, str(missing) if isinstance(missing, CannotNow) else NOT_ISOLATED)
        zone.turns.end_leftovers()  # while the turn lasts: its run may be what could not be ended
        return
    with zone.database.transaction() as connection:
        rehearsals.finish(connection, found, runs=runs, preview=ladder, now=zone.now())


def claim(zone: WorkerZone, rehearsal_id: str) -> Rehearsal | None:
    """QUEUED -> RUNNING, for one worker; rehearsals leave at least three of four slots to jobs, and a worker
    that drains leaves them to the sweep of another."""
    with zone.database.transaction() as connection:
        if workers.drain_asked(connection, zone.settings.name):
            return None
        if not apart.may_rehearse(connection, now=zone.now()):
            return None  # the sweep asks again
        return rehearsals.claim(
            connection,
            rehearsal_id,
            now=zone.now(),
            due_at=zone.now() + timedelta(seconds=LONGEST_S + MARGIN_S),
            most_running=max(1, zone.settings.slots // 4),
        )


def run(zone: WorkerZone, rehearsal: Rehearsal) -> TwinRuns:
    """The runs on the whole twin and on its blocks. Raises PipelineError with the pipeline's own words."""
    declaration = _dataset(zone, rehearsal).declaration
    blocks = block_count(declaration.nominal_size, rehearsal.request.block_size)
    first = min(blocks, MAX_BLOCKS_RUN)
    with _opened(zone, rehearsal, total=1 + first) as (runs, step):
        return _found(rehearsal.request.pipeline, declaration, runs, blocks, first, step)


def sample(zone: WorkerZone, rehearsal: Rehearsal, runs: TwinRuns) -> tuple[TwinRuns, str]:
    """The same with the runs of the mechanism that was asked for, or why there are none: what was there
    before stays, and so does its forecast."""
    mechanism = rehearsal.request.mechanism
    if mechanism is None or runs.of_plan(mechanism):
        return runs, ""
    try:
        plan = plan_of(mechanism, _dataset(zone, rehearsal).declaration.nominal_size)
        with _opened(zone, rehearsal, total=plan.runs) as (groups, step):
            return with_sampled(runs, mechanism, run_sampled(groups, plan, runs.shape, step)), ""
    except PipelineError as failed:
        return runs, clean(str(failed), MAX_TAIL)


@contextmanager
def _opened(zone: WorkerZone, rehearsal: Rehearsal, *, total: int) -> Iterator[tuple[GroupRuns, Progress]]:
    """Group runs after the participant level of everybody; `total` of them, each of which is told."""
    pipeline, declaration = rehearsal.request.pipeline, _dataset(zone, rehearsal).declaration
    order = order_of(zone, rehearsal)
    slots = TwinSlots(
        zone.sandbox,
        order,
        slot=zone.slot,
        images_with=lambda name: approved_with(zone.database, zone.images, name),
    )
    people = open_people(declaration, twin_of(zone, rehearsal, declaration))
    turns = len(people.names) if pipeline.manifest.carries_on else 0
    beat = Beat(zone, rehearsal, total=turns + total, started=time.monotonic())
    with open_groups(slots, pipeline, people, PassingOutputs(), beat.after(0)) as runs:
        yield runs, beat.after(turns)


def twin_of(zone: WorkerZone, rehearsal: Rehearsal, declaration: Declaration) -> TwinSource:
    """The twin that its author would fetch, as it was when they asked: the same counts, the same seed."""
    with zone.database.reading() as connection:
        basis = twins.basis_of(connection, rehearsal.counts)
        counts = twins.counts_of(connection, basis)
    return TwinSource(declaration, basis, counts)


def wake_jobs(zone: WorkerZone) -> None:
    """Jobs that came while a rehearsal ran have waited for it."""
    with zone.database.reading() as connection:
        waiting = jobs.in_state(connection, JobState.QUEUED, now=zone.now())
    for job_id in waiting:
        zone.messages.run_job(job_id)


def order_of(zone: WorkerZone, rehearsal: Rehearsal) -> SlotOrder:
    """Raises CannotNow where this worker lacks the image or cannot isolate its runs."""
    pipeline = rehearsal.request.pipeline
    image = zone.images.get(rehearsal.image_digest)
    with zone.database.reading() as connection:
        record = images.get(connection, rehearsal.image_digest)
    if image is None or not record.is_approved:
        raise CannotNow(IMAGE_GONE)
    if not zone.is_isolated():
        raise CannotNow(NOT_ISOLATED)
    if record.syscalls is SyscallTable.STANDARD and not counts_all_memory(zone.settings):
        raise CannotNow(NOT_ISOLATED)
    try:
        resolve_command(image, pipeline.manifest.command, pipeline.contents)
    except (CommandRefused, IsADirectoryError):
        raise PipelineError(
            f"the image {pipeline.manifest.image} holds no {pipeline.manifest.program}; name a command "
            "that it has, or ask the operator for another image"
        ) from None
    return order_for(
        pipeline,
        image=image,
        audience=Audience.TWIN,
        syscalls=record.syscalls or SyscallTable.STRICT,
        warm=record.warm or record.kind is ImageKind.HOST,
    )


def mend_rehearsals(zone: WorkerZone) -> None:
    TRIES.mend(zone)


@dataclass
class Beat:
    """Tells how far the runs are, and ends a rehearsal that takes too long or is not ours any more."""

    zone: WorkerZone
    rehearsal: Rehearsal
    total: int
    started: float
    told_at: float = float("-inf")

    def after(self, before: int) -> Progress:
        return lambda done, _total: self.tell(before + done)

    def tell(self, done: int) -> None:
        """Raises PipelineError after LONGEST_S."""
        now = time.monotonic()
        if now - self.started > LONGEST_S:
            raise PipelineError(
                f"{done} of {self.total} runs took more than {LONGEST_S:g} s together; choose larger blocks, "
                "make the pipeline quicker, or run on your own machine: dpgate run"
            )
        if now - self.told_at < BEAT_S and done < self.total:
            return
        self.told_at = now
        wall_s = self.rehearsal.request.pipeline.manifest.resources.wall_seconds
        due_at = self.zone.now() + timedelta(seconds=wall_s + MARGIN_S)
        with self.zone.database.transaction() as connection:
            ours = rehearsals.beat(
                connection, self.rehearsal, done=min(done, self.total), total=self.total, due_at=due_at
            )
        if not ours:
            raise CannotNow(LOST)


def _found(
    pipeline: Pipeline,
    declaration: Declaration,
    runs: GroupRuns,
    blocks: int,
    first: int,
    step: Callable[[int, int], None],
) -> TwinRuns:
    whole = run_whole(pipeline, runs, lambda _done, _total: step(0, first + 1), most=MAX_BLOCKS_RUN)
    check_values(len(values_of(pipeline.manifest, whole.shape)), declaration)
    step(1, first + 1)
    plan = Blocks(blocks, declaration.nominal_size)
    after: Callable[[int, int], None] = lambda done, total: step(1 + done, 1 + total)  # noqa: E731
    found = run_blocks(pipeline, whole.shape, runs, plan, after, first=first)
    return TwinRuns(
        shape=whole.shape,
        numbers=whole.numbers,
        blocks=tuple(numbers_of(outputs, whole.shape) for outputs in found.outputs),
        seconds=max(whole.seconds, found.seconds),
        outputs=tuple(shown(path, content) for path, content in whole.outputs.items()),
        said=clean(whole.said, MAX_TAIL),
        failed_block_said=clean(_told_of_blocks(found), MAX_TAIL),
        dropped=runs.participants.dropped[:MAX_BLOCKS_RUN],
    )


def _told_of_blocks(found: BlockRuns) -> str:
    """What the first one said that failed, and the kinds of failures."""
    kinds = "\n".join(map(str, found.failures))
    return "\n\n".join(part for part in (found.failed_said, kinds) if part)


def _dataset(zone: WorkerZone, rehearsal: Rehearsal) -> Dataset:
    with zone.database.reading() as connection:
        return datasets.get(connection, rehearsal.dataset_id)
