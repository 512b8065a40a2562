"""A job: one request, pipeline x data set x mechanism x privacy loss."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Discriminator, Field, StringConstraints, Tag, model_validator

from domain.asked import AskedOfPipeline
from domain.budget import cost_on
from domain.carrying import carrying_s, dying_s, people_of_run, person_s
from domain.channels import beyond_default_of
from domain.dataset import Declaration
from domain.image import SyscallTable
from domain.mechanism import BlackBox, MechanismRequest, StabilityRequest
from domain.model import Model, Slug, Whole, canonical, digest
from domain.outputs import check_people, values_of
from domain.pipeline import OutputValue, Pipeline
from domain.query import QueryRequest
from domain.refusals import jobs
from domain.schedule import Schedule
from domain.shape import Shape
from domain.states import JobState
from domain.surroundings import Backend
from domain.training import TrainingRequest
from domain.twin.request import TwinRequest
from privacy.cost import Cost
from privacy.loss import GuaranteeClass
from privacy.sample_aggregate import SampleAggregate
from privacy.two_step import TwoStepMean

JobId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{7,63}$")]


class JobRequest(AskedOfPipeline):
    """What a data user asks of a pipeline. `shape` comes from the run on the twin (`dpgate run`)."""

    dataset: Slug
    """The data set's name; its newest version that is ready."""
    pipeline: Pipeline
    shape: Shape
    mechanism: MechanismRequest
    """How outputs of runs become a release, and at what cost."""
    project: Slug | None = None
    """Spend from this project's allocation as well."""
    # on whose twin it ran: that of another version may have other columns
    dataset_version: Annotated[Whole | None, Field(ge=1, exclude_if=lambda version: version is None)] = None
    """On whose twin the pipeline ran, as its lock says; another version is refused."""

    @model_validator(mode="after")
    def _parts_fit(self) -> JobRequest:
        try:
            self.shape.check_fits(self.pipeline.manifest)
        except ValueError as error:
            raise ValueError(f"shape {error}") from None
        self.mechanism.check_outputs([value.name for value in self.values])
        check_people(self.pipeline.manifest, self.mechanism)
        if self.on_twin is not None:
            self.on_twin.check_fits(self.pipeline.digest, len(self.values))
        return self

    @property
    def values(self) -> tuple[OutputValue, ...]:
        """The numbers that may be released, in the order of every vector of this job."""
        return values_of(self.pipeline.manifest, self.shape)

    @property
    def is_of_holder(self) -> bool:
        return False

    @property
    def title(self) -> str:
        return self.pipeline.manifest.name

    @property
    def pipeline_digest(self) -> str:
        return self.pipeline.digest

    @property
    def mechanism_name(self) -> str:
        return self.mechanism.name

    @property
    def guarantee(self) -> GuaranteeClass:
        return self.mechanism.guarantee

    def choices(self) -> dict[str, Any]:
        return self.mechanism.model_dump(mode="json", exclude={"name"}, exclude_none=True)

    def question(self, *, dataset_id: str, image_digest: str | None) -> str:
        """Of snapshot, image, code, shape and everything that was chosen of the mechanism."""
        return digest(
            {
                "dataset": dataset_id,
                "image": image_digest,
                "pipeline": self.pipeline.digest,
                "shape": self.shape.model_dump(mode="json"),
                "mechanism": self.mechanism.name,
                **self.mechanism.asked(outputs=len(self.values)),
            }
        )

    def once_key(self, *, snapshot: str) -> str | None:
        """A release without a formal guarantee is one for each code and snapshot: a second, with noise of its
        own or a slightly other noise, would let the noise be averaged away."""
        if not isinstance(self.mechanism, StabilityRequest):
            return None
        return digest({"snapshot": snapshot, "pipeline": self.pipeline.digest, "once": self.mechanism.name})

    def mechanism_for(self, declaration: Declaration) -> BlackBox:
        """The mechanism with everything fixed before data is touched. Raises ValueError when it cannot be."""
        return self.mechanism.build(
            self.values, nominal_size=declaration.nominal_size, accounting=declaration.accounting
        )

    def cost(self, declaration: Declaration) -> Cost:
        mechanism = self.mechanism_for(declaration)
        pico_rho = mechanism.pico_rho if isinstance(mechanism, SampleAggregate | TwoStepMean) else None
        return cost_on(declaration.accounting, mechanism.cost, pico_rho=pico_rho)

    def schedule(self, declaration: Declaration, *, slots: int) -> Schedule:
        manifest, plan = self.pipeline.manifest, self.mechanism_for(declaration).plan
        people = people_of_run(plan, declaration)
        return Schedule(
            runs=plan.runs,
            wall_s=manifest.resources.wall_seconds + declaration.policy.timing.staging_seconds,
            slots=slots,
            nominal_size=declaration.nominal_size,
            turns=declaration.most_people if manifest.carries_on else 0,
            carrying_s=carrying_s(manifest, self.shape),
            person_s=person_s(declaration, people=people),
            people=people,
            dying_s=dying_s(manifest),
        )


def _kind(asked: Any) -> str:
    """What a body of a data user is about: a query has the field `query`, a training the field `model`."""
    if _has(asked, "model"):
        return "training_request"
    return "query_request" if _has(asked, "query") else "pipeline_request"


def _kind_on_record(asked: Any) -> str:
    """The same for a job on record: only what asks for counts of a twin has `tables`."""
    return "twin_request" if _has(asked, "tables") else _kind(asked)


def _has(asked: Any, field: str) -> bool:
    return field in asked if isinstance(asked, Mapping) else hasattr(asked, field)


UserRequest = Annotated[
    Annotated[JobRequest, Tag("pipeline_request")]
    | Annotated[QueryRequest, Tag("query_request")]
    | Annotated[TrainingRequest, Tag("training_request")],
    Discriminator(_kind),
]
"""What a data user may submit."""

