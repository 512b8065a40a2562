"""A pipeline on the researcher's own machine: run it on the twin in the same sandbox, and lock its shape.

Loads the worker's sandbox and the mathematics; `import dpgate` alone does not.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from domain.admission import check_values
from domain.dataset import Declaration
from domain.errors import PipelineError
from domain.output_value import grids_of, parts_of
from domain.outputs import values_of
from domain.pipeline import Pipeline
from domain.shape import Shape
from domain.shape.table import stacked
from domain.twin_record import BlocksSeen
from dpgate.errors import DpgateError, PipelineFailed
from dpgate.local_slots import open_local
from privacy.mechanism import RunOutput
from privacy.partition import block_count
from privacy.plan import Blocks, RunPlan
from privacy.preview.twin import MIN_TWIN_BLOCKS
from privacy.run_outputs import middle
from worker.collect import collect
from worker.folder_source import FolderSource
from worker.plain_outputs import PlainOutputs
from worker.rehearsal.failures import Failure
from worker.rehearsal.levels import GroupRuns, Progress, open_groups
from worker.rehearsal.provoked import provoke
from worker.rehearsal.runs import numbers_of, outputs_of, run_blocks, run_whole
from worker.stage import People, open_people

KEPT_FOR_S = 30 * 86_400.0
_AGAIN = "fetch the twin again: dpgate twin"


def _silent(_done: int, _total: int) -> None:
    """Nobody looks."""


@dataclass(frozen=True)
class TwinRun:
    """What running on the twin taught: the locked shape, the twin's own numbers, and its blocks' outputs.

    `failures` say of blocks that failed how, and what to do; `provoked` the same of inputs that the twin does
    not happen to hold. `dropped` are files of the participant level that no group run gets to see, because
    they are no person's; `block_s` are seconds of a block's run on average.
    """

    pipeline_digest: str
    shape: Shape
    numbers: tuple[float, ...]
    block_outputs: tuple[RunOutput, ...]
    seen: BlocksSeen
    longest_s: float
    dropped: tuple[str, ...] = ()
    block_s: float = 0.0
    failures: tuple[Failure, ...] = ()
    provoked: tuple[Failure, ...] = ()


@dataclass(frozen=True)
class PlanRuns:
    """What the runs of a plan gave, on the grids of the declared bounds, and seconds of a run on average."""

    outputs: tuple[RunOutput, ...]
    seen: BlocksSeen
    seconds: float


def run_on_twin(
    pipeline: Pipeline,
    *,
    declaration: Declaration,
    twin: Path,
    block_size: int,
    python_env: Path | None = None,
    images: Path | None = None,
    progress: Progress = _silent,
    warm: bool = False,
    most_blocks: int | None = None,
) -> TwinRun:
    """Run on the whole twin to lock the shape, then on its blocks, or the first `most_blocks` of them, to see
    what blocks give. Where the pipeline has a participant level, that runs first, once for each of the twin's
    people.

    `images` is the store to take the pipeline's image from, unless it is this host's own; `warm`: it starts
    once, as where an operator has approved it so.
    Raises PipelineFailed with the pipeline's own words: the twin is not original data. Raises InvalidRequest
    when it gives more values than could be submitted.
    """
    check_values(pipeline.manifest.least_values, declaration)
    people = _open_twin(declaration, twin)
    blocks = count_blocks(declaration.nominal_size, block_size)
    wholes = len(people.names) if pipeline.manifest.is_person_by_person else 1
    tried = blocks if most_blocks is None or wholes > 1 else min(blocks, most_blocks)
    ahead = _followed_by(tried + wholes, progress)
    with _opened(pipeline, people, twin, python_env, images, ahead, warm=warm) as runs:
        step = _after(runs.participants.runs, progress)
        whole = run_whole(pipeline, runs, _followed_by(tried, step))
        check_values(len(values_of(pipeline.manifest, whole.shape)), declaration)
        step(wholes, tried + wholes)
        plan = Blocks(blocks, declaration.nominal_size)
        also = provoke(pipeline, whole.shape, declaration, runs) if wholes == 1 else ()
        found = run_blocks(pipeline, whole.shape, runs, plan, _after(wholes, step), first=tried)
    return TwinRun(
        pipeline_digest=pipeline.digest,
        shape=whole.shape,
        numbers=whole.numbers,
        block_outputs=_collected(pipeline, whole.shape, found.outputs),
        seen=_seen(pipeline, whole.shape, found.outputs),
        longest_s=max(whole.seconds, found.seconds),
        dropped=runs.participants.dropped,
        block_s=found.usual_s,
        failures=found.failures,
        provoked=also,
    )


def tried_on_twin(
    pipeline: Pipeline,
    *,
    declaration: Declaration,
    twin: Path,
    python_env: Path | None = None,
    images: Path | None = None,
) -> tuple[Mapping[str, bytes], tuple[Mapping[str, bytes], ...]]:
    """What the pipeline writes on the whole twin, by path, and on each half of its people, without a half on
    which it fails. Raises PipelineFailed where it fails on the whole."""
    people = _open_twin(declaration, twin)
    with _opened(pipeline, people, twin, python_env, images, _silent) as runs:
        if pipeline.manifest.is_person_by_person:
            return _tried_on_two(pipeline, runs)
        whole = outputs_of(pipeline, runs, runs.run(people.names))
        halves = [runs.run(people.names[start::2]).outputs for start in (0, 1)]
        return whole, tuple(half for half in halves if half is not None)


def _tried_on_two(
    pipeline: Pipeline, runs: GroupRuns
) -> tuple[Mapping[str, bytes], tuple[Mapping[str, bytes], ...]]:
    """What two people's runs write, and both together: rows below each other where the files are tables."""
    two = [outputs_of(pipeline, runs, runs.run_person(person)) for person in runs.people.names[:2]]
    whole = {path: stacked(path, [written[path] for written in two]) for path in two[0]}
    return whole, tuple(two)


