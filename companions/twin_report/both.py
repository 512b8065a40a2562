"""The user's own pipeline on the twin and on the original, in the same sandbox: for the rights holder alone.

What the pipeline says on the original may repeat cells, so its words are not shown. Nothing that it writes is
kept: participant levels keep their outputs in a passing folder of this user alone.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from domain.dataset import Declaration
from domain.errors import PipelineError
from domain.model import parse
from domain.outputs import values_of
from domain.pipeline import Pipeline
from domain.shape import Shape
from dpgate.errors import DpgateError
from dpgate.local_slots import open_local
from dpgate.pipeline_folder import load_pipeline
from worker.folder_source import FolderSource
from worker.plain_outputs import PlainOutputs
from worker.rehearsal.levels import open_groups
from worker.rehearsal.runs import numbers_of, outputs_of, run_whole
from worker.stage import open_people


@dataclass(frozen=True)
class Pair:
    """One number of the pipeline; None where a run had none."""

    name: str
    original: float | None
    twin: float | None


@dataclass(frozen=True)
class Both:
    """`problem` says why there are no numbers."""

    pipeline: str
    pairs: tuple[Pair, ...]
    problem: str = ""


def run_both(
    folder: Path, declaration: Declaration, *, original: Path, twin: Path, images: Path | None
) -> Both:
    """The pipeline of this folder, on everybody of both. Raises DpgateError for a folder without one."""
    pipeline = parse(Pipeline, load_pipeline(folder).body, within="pipeline")
    name = folder.resolve().name
    try:
        shape, numbers = _run(pipeline, declaration, twin, images, None)
    except PipelineError as error:
        return Both(name, (), f"It fails on the twin: {str(error).splitlines()[0]}")
    try:
        _, real = _run(pipeline, declaration, original, images, shape)
    except PipelineError:
        return Both(
            name, (), "It runs on the twin and fails on the original. What it said there is not shown."
        )
    names = [value.name for value in values_of(pipeline.manifest, shape)]
    return Both(name, tuple(map(Pair, names, real or [None] * len(names), numbers)))


def _run(
    pipeline: Pipeline, declaration: Declaration, folder: Path, images: Path | None, shape: Shape | None
) -> tuple[Shape, tuple[float | None, ...]]:
    """On everybody. The shape is locked by the first run, which is on the twin."""
    try:
        people = open_people(declaration, FolderSource(folder, declaration))
    except (OSError, ValueError):
        raise DpgateError(f"{folder} does not hold the tables that the declaration names") from None
    with (
        tempfile.TemporaryDirectory() as passing,
        open_local(pipeline, twin=folder, python_env=None, images=images) as slots,
        open_groups(slots, pipeline, people, PlainOutputs(Path(passing)), lambda _done, _all: None) as runs,
    ):
        if shape is None:
            whole = run_whole(pipeline, runs)
            return whole.shape, whole.numbers
        outputs = outputs_of(pipeline, runs, runs.run(runs.people.names))
    numbers = numbers_of(outputs, shape)
    if numbers is None:
        raise PipelineError("other outputs than on the twin")
    return shape, numbers
