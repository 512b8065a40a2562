"""Jobs: submit, look, withdraw, read the release."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated, Any

import sqlalchemy as sa
from pydantic import BaseModel, Field

from desk.doubts import check_doubts
from desk.messages import Messages
from desk.operation import why_all_wait
from desk.rights import needs
from domain.accepting import check_channels
from domain.admission import check_policy, check_project, check_version, epsilon_of, needs_approval
from domain.citation import citation
from domain.dataset import Dataset
from domain.dataset.person_size import timing_sentence
from domain.image import SyscallTable
from domain.job import Job, JobId, JobRequest, UserRequest
from domain.loss import Currency, texts
from domain.model import Model, Slug
from domain.notice import NoticeKind
from domain.operation import WorkerState
from domain.permissions import Permission, User
from domain.refusals import jobs as refusals
from domain.release import Release
from domain.states import Actor, JobState, next_states
from domain.timetable import timetable_of
from domain.worker_profiles import check_workers
from store import datasets, grants, images, job_lists, job_notices, jobs, ledger, releases, workers
from store.clock import database_time
from store.database import Database
from store.job_lists import WantedJobs

MOST_JOBS = 1000


class JobView(BaseModel):
    """A job. Between the charge and `due_at` it looks the same whatever its runs do."""

    id: str
    state: JobState
    dataset: str
    dataset_version: int
    author: str
    project: str | None
    through: str | None = Field(description="The service that submitted it for its author, if one did")
    title: str = Field(description="The pipeline's name, or what a query asks")
    pipeline_digest: str | None
    mechanism: str
    choices: dict[str, Any] = Field(description="What was chosen of the mechanism")
    guarantee: str
    cost: dict[str, str] = Field(description="What the release takes of each account, by currency")
    runs: int
    created_at: datetime
    charged_at: datetime | None
    due_at: datetime | None = Field(
        description="When a padded job's release becomes visible; with coarse timing, before when it is "
        "planned to. Public"
    )
    begins_at: datetime | None = Field(description="From when a padded job's runs have their turns; public")
    turns: int | None = Field(
        description="Turns of a padded job that runs, from begins_at to due_at; what runs do is not counted"
    )
    timing: str
    isolation: str = Field(
        description="How runs are kept from each other, and by what they may still signal; empty where no "
        "pipeline runs"
    )
    answered_by: str | None = Field(description="The job whose release answers this identical question, free")
    reason: str | None = Field(description="Why the platform could not run it, or lets it wait, if so")
    may_become: list[JobState] = Field(description="What this user may move it to")

    @classmethod
    def of(cls, job: Job, dataset: Dataset, user: User, *, waits: str | None = None) -> JobView:
        """`waits`: of `why_all_wait`."""
        request, declaration = job.request, dataset.declaration
        timetable = timetable_of(job, declaration)
        return cls(
            id=job.id,
            state=job.state,
            dataset=dataset.name,
            dataset_version=dataset.version,
            author=job.author,
            project=job.project,
            through=job.through,
            title=request.title,
            pipeline_digest=request.pipeline_digest,
            mechanism=request.mechanism_name,
            choices=request.choices(),
            guarantee=request.guarantee,
            cost=texts(request.cost(declaration)),
            runs=request.schedule(declaration, slots=1).runs,
            created_at=job.created_at,
            charged_at=job.charged_at,
            due_at=job.due_at,
            begins_at=timetable and timetable.begins_at,
            turns=timetable and timetable.turns,
            timing=timing_sentence(declaration),
            isolation=declaration.policy.isolation_sentence if isinstance(request, JobRequest) else "",
            answered_by=job.answered_by,
            reason=job.reason or (waits if job.state is JobState.QUEUED else None),
            may_become=list(next_states(job.state, actor_of(job, user))),
        )


class AskedJobs(Model):
    """Which jobs: those that have all of it. `before` is the id of a job, for the next part."""

    state: Annotated[tuple[JobState, ...], Field(max_length=len(JobState), description="Any of these")] = ()
    dataset: Annotated[Slug | None, Field(description="All its versions")] = None
    since: Annotated[date | None, Field(description="Submitted on this day (UTC) or later")] = None
    before: Annotated[JobId | None, Field(description="Of the last one so far")] = None
    limit: Annotated[int, Field(ge=1, le=MOST_JOBS)] = 100

    @property
    def wanted(self) -> WantedJobs:
        return WantedJobs(self.state, self.dataset or "", self.since, self.before or "")

    def after(self, last: JobView) -> dict[str, Any]:
        """What to ask for the next part."""
        return self.model_dump(mode="json", exclude_defaults=True) | {"before": last.id}


class CitationView(BaseModel):
    """Names the data set, the release and its guarantee."""

    text: str = Field(description="For a list of references")
    bibtex: str = Field(description="For a file of them")


def actor_of(job: Job, user: User) -> Actor:
    """As whom this user moves the job: its author stands where the table says data user, whatever their
    role; only counts of twins have rights holders as authors."""
    return Actor.DATA_USER if user.name == job.author else Actor(user.role)


@needs(Permission.JOB_SUBMIT)
def submit_job(
    database: Database, user: User, job_id: str, request: UserRequest, queue: Messages
) -> tuple[JobView, bool]:
    """Idempotent: 201 for a new job, 200 when this request of yours stands under the id, 409 when another of
    yours does. The `id` in the answer is made of your name and your choice; you can use either. A job that
    would hardly be of use is refused with what speaks against it, unless the request says `anyway`."""
    with database.transaction() as connection:
        # a repeat is answered from the record, also when the policy has changed since
        own = jobs.id_of(connection, job_id, author=user.name)
        present = jobs.on_record(connection, own, author=user.name, request=request.kept())
        job, is_new = (present, False) if present else _submit(connection, own, request, user)
        view = _view(connection, job, user)
    if is_new and job.state is JobState.QUEUED:
        queue.run_job(job.id)
    return view, is_new


@needs(Permission.JOB_READ)
def get_job(database: Database, user: User, job_id: str) -> JobView:
    with database.reading() as connection:
        return _view(connection, jobs.get_visible(connection, job_id, user), user)


@needs(Permission.JOB_CANCEL)
def cancel_job(database: Database, user: User, job_id: str) -> JobView:
    """Before the charge the budget comes back; afterwards the charge stands."""
    with database.transaction() as connection:
        job = jobs.get_visible(connection, job_id, user)
        _move(connection, job, JobState.CANCELLED, actor_of(job, user), by=user)
        return _view(connection, jobs.get(connection, job.id), user)


@needs(Permission.RELEASE_READ)
def get_release(database: Database, user: User, job_id: str) -> Release:
    with database.reading() as connection:
        return releases.read(connection, jobs.get_visible(connection, job_id, user))


@needs(Permission.RELEASE_READ)
def get_citation(database: Database, user: User, job_id: str) -> CitationView:
    with database.reading() as connection:
        job = jobs.get_visible(connection, job_id, user)
        dataset, release = datasets.of_job(connection, job), releases.read(connection, job)
    return CitationView(**vars(citation(dataset.declaration, release)))


@needs(Permission.JOB_READ)
def visible_jobs(
    database: Database, user: User, wanted: WantedJobs, *, limit: int
) -> tuple[list[JobView], bool]:
    """So many jobs that this user may see and wants, newest first; and whether there are no more."""
    with database.reading() as connection:
        found = job_lists.visible_to(connection, user, wanted, limit=limit + 1)
        pairs, waits = datasets.of_jobs(connection, found[:limit]), why_all_wait(connection)
    views = [JobView.of(job, dataset, user, waits=waits) for job, dataset in pairs]
    return views, len(found) <= limit


def _submit(connection: sa.Connection, job_id: str, request: UserRequest, user: User) -> tuple[Job, bool]:
    dataset = _usable(connection, request, user)
    check_version(request, dataset)
    check_policy(request, dataset, through=user.through)
    image = _image(connection, request)
    _check_there(connection, request, dataset, image)
    job, is_new = jobs.submit(
        connection,
        job_id=job_id,
        author=user.name,
        dataset=dataset,
        request=request.kept(),
        through=user.through,
        image_digest=None if image is None else image.digest,
        now=datetime.now(UTC),
    )
    if is_new and job.state is JobState.SUBMITTED:
        _check_project(connection, job, dataset)
        check_doubts(connection, request, dataset, user)
        if not needs_approval(request, dataset.declaration.policy):
            _move(connection, job, JobState.QUEUED, Actor.POLICY)
        else:
            job_notices.tell_reviewers(connection, NoticeKind.JOB_WAITS, job, dataset, datetime.now(UTC))
    return jobs.get(connection, job_id), is_new


def _check_there(
    connection: sa.Connection, request: UserRequest, dataset: Dataset, image: images.Image | None
) -> None:
    """Raises when each of the workers that take jobs would leave this one to others."""
    listed = workers.listed(connection, now=database_time(connection))
    live = [one for one in listed if one.state is WorkerState.LIVE]
    check_workers(request, dataset, {one.profile for one in live})
    if image is not None:
        check_channels(
            request,
            dataset,
            kind=image.kind,
            syscalls=image.syscalls or SyscallTable.STRICT,
            sandboxes={one.sandbox for one in live},
        )


def _check_project(connection: sa.Connection, job: Job, dataset: Dataset) -> None:
    """After the reservation, which holds the project's account until this transaction ends: two jobs at the
    same moment cannot both fit. A refusal undoes the reservation."""
    policy = dataset.declaration.policy
    if job.project is None or policy.max_epsilon_per_project is None or epsilon_of(job.request) is None:
        return
    account = ledger.find_account(
        connection, cohort=dataset.cohort, kind="project", holder=job.project, currency=Currency.EPSILON
    )
    if account is None:
        # the reservation was of this account; without it nothing could be counted
        raise refusals.NO_SHARE(currency=Currency.EPSILON, project=job.project, author=job.author)
    check_project(dataset, project=job.project, micro_epsilon=account.reserved + account.spent)


def _image(connection: sa.Connection, request: UserRequest) -> images.Image | None:
    """The approved image of a pipeline; a query needs none."""
    if isinstance(request, JobRequest):
        return images.approved(connection, request.pipeline.manifest.image)
    return None


def _usable(connection: sa.Connection, request: UserRequest, user: User) -> Dataset:
    """The data set that the request may use: for a project that it was granted to, or by its policy."""
    now = datetime.now(UTC)
    if request.project is not None:
        grants.check_spending(
            connection, user=user, project=request.project, dataset=request.dataset, now=now
        )
    dataset = _ready(connection, request.dataset, user)
    if request.project is None:
        grants.check_named(connection, user, dataset, now)
    return dataset


def _ready(connection: sa.Connection, name: str, user: User) -> Dataset:
    dataset = datasets.newest(connection, name, user)
    dataset.check_ready()
    return dataset


def _move(
    connection: sa.Connection, job: Job, after: JobState, actor: Actor, *, by: User | None = None
) -> None:
    name, through = (None, None) if by is None else (by.name, by.through)
    now = datetime.now(UTC)
    if not jobs.move(connection, job.id, job.state, after, actor=actor, by=name, through=through, now=now):
        raise refusals.MOVED_ON()


def _view(connection: sa.Connection, job: Job, user: User) -> JobView:
    return JobView.of(job, datasets.of_job(connection, job), user, waits=why_all_wait(connection))
