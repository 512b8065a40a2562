"""Better twins: what they would cost, the counts they are drawn from, and whether data users get them.

Only the rights holder of a data set asks for counts: they are charged to the budget that everybody shares.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, Field

from desk.jobs import JobView
from desk.messages import Messages
from desk.reviews import TallyView
from desk.rights import needs
from desk.twin_plans import PlanView
from domain.admission import check_policy
from domain.dataset import Dataset
from domain.model import Model, Slug
from domain.permissions import Permission, User
from domain.review import Stage, TwinState, approves
from domain.states import JobState
from domain.twin.basis import TwinBasis
from domain.twin.levels import CUSTODIAN_LABELS
from domain.twin.request import PlanOrder, TwinOrder, TwinRequest
from formats.public_report import check_report
from store import datasets, jobs, ledger, twin_reports, twins
from store.database import Database
from store.twin_reports import TwinReport
from store.twins import Counts


class TwinTableView(BaseModel):
    """One table of the twin."""

    path: str
    level: int = Field(description="0 blank form, 1 counts of columns, 2 patterns of columns and pairs")
    label: str


class TwinView(BaseModel):
    """What everybody who gets the twin may know of it."""

    dataset: str
    version: int
    level: int = Field(description="Of the best table")
    label: str
    sentence: str
    guarantee: str | None = Field(description="The class of the counts; none for the blank form")
    epsilon: str | None = Field(description="Each set of counts is charged once, for any number of twins")
    delta: str | None = Field(description="Beside epsilon, where the class is approx_dp")
    counts: str | None = Field(description="The job whose release it is drawn from")
    tables: list[TwinTableView]
    unprotected: list[str] = Field(description="What the promise does not cover")

    @classmethod
    def of(cls, dataset: Dataset, basis: TwinBasis) -> TwinView:
        levels = [(table.path, basis.level_of(table.path)) for table in dataset.declaration.tables]
        return cls(
            dataset=dataset.name,
            version=dataset.version,
            level=basis.level,
            label=basis.label,
            sentence=basis.sentence,
            guarantee=None if basis.guarantee is None else str(basis.guarantee),
            epsilon=None if basis.request is None else basis.request.epsilon,
            delta=None if basis.request is None else basis.request.delta,
            counts=basis.job_id,
            tables=[
                TwinTableView(path=path, level=level, label=CUSTODIAN_LABELS[level]) for path, level in levels
            ],
            unprotected=list(basis.unprotected()),
        )


class CountsView(BaseModel):
    """Counts that were asked for: the job that makes them, and how far their approval is."""

    job: JobView
    order: TwinOrder
    state: TwinState = Field(description="Of the approval, which follows the release")
    tally: TallyView
    is_in_use: bool = Field(description="Whether data users' twins are drawn from them")

    @classmethod
    def of(cls, counts: Counts, dataset: Dataset, user: User, *, in_use: str | None) -> CountsView:
        order = {name: getattr(counts.request, name) for name in TwinOrder.model_fields}
        return cls(
            job=JobView.of(counts.job, dataset, user),
            order=TwinOrder(**order),
            state=counts.state,
            tally=TallyView.of(Stage.TWIN, counts.tally),
            is_in_use=counts.job.id == in_use,
        )


class CountsVote(Model):
    """A vote about the twin that counts give; a refusal needs a reason, which reviewers alone read."""

    decision: Literal["approve", "refuse"]
    reason: str = ""


class HandedIn(Model):
    """`public.html` of `dpgate twin report`."""

    page: str


class ReportView(BaseModel):
    """A report of the newest version's twin. Nothing in it was computed from the original without noise: that
    is the rights holder's word, and the platform refuses pages that say otherwise of themselves."""

    page: str = Field(description="HTML that loads nothing and runs nothing; untrusted")
    digest: str
    put_by: str
    put_at: datetime

    @classmethod
    def of(cls, report: TwinReport) -> ReportView:
        return cls(page=report.page, digest=report.digest, put_by=report.put_by, put_at=report.put_at)


@needs(Permission.DATASET_READ)
def get_basis(database: Database, user: User, name: Slug) -> TwinView:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        return TwinView.of(dataset, twins.basis(connection, dataset.id))