AnyRequest = Annotated[
    Annotated[JobRequest, Tag("pipeline_request")]
    | Annotated[QueryRequest, Tag("query_request")]
    | Annotated[TrainingRequest, Tag("training_request")]
    | Annotated[TwinRequest, Tag("twin_request")],
    Discriminator(_kind_on_record),
]
"""Everything that a job on record may hold."""


class Reason(StrEnum):
    """Why the platform could not run a job. A fixed list: no text that has seen data becomes a reason."""

    IMAGE_CHANGED = (
        "the image is not on the worker as it was approved, or its approval was withdrawn; ask the operator"
    )
    COMMAND_MISSING = "the image has no such command for this machine; name one it has, or ask the operator"
    SNAPSHOT_MISSING = (
        "the worker does not hold the snapshot of this data set with its key; ask the operator: a job that "
        "is charged waits for a worker that does, or until it is cancelled, and its charge stands"
    )
    SANDBOX_UNAVAILABLE = (
        "the worker cannot isolate runs on this host now: it lacks something, or has to wait for other work "
        "that must be alone there, as of another platform; ask the operator to run dpgate doctor"
    )
    NOT_SYNTHETIC = (
        "the worker isolates for development only, and the data set is not declared synthetic; "
        "ask the operator"
    )
    TIMING_NOT_PADDED = (
        "the worker isolates strictly and takes data sets with padded timing only; ask the rights holder"
    )
    CHANNELS_OF_DOCKER = (
        "the worker makes runs in containers, and the policy does not accept every channel between runs that "
        f"this leaves open ({', '.join(beyond_default_of(Backend.DOCKER, SyscallTable.STRICT))}); ask the "
        "rights holder to accept them by name, or the operator for a worker with supervised sandboxes"
    )
    CHANNELS_OF_STANDARD = (
        "the image is approved for the table of system calls standard, and the policy does not accept every "
        "channel between runs that it opens "
        f"({', '.join(beyond_default_of(Backend.COLD, SyscallTable.STANDARD))}); ask the rights holder to "
        "accept them by name, or the operator to approve an image for the table strict"
    )
    CHANNELS_OF_IMAGE = (
        "the worker does not keep the image in memory, as with host-python it never does, so that a run can "
        "tell what others have read of it (page_faults), and the policy does not accept that; ask the rights "
        "holder to accept it by name, or the operator for an imported image and room for it"
    )
    ENOUGH_UNDER_WAY = (
        "its author has as many jobs under way as one person may have; it starts when one of them is "
        "released or cancelled, and nothing is charged until then"
    )
    DATASET_WITHDRAWN = "the data set was withdrawn before the job was charged; ask its rights holder"
    WORKERS_LOST = "the platform's workers failed repeatedly; ask the operator"
    LEDGER_BEHIND = (
        "the database does not agree with the worker zone's ledger, as after a restore, or cannot be read; "
        "nothing is charged or released until the operator has run dpgate ledger catch-up"
    )
    LEDGER_MISSING = (
        "the worker zone's own ledger is missing, cannot be read or has no room; nothing is charged or "
        "released until the operator has put its file back or made room"
    )
    NOT_IN_LEDGER = (
        "the worker zone's own ledger does not hold this job as it is on record, or has drawn its release "
        "before, which still verifies; its charge stands, nothing more comes of it: cancel it if it waits"
    )
    MANDATE_MISSING = (
        "the worker zone has no mandate that the rights holder signed for these data; it goes on when they "
        "have (dpgate custody sign), and nothing is charged until then"
    )
    MANDATE_EXPIRED = (
        "the rights holder's mandate for these data is over; it goes on when they have signed another "
        "(dpgate custody sign), and nothing more is charged until then"
    )
    MANDATE_DIFFERS = (
        "the rights holder's newest mandate does not allow this: version, declaration, policy or budget "
        "differ from what they signed, or an approval that it asks for is not signed (dpgate custody "
        "approve); it goes on when they have signed (dpgate custody sign), and nothing is charged until then"
    )


HELD = frozenset(
    {
        Reason.LEDGER_BEHIND,
        Reason.LEDGER_MISSING,
        Reason.NOT_IN_LEDGER,
        Reason.MANDATE_MISSING,
        Reason.MANDATE_EXPIRED,
        Reason.MANDATE_DIFFERS,
    }
)
"""Reasons that no worker can do away with: the job waits where it is, and other jobs go past it."""

WORKERS_MISSING = (
    "no worker takes jobs now; it starts when one does, and nothing is charged until then; ask the operator"
)
"""Why a job waits that may run, while no worker is there. It is not on record: it is over when one comes."""


class Job(Model):
    """A job on record."""

    id: str
    dataset_id: str
    author: str
    owner: str
    project: str | None
    # the service that submitted it for its author
    through: str | None = None
    request: AnyRequest
    image_digest: str | None
    question: str
    # of the data set's policies, the one it was submitted under
    policy_number: int = 1
    state: JobState
    attempts: int
    slots: int | None
    answered_by: str | None
    reason: Reason | None
    created_at: datetime
    charged_at: datetime | None
    due_at: datetime | None


def own_id(author: str, chosen: str) -> str:
    """The id of what an author submits under an id of their choice. It is made of both, so that whether a
    chosen id is free depends on nobody else; and of nothing else, so that a repeat finds the same."""
    return hashlib.sha256(canonical([author, chosen])).hexdigest()[:32]


def check_job_id(job_id: str) -> str:
    """The client chooses the id; raises InvalidRequest when it cannot stand in a URL."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{7,63}", job_id):
        raise jobs.JOB_ID()
    return job_id
