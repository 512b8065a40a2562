"""Jobs: submit, look, decide, read the release."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

import sqlalchemy as sa
from fastapi import APIRouter, Body, Depends, Path, Response
from pydantic import AfterValidator, BaseModel, Field

from domain.dataset import Dataset, DatasetState
from domain.errors import Conflict
from domain.job import Job, JobRequest, check_job_id, check_policy
from domain.permissions import Permission, Role, User, check_independent
from domain.release import Release
from domain.states import Actor, JobState, next_states
from gateway.access import TheDatabase, TheQueue, requires
from gateway.problems import RESPONSES
from store import datasets, images, jobs, releases

router = APIRouter(prefix="/jobs", tags=["jobs"], responses=RESPONSES)
AnId = Annotated[str, AfterValidator(check_job_id), Path(description="8 to 64 letters, digits, - or _")]

EXAMPLE = {
    "dataset": "heights",
    "pipeline": {
        "manifest": {
            "name": "mean-age",
            "image": "python",
            "command": ["python3", "/pipeline/main.py"],
            "outputs": [
                {"file": "result.tsv", "values": [{"name": "mean_age", "lower": 0, "upper": 120}]},
            ],
        },
        "sources": [{"path": "main.py", "content_base64": "cHJpbnQoMSkK"}],
    },
    "shape": {"files": [{"file": "result.tsv", "rows": [["mean_age"], [None]]}]},
    "epsilon": "0.5",
}


class JobView(BaseModel):
    """A job. Between the charge and `due_at` it looks the same whatever its runs do."""

    id: str
    state: JobState
    dataset: str
    dataset_version: int
    author: str
    project: str | None
    pipeline: str
    pipeline_digest: str
    mechanism: str
    guarantee: str
    epsilon: str
    blocks: int
    block_size: int
    created_at: datetime
    charged_at: datetime | None
    due_at: datetime | None = Field(description="When a padded job's release becomes visible; public")
    timing: str
    answered_by: str | None = Field(description="The job whose release answers this identical question, free")
    reason: str | None = Field(description="Why the platform could not run it, if so")
    may_become: list[JobState] = Field(description="What this user may move it to")

    @classmethod
    def of(cls, job: Job, dataset: Dataset, user: User) -> JobView:
        request = job.request
        return cls(
            id=job.id,
            state=job.state,
            dataset=dataset.name,
            dataset_version=dataset.version,
            author=job.author,
            project=job.project,
            pipeline=request.pipeline.manifest.name,
            pipeline_digest=request.pipeline.digest,
            mechanism=request.mechanism,
            guarantee=request.guarantee,
            epsilon=request.epsilon,
            blocks=request.blocks(dataset.declaration.nominal_size),
            block_size=request.block_size,
            created_at=job.created_at,
            charged_at=job.charged_at,
            due_at=job.due_at,
            timing=dataset.declaration.policy.timing.sentence,
            answered_by=job.answered_by,
            reason=job.reason,
            may_become=list(next_states(job.state, Actor(user.role))),
        )


@router.put(
    "/{job_id}",
    summary="Submit a job under an id of your choice",
    responses={
        200: {"description": "This very request is on record"},
        201: {"model": JobView, "description": "New"},
    },
)
def submit_job(
    job_id: AnId,
    request: Annotated[JobRequest, Body(examples=[EXAMPLE])],
    user: Annotated[User, Depends(requires(Permission.JOB_SUBMIT))],
    database: TheDatabase,
    queue: TheQueue,
    response: Response,
) -> JobView:
    """Idempotent: 201 for a new job, 200 when this request stands under the id, 409 when another does."""
    with database.transaction() as connection:
        # a repeat is answered from the record, also when the policy has changed since
        present = jobs.on_record(connection, job_id, author=user.name, request=request)
        job, is_new = (present, False) if present else _submit(connection, job_id, request, user)
        view = _view(connection, job, user)
    if is_new and job.state is JobState.QUEUED:
        queue.run_job(job.id)
    response.status_code = 201 if is_new else 200
    return view


@router.get("", summary="Your jobs, newest first")
def list_jobs(
    user: Annotated[User, Depends(requires(Permission.JOB_READ))], database: TheDatabase
) -> list[JobView]:
    with database.reading() as connection:
        return [_view(connection, job, user) for job in jobs.visible_to(connection, user)]


@router.get("/{job_id}", summary="One job")
def get_job(
    job_id: AnId, user: Annotated[User, Depends(requires(Permission.JOB_READ))], database: TheDatabase
) -> JobView:
    with database.reading() as connection:
        return _view(connection, jobs.get_visible(connection, job_id, user), user)


@router.post("/{job_id}/cancel", summary="Withdraw a job")
def cancel_job(
    job_id: AnId, user: Annotated[User, Depends(requires(Permission.JOB_CANCEL))], database: TheDatabase
) -> JobView:
    """Before the charge the budget comes back; afterwards the charge stands."""
    return _decide(database, job_id, user, JobState.CANCELLED)


@router.post("/{job_id}/decision", summary="Approve or reject a job before it runs")
def decide_job(
    job_id: AnId,
    decision: Literal["approve", "reject"],
    user: Annotated[User, Depends(requires(Permission.JOB_DECIDE))],
    database: TheDatabase,
    queue: TheQueue,
) -> JobView:
    view = _decide(database, job_id, user, JobState.QUEUED if decision == "approve" else JobState.REJECTED)
    if view.state is JobState.QUEUED:
        queue.run_job(job_id)
    return view


@router.get("/{job_id}/release", summary="The release: noised values, files, certificate")
def get_release(
    job_id: AnId, user: Annotated[User, Depends(requires(Permission.RELEASE_READ))], database: TheDatabase
) -> Release:
    with database.reading() as connection:
        return releases.read(connection, jobs.get_visible(connection, job_id, user))


@router.get("/{job_id}/review", summary="A release that waits for review")
def get_review(
    job_id: AnId, user: Annotated[User, Depends(requires(Permission.RELEASE_DECIDE))], database: TheDatabase
) -> Release:
    with database.reading() as connection:
        return releases.read_for_review(connection, jobs.get_visible(connection, job_id, user))


@router.post("/{job_id}/review", summary="Release or withhold after review")
def decide_release(
    job_id: AnId,
    decision: Literal["release", "withhold"],
    user: Annotated[User, Depends(requires(Permission.RELEASE_DECIDE))],
    database: TheDatabase,
) -> JobView:
    """A decision that looks at the release is itself one data-dependent bit; it is outside the guarantee."""
    return _decide(database, job_id, user, JobState.RELEASED if decision == "release" else JobState.WITHHELD)


def _submit(connection: sa.Connection, job_id: str, request: JobRequest, user: User) -> tuple[Job, bool]:
    dataset = _ready(connection, request.dataset, user)
    check_policy(request, dataset)
    image = images.approved(connection, request.pipeline.manifest.image)
    job, is_new = jobs.submit(
        connection,
        job_id=job_id,
        author=user.name,
        dataset_id=dataset.id,
        cohort=dataset.cohort,
        request=request,
        image_digest=image.digest,
        now=datetime.now(UTC),
    )
    if is_new and job.state is JobState.SUBMITTED and not dataset.declaration.policy.approve_jobs:
        _move(connection, job, JobState.QUEUED, Actor.POLICY)
    return jobs.get(connection, job_id), is_new


def _ready(connection: sa.Connection, name: str, user: User) -> Dataset:
    dataset = datasets.newest(connection, name, user)
    if dataset.state is not DatasetState.READY:
        raise Conflict("dataset", f"{name} is {dataset.state}.", "Wait until it is READY.")
    return dataset


def _decide(database: TheDatabase, job_id: str, user: User, after: JobState) -> JobView:
    with database.transaction() as connection:
        job = jobs.get_visible(connection, job_id, user)
        if user.role is Role.RIGHTS_HOLDER:
            check_independent(user, author=job.author)
        _move(connection, job, after, Actor(user.role), by=user.name)
        return _view(connection, jobs.get(connection, job_id), user)


def _move(
    connection: sa.Connection, job: Job, after: JobState, actor: Actor, *, by: str | None = None
) -> None:
    if not jobs.move(connection, job.id, job.state, after, actor=actor, by=by, now=datetime.now(UTC)):
        raise Conflict("job", "the job has just moved on.", "Look at it again.")


def _view(connection: sa.Connection, job: Job, user: User) -> JobView:
    return JobView.of(job, datasets.get(connection, job.dataset_id), user)
