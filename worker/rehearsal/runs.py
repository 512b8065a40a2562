"""The runs of a pipeline on a twin: on everybody, which locks the shape, then on blocks."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from domain.errors import PipelineError
from domain.outputs import values_of
from domain.pipeline import Manifest, Pipeline
from domain.shape import Shape, lock
from privacy.plan import Blocks
from worker.rehearsal.levels import GroupRuns, Progress, why
from worker.sandbox.protocol import RunResult


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
    and what the first failed one said."""

    outputs: tuple[Mapping[str, bytes] | None, ...]
    seconds: float
    failed_said: str
    usual_s: float = 0.0


def run_whole(pipeline: Pipeline, runs: GroupRuns) -> WholeRun:
    """Run on everybody and lock the shape. Raises PipelineError with the pipeline's own words."""
    started = time.monotonic()
    result = runs.run(runs.people.names)
    outputs = outputs_of(pipeline.manifest, result)
    seconds = max(runs.participants.longest_s, time.monotonic() - started)
    shape = lock_shape(pipeline, outputs)
    numbers = tuple(number for number in shape.read(outputs) if number is not None)
    said = result.detail.tail if result.detail else ""
    return WholeRun(outputs, shape, numbers, said, seconds)


def run_blocks(runs: GroupRuns, plan: Blocks, progress: Progress, *, first: int | None = None) -> BlockRuns:
    """Run on each block, or on the first ones only."""
    found, slowest, together, said = [], 0.0, 0.0, ""
    for result, seconds in runs.of_plan(plan, progress, first=first):
        found.append(result.outputs)
        slowest, together = max(slowest, seconds), together + seconds
        if result.outputs is None and not said:
            said = why(result.detail)
    return BlockRuns(tuple(found), slowest, said, together / len(found))


def lock_shape(pipeline: Pipeline, outputs: Mapping[str, bytes]) -> Shape:
    """Raises PipelineError where an output has no shape, or other numbers than declared."""
    declared, sources = pipeline.manifest.outputs, pipeline.contents
    try:
        shape = Shape(files=tuple(lock(output, outputs[output.file], sources) for output in declared))
        values_of(pipeline.manifest, shape)
    except ValueError as error:
        raise PipelineError(str(error)) from None
    return shape


def outputs_of(manifest: Manifest, result: RunResult) -> Mapping[str, bytes]:
    """Raises PipelineError where the run failed."""
    if result.outputs is not None:
        return result.outputs
    files = ", ".join(output.file for output in manifest.outputs)
    raise PipelineError(f"{why(result.detail)}\nDeclared outputs: {files}")


def numbers_of(outputs: Mapping[str, bytes] | None, shape: Shape) -> tuple[float | None, ...] | None:
    """The numbers of one run, None for a cell without one; None for a run that failed."""
    if outputs is None:
        return None
    try:
        return tuple(shape.read(outputs))
    except PipelineError:
        return None
