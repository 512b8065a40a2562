"""What the rights holder allows on one data set."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from domain.loss import Epsilon, micro
from domain.model import Model, Number, Slug, Whole
from privacy.loss import GuaranteeClass
from privacy.partition import MIN_BLOCK_SIZE

Seconds = Annotated[Number, Field(gt=0, le=3600)]


class Timing(Model):
    """When a release becomes visible.

    `padded`: at a time computed from public values alone; how long the runs really took stays hidden.
    `coarse`: at the next multiple of `step_seconds` after the runs ended. Quicker, and it leaks: an observer
    learns in which step the last run ended, and runs without a grid can signal to later ones through the
    clock. For pipelines that somebody has read; every surface that shows the job says so.
    """

    mode: Literal["padded", "coarse"] = "padded"
    step_seconds: Seconds | None = None

    @model_validator(mode="after")
    def _step_belongs_to_coarse(self) -> Timing:
        if (self.mode == "coarse") != (self.step_seconds is not None):
            raise ValueError("step_seconds is needed with mode coarse, and only there")
        return self

    @property
    def sentence(self) -> str:
        if self.mode == "padded":
            return "The time of release is computed from public values; it says nothing about the runs."
        return (
            f"The time of release is rounded up to {self.step_seconds:g} s and runs are not on a time grid: "
            "the time can reveal in which step the last run ended, and a hostile pipeline can pass what it "
            "saw to later runs through the clock. The guarantee holds for pipelines that do not."
        )


class Policy(Model):
    """Default deny: without a name in `data_users` and an image in `images`, nothing runs."""

    data_users: tuple[Slug | Literal["*"], ...] = ()
    images: tuple[Slug, ...] = ()
    guarantees: tuple[GuaranteeClass, ...] = (GuaranteeClass.PURE_DP,)
    max_epsilon_per_job: Epsilon = "1"
    min_block_size: Annotated[Whole, Field(ge=MIN_BLOCK_SIZE, le=100_000)] = MIN_BLOCK_SIZE
    max_wall_seconds: Annotated[Number, Field(gt=0, le=86_400)] = 60
    max_memory_mib: Annotated[Whole, Field(ge=32, le=1_048_576)] = 4096
    max_processes: Annotated[Whole, Field(ge=1, le=1024)] = 256
    max_scratch_mib: Annotated[Whole, Field(ge=1, le=65_536)] = 1024
    approve_jobs: bool = False
    review_releases: bool = False
    timing: Timing = Timing()

    @property
    def max_micro_epsilon_per_job(self) -> int:
        return micro(self.max_epsilon_per_job)