@needs(Permission.TWIN_MAKE)
def plan_twin(database: Database, user: User, name: Slug, order: PlanOrder) -> PlanView:
    """Of the declaration alone: nothing is looked at and nothing is spent."""
    with database.reading() as connection:
        dataset = datasets.owned(connection, name, user)
        accounts = ledger.list_accounts(connection, cohort=dataset.cohort)
    return PlanView.of(dataset, order, accounts)


@needs(Permission.TWIN_DECIDE)
def list_counts(database: Database, user: User, name: Slug) -> list[CountsView]:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        in_use = twins.basis(connection, dataset.id).job_id
        found = twins.of_version(connection, dataset)
        return [CountsView.of(counts, dataset, user, in_use=in_use) for counts in found]


@needs(Permission.TWIN_MAKE)
def make_counts(
    database: Database, user: User, name: Slug, job_id: str, order: TwinOrder, queue: Messages
) -> tuple[JobView, bool]:
    """Reserves its cost; the job runs and is charged as all jobs are. The identical order again is free, a
    second one of the same data needs `again` and costs again."""
    request = TwinRequest(dataset=name, **order.model_dump())
    with database.transaction() as connection:
        # a repeat is answered from the record, also when the declaration has changed since
        own = jobs.id_of(connection, job_id, author=user.name)
        job = jobs.on_record(connection, own, author=user.name, request=request)
        is_new = job is None
        if job is None:
            dataset = datasets.owned(connection, name, user)
            dataset.check_ready()
            check_policy(request, dataset)
            job = twins.submit(
                connection,
                job_id=own,
                request=request,
                dataset=dataset,
                by=user.name,
                now=datetime.now(UTC),
            )
        view = JobView.of(job, datasets.of_job(connection, job), user)
    if is_new and job.state is JobState.QUEUED:
        queue.run_job(job.id)
    return view, is_new


@needs(Permission.TWIN_MAKE)
def cancel_counts(database: Database, user: User, name: Slug, job_id: str) -> JobView:
    """Before the charge the budget comes back; afterwards the charge stands."""
    with database.transaction() as connection:
        dataset = datasets.owned(connection, name, user)
        job = twins.cancel(connection, dataset, job_id, by=user.name, now=datetime.now(UTC))
        return JobView.of(job, datasets.of_job(connection, job), user)


@needs(Permission.TWIN_DECIDE)
def decide_counts(database: Database, user: User, name: Slug, job_id: str, body: CountsVote) -> CountsView:
    """Approved, they are what everybody's twin of this version is drawn from, for nothing, any number of
    times."""
    with database.transaction() as connection:
        dataset = datasets.newest(connection, name, user)
        found = twins.vote(
            connection,
            dataset=dataset,
            job_id=job_id,
            user=user,
            approves=approves(Stage.TWIN, body.decision),
            reason=body.reason,
            now=datetime.now(UTC),
        )
        return CountsView.of(found, dataset, user, in_use=twins.basis(connection, dataset.id).job_id)


@needs(Permission.DATASET_READ)
def get_report(database: Database, user: User, name: Slug) -> ReportView:
    with database.reading() as connection:
        return ReportView.of(twin_reports.get(connection, datasets.newest(connection, name, user)))


@needs(Permission.TWIN_MAKE)
def put_report(database: Database, user: User, name: Slug, handed_in: HandedIn) -> ReportView:
    """In place of an earlier one of this version. The part for the rights holder alone is refused."""
    page = check_report(handed_in.page.encode(errors="surrogatepass"))  # refused there, as other letters
    with database.transaction() as connection:
        dataset = datasets.owned(connection, name, user)
        return ReportView.of(twin_reports.put(connection, dataset, page, by=user.name, now=datetime.now(UTC)))


@needs(Permission.TWIN_MAKE)
def remove_report(database: Database, user: User, name: Slug) -> dict[str, str]:
    with database.transaction() as connection:
        dataset = datasets.owned(connection, name, user)
        twin_reports.remove(connection, dataset, by=user.name, now=datetime.now(UTC))
    return {"dataset": name}
