"""Trainings from the browser: a form for one table, a look at what it costs, and the button."""

from __future__ import annotations

import json
import shlex
import uuid
from datetime import UTC, datetime
from math import ceil

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk.datasets import get_budget
from desk.jobs import submit_job
from domain.admission import check_policy, check_takes_training, needs_approval, needs_review
from domain.cautions import about_request
from domain.dataset import Dataset, Table
from domain.dataset.person_size import timing_sentence
from domain.errors import Doubtful, RequestError
from domain.job import check_job_id
from domain.loss import texts
from domain.model import Slug
from domain.permissions import User
from domain.training import TrainingRequest
from domain.training.proposed import Proposed, proposed
from gateway.access import TheDatabase, TheQueue
from gateway.pages.ask import Author, ready, table_of
from gateway.pages.budget_bar import Bar, bars, binding, questions_left
from gateway.pages.dataset_facts import promise_of
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm
from gateway.pages.submit_frame import by_field, text_of, typed_texts
from gateway.pages.train_form import KINDS, MOST_COLUMNS, MOST_WITH_BOUNDS, by_name, training_of
from gateway.problems import STATUS
from store import grants

router = APIRouter(include_in_schema=False)


@router.get("/datasets/{name}/train")
def show_form(request: Request, name: Slug, user: Author, database: TheDatabase, table: str = "") -> Response:
    dataset = ready(database, name, user)
    return _page(request, user, database, dataset, table_of(dataset, table))


@router.post("/datasets/{name}/train")
def train(
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
        asked = training_of(form, dataset, table, proposed(dataset.declaration, table))
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


def _page(
    request: Request,
    user: User,
    database: TheDatabase,
    dataset: Dataset,
    table: Table,
    *,
    typed: FormData | None = None,
    asked: TrainingRequest | None = None,
    error: RequestError | None = None,
) -> Response:
    with database.reading() as connection:
        projects = grants.paying_for(connection, user, dataset.name, datetime.now(UTC))
    budget = get_budget(database, user, dataset.name)
    columns = proposed(dataset.declaration, table)
    problems = by_name(error, typed, columns) if error and typed else ()
    paying = bars(binding(budget, project=text_of(typed, "project") if typed else None))
    return page(
        request,
        "train.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        dataset=dataset,
        table=table,
        refusal=_refusal(dataset, table, columns),
        proposed=columns,
        has_bounds=len(columns.columns) <= MOST_WITH_BOUNDS,
        kinds=KINDS,
        projects=projects,
        typed=typed_texts(typed),
        ticked={str(name) for name in typed.getlist("feature")} if typed else columns.features,
        job_id=text_of(typed, "job_id") if typed else str(uuid.uuid4()),
        problems=problems,
        wrong=by_field(problems),
        bars=paying,
        answer=_answer(asked, dataset, paying) if asked else None,
    )


def _refusal(dataset: Dataset, table: Table, columns: Proposed) -> str:
    """Why no training can be asked for here; empty where one can."""
    try:
        check_takes_training(dataset)
    except RequestError as error:
        return " ".join(f"{problem.problem} {problem.fix}" for problem in error.problems)
    if len(columns.columns) > MOST_COLUMNS:
        return (
            f"{table.path} has {len(columns.columns):,} columns to choose from, more than a form sends. "
            "Use dpgate train submit."
        )
    return ""


def _answer(asked: TrainingRequest, dataset: Dataset, paying: list[Bar]) -> dict[str, object]:
    """What the release would hold, its price and when it comes; and the same for a trial on the twin."""
    declaration = dataset.declaration
    network = asked.trainer(declaration).network
    cost = {str(currency): text for currency, text in texts(asked.cost(declaration)).items()}
    model = asked.model.model_dump(mode="json", exclude_defaults=True)
    return {
        "title": asked.title,
        "inputs": network.inputs,
        "weights": network.size,
        "cost": cost,
        "times": questions_left(paying, cost),
        "promise": promise_of(asked.guarantee, asked.guarantee.sentence),
        "needs_approval": needs_approval(asked, declaration.policy),
        "needs_review": needs_review(asked, declaration.policy),
        "seconds": ceil(asked.schedule(declaration, slots=1).wall_s),
        "timing": timing_sentence(declaration),
        "cautions": about_request(asked, declaration),
        "trial": f"dpgate train try {shlex.quote(json.dumps(model))} --epsilon {asked.epsilon} "
        f"--delta {asked.delta}",
    }