def run_plan_on_twin(
    pipeline: Pipeline,
    *,
    declaration: Declaration,
    twin: Path,
    shape: Shape,
    plan: RunPlan,
    python_env: Path | None = None,
    images: Path | None = None,
    progress: Progress = _silent,
    longest_s: float | None = None,
) -> PlanRuns:
    """What another plan's runs give on the twin: other block sizes, half-samples, everybody but one.

    With `longest_s` only the first runs, as many as start in that time, and two at least.
    """
    people = _open_twin(declaration, twin)
    ahead = _followed_by(plan.runs, progress)
    with _opened(pipeline, people, twin, python_env, images, ahead) as runs:
        step = _after(runs.participants.runs, progress)
        outputs, seconds = [], 0.0
        for result, took in runs.of_plan(plan, step):
            outputs.append(result.outputs)
            seconds += took
            if longest_s is not None and seconds >= longest_s and len(outputs) >= MIN_TWIN_BLOCKS:
                break
    return PlanRuns(
        _collected(pipeline, shape, outputs), _seen(pipeline, shape, outputs), seconds / len(outputs)
    )


def count_blocks(nominal_size: int, block_size: int) -> int:
    """Raises DpgateError when blocks of this size are too few or too many."""
    try:
        return block_count(nominal_size, block_size)
    except ValueError as error:
        raise DpgateError(f"block size: {error}") from None


@contextmanager
def _opened(
    pipeline: Pipeline,
    people: People,
    twin: Path,
    python_env: Path | None,
    images: Path | None,
    progress: Progress,
    *,
    warm: bool = False,
) -> Iterator[GroupRuns]:
    """Group runs after the participant level. What the pipeline did wrong becomes PipelineFailed."""
    try:
        with (
            open_local(pipeline, twin=twin, python_env=python_env, images=images, warm=warm) as slots,
            _kept(twin) as outputs,
            open_groups(slots, pipeline, people, outputs, progress) as runs,
        ):
            yield runs
    except PipelineError as error:
        raise PipelineFailed(str(error)) from None


@contextmanager
def _kept(twin: Path) -> Iterator[PlainOutputs]:
    """Beside the twin's declaration, so that the next command finds what participant levels wrote."""
    with tempfile.TemporaryDirectory() as passing:
        kept = twin / ".dpgate" / "participants" if os.access(twin, os.W_OK) else Path(passing)
        outputs = PlainOutputs(kept)
        outputs.remove_unused(for_s=KEPT_FOR_S)
        yield outputs


def _collected(
    pipeline: Pipeline, shape: Shape, outputs: Sequence[Mapping[str, bytes] | None]
) -> tuple[RunOutput, ...]:
    """On the grids of the declared bounds, as a job reads them."""
    values = values_of(pipeline.manifest, shape)
    grids, parts = grids_of(values), parts_of(values)
    default = middle(grids)
    if parts is not None:
        default = tuple(
            d if part.absent is None else part.absent for d, part in zip(default, parts, strict=True)
        )
    return tuple(collect(files, shape=shape, grids=grids, default=default) for files in outputs)


def _seen(pipeline: Pipeline, shape: Shape, outputs: Sequence[Mapping[str, bytes] | None]) -> BlocksSeen:
    values = values_of(pipeline.manifest, shape)
    return BlocksSeen.of(values, [numbers_of(files, shape) for files in outputs])


def _followed_by(more: int, progress: Progress) -> Progress:
    return lambda done, total: progress(done, total + more)


def _after(before: int, progress: Progress) -> Progress:
    return lambda done, total: progress(before + done, before + total)


def _open_twin(declaration: Declaration, twin: Path) -> People:
    try:
        return open_people(declaration, FolderSource(twin, declaration))
    except FileNotFoundError as error:
        raise DpgateError(f"{error.filename} is not as it was fetched; {_AGAIN}") from None
    except ValueError:
        raise DpgateError(f"{twin} is not as it was fetched; {_AGAIN}") from None
