"""Better twins: what they would cost, the counts they are drawn from, and whether data users get them.

Only the rights holder of a data set asks for counts: they are charged to the budget that everybody shares.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Response

from desk.jobs import JobView
from domain.admission import check_policy
from domain.model import Model, Slug
from domain.permissions import Permission, User
from domain.review import Stage, approves
from domain.states import JobState
from domain.twin_request import PlanOrder, TwinOrder, TwinRequest
from gateway.access import TheDatabase, TheQueue, requires
from gateway.api.twin_plans import PlanView
from gateway.api.twin_views import CountsView, TwinView
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, AnId
from store import datasets, jobs, ledger, twins

router = APIRouter(prefix=PREFIX + "/datasets/{name}/twin", tags=["twins"], responses=RESPONSES)
Maker = Annotated[User, Depends(requires(Permission.TWIN_MAKE))]


class CountsVote(Model):
    """A vote about the twin that counts give; a refusal needs a reason, which reviewers alone read."""

    decision: Literal["approve", "refuse"]
    reason: str = ""


@router.get("/basis", summary="What the twin is drawn from, its level and what it promises")
def get_basis(
    name: Slug, user: Annotated[User, Depends(requires(Permission.DATASET_READ))], database: TheDatabase
) -> TwinView:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        return TwinView.of(dataset, twins.basis(connection, dataset.id))


@router.post("/plan", summary="What better twins would be worth, and what they would cost")
def plan_twin(name: Slug, order: PlanOrder, user: Maker, database: TheDatabase) -> PlanView:
    """Of the declaration alone: nothing is looked at and nothing is spent."""
    with database.reading() as connection:
        dataset = datasets.owned(connection, name, user)
        accounts = ledger.list_accounts(connection, cohort=dataset.cohort)
    return PlanView.of(dataset, order, accounts)


@router.get("/counts", summary="The counts that were asked for of the newest version, newest first")
def list_counts(
    name: Slug, user: Annotated[User, Depends(requires(Permission.TWIN_DECIDE))], database: TheDatabase
) -> list[CountsView]:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        in_use = twins.basis(connection, dataset.id).job_id
        found = twins.of_version(connection, dataset)
        return [CountsView.of(counts, dataset, user, in_use=in_use) for counts in found]


@router.put(
    "/counts/{job_id}",
    summary="Have counts made, under an id of your choice",
    responses={
        200: {"description": "This very request is on record"},
        201: {"model": JobView, "description": "New"},
    },
)
def make_counts(
    name: Slug,
    job_id: AnId,
    order: TwinOrder,
    user: Maker,
    database: TheDatabase,
    queue: TheQueue,
    response: Response,
) -> JobView:
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
    response.status_code = 201 if is_new else 200
    return view


@router.post("/counts/{job_id}/cancel", summary="Withdraw counts that are not released")
def cancel_counts(name: Slug, job_id: AnId, user: Maker, database: TheDatabase) -> JobView:
    """Before the charge the budget comes back; afterwards the charge stands."""
    with database.transaction() as connection:
        dataset = datasets.owned(connection, name, user)
        job = twins.cancel(connection, dataset, job_id, by=user.name, now=datetime.now(UTC))
        return JobView.of(job, datasets.of_job(connection, job), user)


@router.post("/counts/{job_id}/decision", summary="Approve or refuse the twin that released counts give")
def decide_counts(
    name: Slug,
    job_id: AnId,
    body: CountsVote,
    user: Annotated[User, Depends(requires(Permission.TWIN_DECIDE))],
    database: TheDatabase,
) -> CountsView:
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
