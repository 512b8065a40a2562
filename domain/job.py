"""A job: one request, pipeline x data set x mechanism x privacy loss."""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.dataset import Dataset
from domain.errors import InvalidRequest, NotAllowed
from domain.loss import Epsilon, micro
from domain.model import Model, Slug, Whole, digest
from domain.pipeline import Pipeline, Resources
from domain.policy import Policy
from domain.schedule import Schedule
from domain.shape import Shape
from domain.states import JobState
from privacy.grid import OutputGrid
from privacy.loss import GuaranteeClass
from privacy.partition import MIN_BLOCK_SIZE, MIN_BLOCKS, block_count
from privacy.sample_aggregate import MAX_BLOCKS, SampleAggregate

JobId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{7,63}$")]


class JobRequest(Model):
    """What a data user asks. `shape` comes from the run on the twin (`dpgate run`)."""

    dataset: Slug
    pipeline: Pipeline
    shape: Shape
    epsilon: Epsilon
    mechanism: Literal["sample_aggregate"] = "sample_aggregate"
    block_size: Annotated[Whole, Field(ge=MIN_BLOCK_SIZE, le=100_000)] = 10
    project: Slug | None = None

    @model_validator(mode="after")
    def _shape_fits(self) -> JobRequest:
        try:
            self.shape.check_fits(self.pipeline.manifest)
        except ValueError as error:
            raise ValueError(f"shape {error}") from None
        return self

    @property
    def micro_epsilon(self) -> int:
        return micro(self.epsilon)

    @property
    def guarantee(self) -> GuaranteeClass:
        return SampleAggregate.guarantee

    def question(self, *, dataset_id: str, image_digest: str) -> str:
        """Equal for requests that ask the same of the same: snapshot, image, code, shape, mechanism, loss."""
        return digest(
            {
                "dataset": dataset_id,
                "image": image_digest,
                "pipeline": self.pipeline.digest,
                "shape": self.shape.model_dump(mode="json"),
                "mechanism": self.mechanism,
                "micro_epsilon": self.micro_epsilon,
                "block_size": self.block_size,
            }
        )

    def blocks(self, nominal_size: int) -> int:
        return block_count(nominal_size, self.block_size)

    def mechanism_for(self, nominal_size: int) -> SampleAggregate:
        """The mechanism with everything fixed before data is touched."""
        grids = tuple(OutputGrid.build(value.lower, value.upper) for value in self.pipeline.manifest.values)
        return SampleAggregate(
            grids=grids, blocks=self.blocks(nominal_size), micro_epsilon=self.micro_epsilon
        )

    def schedule(self, *, nominal_size: int, slots: int) -> Schedule:
        return Schedule(
            blocks=self.blocks(nominal_size),
            wall_s=self.pipeline.manifest.resources.wall_seconds,
            slots=slots,
            nominal_size=nominal_size,
        )


class Reason(StrEnum):
    """Why the platform could not run a job. A fixed list: no text that has seen data becomes a reason."""

    IMAGE_CHANGED = (
        "the image is not on the worker as it was approved, or its approval was withdrawn; ask the operator"
    )
    COMMAND_MISSING = "the image holds no such command; name one that it has, or ask the operator for another"
    SNAPSHOT_MISSING = "the worker does not hold the snapshot of this data set; ask the operator"
    SANDBOX_UNAVAILABLE = "the worker cannot isolate runs on this host; ask the operator to run dpgate doctor"
    NOT_SYNTHETIC = (
        "the worker isolates for development only, and the data set is not declared synthetic; "
        "ask the operator"
    )
    TIMING_NOT_PADDED = (
        "the worker isolates strictly and takes data sets with padded timing only; ask the rights holder"
    )
    WORKERS_LOST = "the platform's workers failed repeatedly; ask the operator"


class Job(Model):
    """A job on record."""

    id: str
    dataset_id: str
    author: str
    owner: str
    project: str | None
    request: JobRequest
    image_digest: str
    question: str
    state: JobState
    attempts: int
    slots: int | None
    answered_by: str | None
    reason: Reason | None
    created_at: datetime
    charged_at: datetime | None
    due_at: datetime | None


def check_policy(request: JobRequest, dataset: Dataset) -> None:
    """Raises InvalidRequest or NotAllowed when the data set's policy does not allow this request."""
    policy = dataset.declaration.policy
    manifest = request.pipeline.manifest
    if manifest.image not in policy.images:
        raise NotAllowed(
            "pipeline.manifest.image",
            f"the rights holder of {dataset.name} does not allow the image {manifest.image}.",
            f"Allowed: {', '.join(policy.images) or 'none yet; ask the rights holder'}.",
        )
    if request.guarantee not in policy.guarantees:
        raise NotAllowed("mechanism", f"the policy of {dataset.name} does not allow {request.guarantee}.")
    if request.micro_epsilon > policy.max_micro_epsilon_per_job:
        limit = policy.max_epsilon_per_job
        raise InvalidRequest(
            "epsilon",
            f"{request.epsilon} is over the {limit} that the policy of {dataset.name} allows for one job.",
            f"Ask for {limit} or less.",
        )
    if request.block_size < policy.min_block_size:
        raise InvalidRequest(
            "block_size",
            f"{request.block_size} is under the {policy.min_block_size} that the policy asks for.",
            f"Use {policy.min_block_size} or more.",
        )
    _check_resources(manifest.resources, policy)
    _check_blocks(request, dataset)


def _check_resources(resources: Resources, policy: Policy) -> None:
    for name in ("wall_seconds", "memory_mib", "processes", "scratch_mib"):
        asked, allowed = getattr(resources, name), getattr(policy, f"max_{name}")
        if asked > allowed:
            raise InvalidRequest(
                f"pipeline.manifest.resources.{name}",
                f"{asked:g} is over the policy's {allowed:g}.",
                f"Use {allowed:g} or less.",
            )


def _check_blocks(request: JobRequest, dataset: Dataset) -> None:
    size = dataset.declaration.nominal_size
    try:
        request.mechanism_for(size)
    except ValueError as error:
        too_few = size // request.block_size < MIN_BLOCKS
        fix = f"Use {size // MIN_BLOCKS} or less." if too_few else f"Use {-(-size // MAX_BLOCKS)} or more."
        raise InvalidRequest("block_size", f"{error}", fix) from None


def check_job_id(job_id: str) -> str:
    """The client chooses the id; raises InvalidRequest when it cannot stand in a URL."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{7,63}", job_id):
        raise InvalidRequest("job_id", "must be 8 to 64 letters, digits, - or _.", "A UUID is a good choice.")
    return job_id
