"""A rehearsal: a pipeline run by a worker on the twin, for its author.

The twin has seen no data (it is a blank form, or drawn from counts that were released), so whatever a
rehearsal gives may be shown: what the pipeline printed, its outputs, and the error to expect of a release at
each epsilon.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from domain.loss import micro
from domain.mechanisms import own_runs
from domain.model import Model, Slug, Whole, digest
from domain.outputs import values_of
from domain.pipeline import OutputValue, Pipeline
from domain.shape import Shape
from domain.twin_record import BlocksSeen, TwinRecord
from privacy.mean_noise import NoiseKind
from privacy.partition import MIN_BLOCK_SIZE, MIN_BLOCKS

MAX_WAITING = 5
"""Rehearsals of one user that may wait or run at the same time."""
KEPT = 50
"""Of one user; older ones are forgotten."""
MAX_BLOCKS_RUN = 100
"""More blocks of the twin say hardly more about how blocks differ."""
MAX_LEFT_OUT = 500
"""People who are left out in turn; more take a worker too long."""
LONGEST_S = 600.0
"""A rehearsal that takes longer is ended between two runs."""
MAX_TAIL = 8000
MAX_TEXT = 20_000
"""Characters of one output file that are shown."""


if TYPE_CHECKING:
    Sampled = str
else:
    Sampled = Literal[tuple(own_runs())]
"""Mechanisms whose error is forecast from runs of their own plan, beside the blocks."""
Numbers = tuple[float | None, ...] | None
"""What one run gave: None for a number that is missing, and for a run that failed."""


class RehearsalState(StrEnum):
    QUEUED = "QUEUED"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"

    @property
    def is_open(self) -> bool:
        return self in (RehearsalState.QUEUED, RehearsalState.RUNNING)


class RehearsalRequest(Model):
    """What a data user wants to see on the twin. `runs_of` names an earlier rehearsal of the same code and
    block size, whose runs are taken over: only bounds and names have changed since. `mechanism` asks for the
    runs that the forecast of this one needs, too."""

    dataset: Slug
    pipeline: Pipeline
    block_size: Annotated[Whole, Field(ge=MIN_BLOCK_SIZE, le=100_000)] = 10
    runs_of: str | None = None
    mechanism: Sampled | None = None

    @model_validator(mode="after")
    def _block_size_fits(self) -> RehearsalRequest:
        self.pipeline.manifest.check_block_size(self.block_size)
        if self.mechanism is not None and self.pipeline.manifest.needs_blocks_of_one:
            raise ValueError(f"{self.mechanism} runs on many people at once; leave mechanism out")
        return self


class OutputText(Model):
    """A file that the pipeline wrote on the whole twin; `text` is None where it is no text."""

    path: str
    size: int
    text: str | None = None
    is_cut: bool = False


class TwinRuns(Model):
    """What the runs gave: the locked shape, the numbers of the whole twin, and those of each block. `seconds`
    is the slowest run's. `half_samples` are those of 64 half-samples, `leave_one_out` those of everybody and
    then of everybody but one; empty where nobody asked for them."""

    shape: Shape
    numbers: tuple[float, ...]
    blocks: tuple[Numbers, ...]
    half_samples: tuple[Numbers, ...] = ()
    leave_one_out: tuple[Numbers, ...] = ()
    seconds: float
    outputs: tuple[OutputText, ...] = ()
    said: str = ""
    failed_block_said: str = ""
    dropped: tuple[str, ...] = ()

    def of_plan(self, mechanism: Sampled) -> tuple[Numbers, ...]:
        """What the runs of this mechanism's own plan gave."""
        found: tuple[Numbers, ...] = getattr(self, own_runs()[mechanism].kept)
        return found

    @property
    def failed(self) -> int:
        return sum(block is None for block in self.blocks)

    def of_output(self, index: int) -> tuple[float, ...]:
        """What the blocks gave for one output; blocks without a number are left out."""
        found = (block[index] for block in self.blocks if block is not None)
        return tuple(number for number in found if number is not None)


class Rung(Model):
    """The error to expect of one output at one choice, in its own units, measured from the whole twin's
    number. `without_noise_95` is what no epsilon removes; `noise_95` what the noise alone adds."""

    output: int
    block_size: int
    aggregator: str
    micro_epsilon: int
    typical: float
    within_95: float
    without_noise_95: float
    noise_95: float | None


class Draws(Model):
    """Simulated releases of one output, at the block size that ran."""

    output: int
    aggregator: str
    micro_epsilon: int
    values: tuple[float, ...]


