"""From the files of group runs to numbers, and from numbers to the one release of a state."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from companions.siesta.inputs import EVERYBODY
from companions.siesta.labels import number_in_disguise
from companions.siesta.new_folder import new_folder
from companions.siesta.samples import Samples
from companions.siesta.state import State
from domain.errors import PipelineError
from domain.outputs import values_of
from domain.people_in_paths import mentions
from domain.pipeline import Pipeline
from domain.shape import Shape, lock
from dpgate.errors import DpgateError, PipelineFailed
from privacy.mechanism import NoisedOutput, RunOutput
from privacy.sample_aggregate import SampleAggregate
from privacy.stability import LABEL, StabilityCalibrated
from worker.collect import collect
from worker.drawn import DrawnValue, text
from worker.rehearsal.failures import unlocked

CERTIFICATE = "dpgate-release.json"
NO_LEDGER = (
    "PURE DP of this one run. No ledger is kept here: the losses of several runs on the same people add up."
)


def check_names_nobody(files: Mapping[str, bytes], people: Iterable[str]) -> None:
    """Raises PipelineFailed for a file in which somebody's sub-XX stands: labels leave without noise, and
    rows of people say who and how many they are."""
    known = {person.casefold() for person in people}
    for path, content in files.items():
        found = (f"sub-{label}" for label in mentions(content.decode("utf-8", "replace")))
        if named := next((person for person in found if person.casefold() in known), None):
            raise PipelineFailed(
                f"{path} names {named}: names of people and a row for each of them cannot leave with any "
                "noise. Write numbers over people at the group level, or let dpgate make them of columns: "
                "docs/how-to/siesta.md#what-siestas-use-cases-can-have"
            )


def check_labels(shape: Shape, *, leave: bool) -> None:
    """Raises PipelineFailed for a label that tells a number, where labels of the data `leave`."""
    for file in shape.files if leave else ():
        if (told := number_in_disguise(file)) is not None:
            raise PipelineFailed(
                f"{file.file} has the text {told!r}, which would leave as it is, since it is not written "
                "as a number: write 12.5, not 12,5, and what belongs to it into a cell of its own"
            )


def whitelisted(folder: Path, pipeline: Pipeline) -> dict[str, bytes]:
    """A result that lies in a folder. Raises DpgateError where a file is missing."""
    paths = [folder / output.file for output in pipeline.manifest.outputs]
    for path in paths:
        if not path.is_file():
            raise DpgateError(f"{path} is missing")
    return {
        output.file: path.read_bytes() for output, path in zip(pipeline.manifest.outputs, paths, strict=True)
    }


def lock_shape(pipeline: Pipeline, files: Mapping[str, bytes], *, where: str) -> Shape:
    """Everything of a result but its numbers. Raises DpgateError where it is not what was declared."""
    missing = [output.file for output in pipeline.manifest.outputs if output.file not in files]
    if missing:
        raise DpgateError(f"{where}: {missing[0]} is missing")
    try:
        declared = pipeline.manifest.outputs
        shape = Shape(files=tuple(lock(one, files[one.file], pipeline.contents) for one in declared))
        values_of(pipeline.manifest, shape)
    except (PipelineError, ValueError) as error:
        raise DpgateError(f"{where}: {unlocked(pipeline, files, error)}") from None
    return shape


@dataclass(frozen=True)
class Results:
    """What the group runs of a state gave, in the order of the mechanism's plan."""

    state: State
    runs: Sequence[str]
    shape: Shape

    def numbers(self, run: str) -> list[float]:
        """Raises DpgateError, naming the run and the place, for another shape or a number that is missing."""
        files = self.state.read(run)
        try:
            numbers = self.shape.read(files)
        except PipelineError as error:
            raise DpgateError(f"group level, {run}: {error}") from None
        found = [number for number in numbers if number is not None]
        if len(found) < len(numbers):
            file, address = self.shape.places[numbers.index(None)]
            raise DpgateError(f"group level, {run}: {file} holds no finite number at {address}")
        return found

    def merged(self, names: Sequence[str]) -> Samples:
        """The leave-one-out samples as mergegroup would write them, one row each."""
        rows = [self.numbers(run) for run in self.runs if run != EVERYBODY]
        return Samples(tuple(names), tuple(tuple(repr(number) for number in row) for row in rows))

    def outputs(self, mechanism: SampleAggregate | StabilityCalibrated) -> list[RunOutput]:
        if isinstance(mechanism, StabilityCalibrated):
            rows = (self.numbers(run) for run in self.runs)
            return [
                tuple(grid.snap(number) for grid, number in zip(mechanism.grids, row, strict=True))
                for row in rows
            ]
        return [
            collect(
                None if self.state.failed(run) else self.state.read(run),
                shape=self.shape,
                grids=mechanism.grids,
                default=mechanism.default(number),
            )
            for number, run in enumerate(self.runs)
        ]


def draw(
    mechanism: SampleAggregate | StabilityCalibrated,
    outputs: Sequence[RunOutput],
    names: Sequence[str],
    shape: Shape,
) -> dict[str, Any]:
    """The release: noised numbers, the files that hold them, and what they promise. Draws the noise."""
    noised = mechanism.release(outputs)[: len(names)]
    values = [
        DrawnValue(name, output, step=grid.step)
        for name, output, grid in zip(names, noised, mechanism.grids, strict=True)
    ]
    files = shape.write([text(value) for value in values])
    return {
        "mechanism": mechanism.mechanism,
        "guarantee": mechanism.guarantee.value,
        "label": LABEL if isinstance(mechanism, StabilityCalibrated) else NO_LEDGER,
        "relation": mechanism.relation,
        "parameters": dict(mechanism.parameters()),
        "values": [_value(value) for value in values],
        "files": {path: base64.b64encode(content).decode() for path, content in files.items()},
    }


def write_released(release: Mapping[str, Any], out: Path) -> None:
    """OUT/released: the noised files, and beside them what they promise. What is there already stays."""
    if out.exists():
        return
    with new_folder(out) as made:
        for path, content in release["files"].items():
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_bytes(base64.b64decode(content))
        promise = {name: part for name, part in release.items() if name != "files"}
        text = json.dumps(promise, indent=2, ensure_ascii=False) + "\n"
        (made / CERTIFICATE).write_text(text, encoding="utf-8")


def _value(value: DrawnValue) -> dict[str, Any]:
    return {"name": value.name, "value": float(text(value)), **_widths(value.output)}


def _widths(output: NoisedOutput) -> dict[str, float | None]:
    shown = {"noise_scale": output.noise_scale, "half_width_95": output.half_width_95}
    return {name: None if width is None else float(Fraction(width)) for name, width in shown.items()}
