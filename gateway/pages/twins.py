"""The page on which a rights holder has better twins made: what they are worth, and who gets them."""

from __future__ import annotations

import uuid
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk import twins as desk
from desk.datasets import get_budget
from desk.twin_plans import PlanView
from desk.twins import CountsView
from domain.dataset import Dataset, DatasetState
from domain.errors import FieldProblem, RequestError
from domain.job import check_job_id
from domain.model import Slug
from domain.permissions import Permission, User
from domain.policy import ALL_GUARANTEES
from domain.states import is_terminal
from domain.twin import has_cells
from domain.twin.basis import SHORT
from domain.twin.levels import CUSTODIAN_LABELS, SHOWS
from gateway.access import TheDatabase, TheQueue
from gateway.pages import steps
from gateway.pages.budget_bar import whole
from gateway.pages.dataset_facts import promise_of
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm, page_requires
from gateway.pages.submit_frame import by_field, text_of, typed_texts
from gateway.pages.twin_form import order_of, planned_bars, ticked_columns
from gateway.problems import STATUS
from gateway.routes import AnId
from store import datasets, twin_reports, twins

router = APIRouter(include_in_schema=False)
Reviewer = Annotated[User, Depends(page_requires(Permission.TWIN_DECIDE))]
Maker = Annotated[User, Depends(page_requires(Permission.TWIN_MAKE))]
MOST_COLUMNS = 200
"""So many boxes of one table; those of wider tables are chosen on the command line."""


@router.get("/datasets/{name}/twins")
def show_twins(request: Request, name: Slug, user: Reviewer, database: TheDatabase) -> Response:
    return _page(request, name, user, database)


@router.post("/datasets/{name}/twins")
def ask(
    request: Request, name: Slug, form: CheckedForm, user: Maker, database: TheDatabase, queue: TheQueue
) -> Response:
    """Show what the counts would be worth and cost, or have them made. The form carries the job's id: sent
    twice, it is one job."""
    try:
        with database.reading() as connection:
            dataset = datasets.owned(connection, name, user)
        order = order_of(form, dataset.declaration)
        if form.get("action") != "make":
            plan = desk.plan_twin(database, user, name, order)
            return _page(request, name, user, database, typed=form, plan=plan)
        job_id = check_job_id(text_of(form, "job_id"))
        desk.make_counts(database, user, name, job_id, order.to_make(), queue)
    except RequestError as error:
        return _page(request, name, user, database, typed=form, error=error)
    return RedirectResponse(f"/datasets/{name}/twins#counts", status_code=303)


@router.post("/datasets/{name}/twins/{job_id}/decision")
def decide(
    request: Request, name: Slug, job_id: AnId, form: CheckedForm, user: Reviewer, database: TheDatabase
) -> Response:
    """Approve or refuse what counts give. What was typed is kept on refusal."""
    word = "approve" if form.get("decision") == "approve" else "refuse"
    try:
        vote = desk.CountsVote(decision=word, reason=text_of(form, "reason"))
        desk.decide_counts(database, user, name, job_id, vote)
    except RequestError as error:
        return _page(request, name, user, database, typed=form, error=error, about=job_id)
    return RedirectResponse(f"/datasets/{name}/twins#counts", status_code=303)


@router.post("/datasets/{name}/twins/{job_id}/cancel")
def cancel(name: Slug, job_id: AnId, _form: CheckedForm, user: Maker, database: TheDatabase) -> Response:
    desk.cancel_counts(database, user, name, job_id)
    return RedirectResponse(f"/datasets/{name}/twins#counts", status_code=303)


def _page(
    request: Request,
    name: str,
    user: User,
    database: TheDatabase,
    *,
    typed: FormData | None = None,
    plan: PlanView | None = None,
    error: RequestError | None = None,
    about: str = "",
) -> Response:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        basis = twins.basis(connection, dataset.id)
        has_report = twin_reports.has(connection, dataset)
        found = [
            CountsView.of(counts, dataset, user, in_use=basis.job_id)
            for counts in twins.of_version(connection, dataset)
        ]
    problems: tuple[FieldProblem, ...] = error.problems if error else ()
    bars = whole(get_budget(database, user, name))
    promised = next(one for one in ALL_GUARANTEES if one == (plan.guarantee if plan else "pure_dp"))
    return page(
        request,
        "twins.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        dataset=dataset,
        basis=basis,
        has_report=has_report,
        levels=[(level, SHORT[level], CUSTODIAN_LABELS[level], SHOWS[level]) for level in SHORT],
        counts=found,
        states=steps.WORDS,
        moving={counts.job.id for counts in found if not is_terminal(counts.job.state)},
        is_owner=user.name == dataset.owner,
        ready=dataset.state is DatasetState.READY,
        tables=_tables(dataset),
        most_columns=MOST_COLUMNS,
        ticked=ticked_columns(typed, dataset.declaration) if typed else {},
        typed=typed_texts(typed),
        job_id=text_of(typed, "job_id") if typed and "job_id" in typed else str(uuid.uuid4()),
        problems=() if about else problems,
        wrong={} if about else by_field(problems),
        about=about,
        said=problems if about else (),
        plan=plan,
        bars=planned_bars(bars, plan) if plan else bars,
        promise=promise_of(promised, promised.sentence),
        takes_delta="approx_dp" in dataset.declaration.policy.guarantees,
    )


def _tables(dataset: Dataset) -> list[tuple[str, bool, list[str]]]:
    """Path, whether a person has many rows, and the columns that can be counted."""
    return [
        (table.path, table.rows_per_person == "many", [c.name for c in table.columns if has_cells(c)])
        for table in dataset.declaration.tables
    ]
