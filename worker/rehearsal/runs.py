"""The runs of a pipeline on a twin: on everybody, which locks the shape, then on blocks."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.errors import PipelineError
from domain.output_value import PersonValue
from domain.outputs import values_of
from domain.pipeline import OutputValue, Pipeline
from domain.shape import Shape, lock
from privacy.plan import Blocks
from worker.rehearsal.failures import Failure, failures, place_of, unlocked, why
from worker.rehearsal.levels import GroupRuns, Progress
from worker.sandbox.protocol import RunResult


def _silent(_done: int, _total: int) -> None:
    """Nobody looks."""


@dataclass(frozen=True)
class WholeRun:
    """The run on the whole twin: its files by path, their shape, its numbers, what it said."""

    outputs: Mapping[str, bytes]
    shape: Shape
    numbers: tuple[float, ...]
    said: str
    seconds: float


@dataclass(frozen=True)
class BlockRuns:
    """Raw files of each block's run, None where it failed; seconds of the slowest, and of a run on average;
    what the first failed one said, and the failures by kind."""

    outputs: tuple[Mapping[str, bytes] | None, ...]
    seconds: float
    failed_said: str
    usual_s: float = 0.0
    failures: tuple[Failure, ...] = ()


def run_whole(
    pipeline: Pipeline, runs: GroupRuns, progress: Progress = _silent, *, most: int | None = None
) -> WholeRun:
    """Run on everybody and lock the shape. Raises PipelineError with the pipeline's own words.

    A pipeline that is run person by person runs on each, or on the first `most` of them: `progress` is of
    those runs.
    """
    if pipeline.manifest.is_person_by_person:
        return _run_everybody(pipeline, runs, progress, most=most)
    started = time.monotonic()
    result = runs.run(runs.people.names)
    outputs = outputs_of(pipeline, runs, result)
    seconds = max(runs.participants.longest_s, time.monotonic() - started)
    shape = lock_shape(pipeline, outputs)
    numbers = tuple(number for number in shape.read(outputs) if number is not None)
    said = result.detail.tail if result.detail else ""
    return WholeRun(outputs, shape, numbers, said, seconds)


def _run_everybody(pipeline: Pipeline, runs: GroupRuns, progress: Progress, *, most: int | None) -> WholeRun:
    """Run on each person, or on the first ones; the first who succeeds locks the shape, and the numbers are
    those over people."""
    names = runs.people.names[:most]
    slowest, results = 0.0, []
    for done, person in enumerate(names, start=1):
        started = time.monotonic()
        results.append(runs.run_person(person))
        slowest = max(slowest, time.monotonic() - started)
        progress(done, len(names))
    first = next((result for result in results if result.outputs is not None), results[0])
    outputs = outputs_of(pipeline, runs, first)
    shape = lock_shape(pipeline, outputs)
    found = [numbers_of(result.outputs, shape) for result in results]
    values = values_of(pipeline.manifest, shape)
    numbers = tuple(
        _over_people(value, [None if person is None else person[index] for person in found])
        for index, value in enumerate(values)
    )
    said = first.detail.tail if first.detail else ""
    return WholeRun(outputs, shape, numbers, said, slowest)


def _over_people(value: OutputValue, found: Sequence[float | None]) -> float:
    """The mean or quantile of what people have; whoever has nothing counts as their part says, or not."""
    part = value if isinstance(value, PersonValue) else PersonValue(**dict(value))
    numbers = [part.absent if number is None else number for number in found]
    present = sorted(number for number in numbers if number is not None)
    if not present:  # the run that locked the shape has one
        raise PipelineError(f"no person has a number for {value.name}")
    if part.quantile is not None:
        return present[max(0, math.ceil(part.quantile * len(present)) - 1)]
    return math.fsum(present) / len(present)


def run_blocks(
    pipeline: Pipeline,
    shape: Shape,
    runs: GroupRuns,
    plan: Blocks,
    progress: Progress,
    *,
    first: int | None = None,
) -> BlockRuns:
    """Run on each block, or on the first ones only."""
    found, slowest, together, said = [], 0.0, 0.0, ""
    place = place_of(pipeline, runs.people, runs.images_with)
    for result, seconds in runs.of_plan(plan, progress, first=first):
        found.append(result)
        slowest, together = max(slowest, seconds), together + seconds
        if result.outputs is None and not said:
            said = why(result.detail, pipeline, place)
    outputs = tuple(result.outputs for result in found)
    told = failures(found, shape, pipeline, place)
    return BlockRuns(outputs, slowest, said, together / len(found), told)


def lock_shape(pipeline: Pipeline, outputs: Mapping[str, bytes]) -> Shape:
    """Raises PipelineError where an output has no shape, or other numbers than declared."""
    declared, sources = pipeline.manifest.outputs, pipeline.contents
    try:
        shape = Shape(files=tuple(lock(output, outputs[output.file], sources) for output in declared))
        values_of(pipeline.manifest, shape)
    except (ValueError, PipelineError) as error:
        raise PipelineError(unlocked(pipeline, outputs, error)) from None
    return shape


def outputs_of(pipeline: Pipeline, runs: GroupRuns, result: RunResult) -> Mapping[str, bytes]:
    """Raises PipelineError where the run failed, with what to do about it."""
    if result.outputs is not None:
        return result.outputs
    place = place_of(pipeline, runs.people, runs.images_with)
    raise PipelineError(why(result.detail, pipeline, place))


def numbers_of(outputs: Mapping[str, bytes] | None, shape: Shape) -> tuple[float | None, ...] | None:
    """The numbers of one run, None for a cell without one; None for a run that failed."""
    if outputs is None:
        return None
    try:
        return tuple(shape.read_run(outputs))
    except PipelineError:
        return None
