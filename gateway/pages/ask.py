"""Trusted queries from the browser: a form for one table, a look at what it costs, and the button."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk.datasets import get_budget
from desk.jobs import submit_job
from domain.admission import check_policy, needs_approval
from domain.cautions import about_request
from domain.dataset import Dataset, Table
from domain.errors import Doubtful, RequestError
from domain.job import check_job_id
from domain.loss import texts
from domain.model import Slug
from domain.permissions import Permission, User
from domain.query import QUERIES, QueryRequest
from domain.query.expected import expected_noise, noise_words
from gateway.access import TheDatabase, TheQueue
from gateway.pages.ask_form import CONDITIONS, OPERATORS, query_of
from gateway.pages.budget_bar import Bar, bars, binding, questions_left
from gateway.pages.dataset_facts import promise_of
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm, page_requires
from gateway.pages.submit_frame import by_field, text_of, typed_texts
from gateway.problems import STATUS
from store import datasets, grants

router = APIRouter(include_in_schema=False)
Author = Annotated[User, Depends(page_requires(Permission.JOB_SUBMIT))]
MOST_NAMES = 30


@router.get("/datasets/{name}/ask")
def show_form(request: Request, name: Slug, user: Author, database: TheDatabase, table: str = "") -> Response:
    dataset = ready(database, name, user)
    return _page(request, user, database, dataset, table_of(dataset, table))


@router.post("/datasets/{name}/ask")
def ask(
    request: Request,
    name: Slug,
    form: CheckedForm,
    user: Author,
    database: TheDatabase,
    queue: TheQueue,
) -> Response:
    """Show what it would cost, or submit it. The form carries the job's id: sent twice, it is one job."""
    dataset = ready(database, name, user)
    table = table_of(dataset, text_of(form, "table"))
    asked = None
    try:
        asked = query_of(form, dataset, table)
        check_policy(asked, dataset)
        if form.get("action") == "submit":
            job_id = check_job_id(text_of(form, "job_id"))
            asked = asked.model_copy(update={"anyway": text_of(form, "anyway") == "yes"})
            job, _ = submit_job(database, user, job_id, asked, queue)
            return RedirectResponse(f"/jobs/{job.id}", status_code=303)
    except Doubtful:
        pass  # the answer says the same, and asks
    except RequestError as error:
        return _page(request, user, database, dataset, table, typed=form, error=error)
    return _page(request, user, database, dataset, table, typed=form, asked=asked)


def ready(database: TheDatabase, name: str, user: User) -> Dataset:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
    dataset.check_ready()
    return dataset


def table_of(dataset: Dataset, path: str) -> Table:
    """The table of this path, or that of the privacy unit."""
    declared = {table.path: table for table in dataset.declaration.tables}
    return declared.get(path) or declared[dataset.declaration.privacy_unit.table]


def _page(
    request: Request,
    user: User,
    database: TheDatabase,
    dataset: Dataset,
    table: Table,
    *,
    typed: FormData | None = None,
    asked: QueryRequest | None = None,
    error: RequestError | None = None,
) -> Response:
    with database.reading() as connection:
        projects = grants.paying_for(connection, user, dataset.name, datetime.now(UTC))
    budget = get_budget(database, user, dataset.name)
    paying = bars(binding(budget, project=text_of(typed, "project") if typed else None))
    return page(
        request,
        "ask.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        dataset=dataset,
        table=table,
        numeric=[column for column in table.columns if column.kind in ("integer", "number")],
        categorical=[column for column in table.columns if column.kind == "categorical"],
        kinds={name: kind.words for name, kind in QUERIES.items()},
        operators=OPERATORS,
        conditions=range(CONDITIONS),
        projects=projects,
        typed=typed_texts(typed),
        ticked=[str(name) for name in typed.getlist("columns")] if typed else [],
        grouped=[str(name) for name in typed.getlist("by")] if typed else [],
        job_id=text_of(typed, "job_id") if typed else str(uuid.uuid4()),
        problems=error.problems if error else (),
        wrong=by_field(error.problems) if error else {},
        bars=paying,
        answer=_answer(asked, dataset, paying) if asked else None,
    )


def _answer(asked: QueryRequest, dataset: Dataset, paying: list[Bar]) -> dict[str, object]:
    """What the release would hold, and its price."""
    names = asked.outputs(dataset.declaration)
    cost = {str(currency): text for currency, text in texts(asked.cost(dataset.declaration)).items()}
    return {
        "title": asked.title,
        "names": names[:MOST_NAMES],
        "more": max(0, len(names) - MOST_NAMES),
        "cost": cost,
        "times": questions_left(paying, cost),
        "promise": promise_of(asked.guarantee, asked.guarantee.sentence),
        "needs_approval": needs_approval(asked, dataset.declaration.policy),
        "noise": noise_words(expected_noise(asked, dataset.declaration), dataset.declaration.nominal_size),
        "cautions": about_request(asked, dataset.declaration),
    }