class QuietMean(Model):
    """The mean of one output over blocks before any noise, among people like the twin's: quantiles, evenly
    apart, of its distance from the whole twin's number."""

    output: int
    block_size: int
    offsets: tuple[float, ...]


class UnitNoise(Model):
    """Independent draws of scale 1: for simulated releases at whatever scale a reader chooses."""

    normal: tuple[float, ...] = ()
    laplace: tuple[float, ...] = ()


class Preview(Model):
    """The error ladder and simulated releases, with the noise of means that `noise_kind` names: what noise
    auto is without a delta. And what is needed to say the same for Gaussian noise and other mechanisms.
    `unable` says why there is no ladder, `unable_sampled` why the runs that another mechanism asked for are
    not there."""

    rungs: tuple[Rung, ...] = ()
    draws: tuple[Draws, ...] = ()
    means: tuple[QuietMean, ...] = ()
    noise: UnitNoise = UnitNoise()
    # previews from before there was joint noise do not say it
    noise_kind: NoiseKind = "laplace"
    unable: str = ""
    unable_sampled: str = ""

    @property
    def block_sizes(self) -> tuple[int, ...]:
        sizes = {rung.block_size for rung in self.rungs} | {mean.block_size for mean in self.means}
        return tuple(sorted(sizes))

    def mean(self, *, output: int, block_size: int) -> QuietMean | None:
        wanted = (output, block_size)
        return next((mean for mean in self.means if (mean.output, mean.block_size) == wanted), None)

    def ladder(self, *, output: int, block_size: int, aggregator: str) -> tuple[Rung, ...]:
        """The rungs of one curve by increasing epsilon."""
        found = [
            rung
            for rung in self.rungs
            if (rung.output, rung.block_size, rung.aggregator) == (output, block_size, aggregator)
        ]
        return tuple(sorted(found, key=lambda rung: rung.micro_epsilon))

    def simulated(self, *, output: int, aggregator: str, epsilon: str) -> Draws | None:
        """The draws at the largest computed epsilon up to this one, or else at the smallest."""
        found = sorted(
            (draws for draws in self.draws if (draws.output, draws.aggregator) == (output, aggregator)),
            key=lambda draws: draws.micro_epsilon,
        )
        within = [draws for draws in found if draws.micro_epsilon <= micro(epsilon)]
        return within[-1] if within else next(iter(found), None)


class Rehearsal(Model):
    """A rehearsal on record. `problem` says why it failed, in the pipeline's own words where it did."""

    id: str
    author: str
    dataset_id: str
    pipeline_digest: str
    request: RehearsalRequest
    image_digest: str
    # the job whose released counts its twin is drawn from; none where it is the blank form
    counts: str | None = None
    state: RehearsalState
    attempts: int
    done: int
    total: int
    problem: str | None
    runs: TwinRuns | None
    preview: Preview | None
    created_at: datetime
    moved_at: datetime

    @property
    def values(self) -> tuple[OutputValue, ...]:
        """The numbers that a job of this pipeline may release; none before the shape is locked."""
        return values_of(self.request.pipeline.manifest, self.runs.shape) if self.runs else ()


def record_of(pipeline: Pipeline, rehearsal: Rehearsal) -> TwinRecord | None:
    """What a rehearsal says of a job of this pipeline, whose bounds and names may have changed since; None
    before its runs are there."""
    if (runs := rehearsal.runs) is None:
        return None
    values = values_of(pipeline.manifest, runs.shape)
    return TwinRecord(
        pipeline=pipeline.digest,
        whole=runs.numbers,
        block_size=rehearsal.request.block_size,
        seen=BlocksSeen.of(values, runs.blocks),
    )


def largest_block(nominal_size: int) -> int:
    """The most people per block of a data set of this size."""
    return nominal_size // MIN_BLOCKS


def code_digest(pipeline: Pipeline) -> str:
    """Of all that decides what runs give: equal for pipelines that differ only in bounds and names."""
    manifest = pipeline.manifest.model_dump(mode="json")
    manifest["outputs"] = [_without_bounds(output) for output in manifest["outputs"]]
    del manifest["name"]
    sources = {source.path: source.content_base64 for source in pipeline.sources}
    return digest({"manifest": manifest, "sources": sources})


def _without_bounds(content: Any) -> Any:
    if isinstance(content, list):
        return [_without_bounds(item) for item in content]
    if isinstance(content, dict):
        left_out = ("lower", "upper", "name")
        return {name: _without_bounds(value) for name, value in content.items() if name not in left_out}
    return content
