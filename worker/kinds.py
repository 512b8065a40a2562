"""What the worker zone does for a request, by its kind: a row each. A kind that is not here cannot run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from domain.dataset import Dataset, Declaration
from domain.job import Job, JobRequest
from domain.query import QueryRequest
from domain.surroundings import Isolation
from domain.training import TrainingRequest
from domain.twin.request import TwinRequest
from worker.chunk import Chunk, run
from worker.drawing import draw_pipeline
from worker.drawn import Drawn
from worker.participant_chunk import run_people
from worker.sandbox.slot_cores import kept_to
from worker.scan.answer import draw_query
from worker.scan.chunk import scan_chunk
from worker.training.answer import draw_model
from worker.training.chunk import train_chunk
from worker.twin.answer import draw_counts
from worker.twin.chunk import count_chunk
from worker.zone import WorkerZone

Draw = Callable[[WorkerZone, Any, Job, Dataset, Mapping[int, bytes]], Drawn]


def _nothing(job: Job, dataset: Dataset) -> None:
    """Nothing takes long."""


@dataclass(frozen=True)
class Kind:
    """`outputs` of one chunk, packed, by run. `draw` makes the noise of a job, once, from its opened outputs
    by run, in the transaction of the release. `prepare` does before it what follows from the question alone
    and takes long: this process keeps it."""

    outputs: Callable[[WorkerZone, Chunk], Mapping[int, bytes]]
    draw: Draw
    prepare: Callable[[Job, Dataset], None] = _nothing


def _run_pipeline(zone: WorkerZone, chunk: Chunk) -> Mapping[int, bytes]:
    """The participant level has no outputs: its outcomes are kept one by one as they come."""
    # runs that are alone have every core
    beside = chunk.dataset.declaration.policy.isolation is Isolation.SHARED
    with kept_to(zone.core if beside else None):
        if chunk.is_participant:
            run_people(zone, chunk)
            return {}
        return run(zone, chunk)


def _sample_steps(job: Job, dataset: Dataset) -> None:
    assert isinstance(job.request, TrainingRequest)
    _ = job.request.trainer(dataset.declaration).sampled


def _of_one_chunk(answer: Callable[[Any, Declaration, bytes], Drawn]) -> Draw:
    """The draw of a job that has no runs but one chunk, in which the platform itself computed."""

    def draw(_zone: WorkerZone, _: Any, job: Job, dataset: Dataset, opened: Mapping[int, bytes]) -> Drawn:
        return answer(job.request, dataset.declaration, opened[0])

    return draw


KINDS: dict[type, Kind] = {
    JobRequest: Kind(_run_pipeline, draw_pipeline),
    QueryRequest: Kind(scan_chunk, _of_one_chunk(draw_query)),
    TrainingRequest: Kind(train_chunk, _of_one_chunk(draw_model), _sample_steps),
    TwinRequest: Kind(count_chunk, _of_one_chunk(draw_counts)),
}


def kind_of(job: Job) -> Kind:
    """What is done for the request of this job."""
    return KINDS[type(job.request)]
