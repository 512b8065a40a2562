"""The wizard's fifth step: mechanism, block size and epsilon, with the error to expect drawn beside them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from fastapi import APIRouter, Request
from fastapi.responses import Response
from starlette.datastructures import FormData

from desk.datasets import BudgetView, get_budget
from desk.rehearsals import request_rehearsal
from domain.draft_steps import pipeline_of
from domain.errors import InvalidRequest, RequestError
from domain.job_draft import Step
from domain.model import parse
from domain.permissions import User
from domain.rehearsal import Rehearsal, RehearsalRequest
from gateway.access import TheDatabase, TheQueue
from gateway.pages import expected_error as errors
from gateway.pages.budget_bar import bars, binding
from gateway.pages.error_shown import ExpectedError, NoForecast
from gateway.pages.mechanism_form import NOISES, cards, mechanism_of, typed_of
from gateway.pages.other_errors import other_error
from gateway.pages.session import CheckedForm
from gateway.pages.submit_frame import (
    START,
    Author,
    Drafted,
    TheDraft,
    go,
    save,
    step_page,
    typed_texts,
)

router = APIRouter(include_in_schema=False)


@router.get(START + "/{draft_id}/mechanism")
def show_mechanism(request: Request, drafted: TheDraft, user: Author, database: TheDatabase) -> Response:
    if not drafted.may_see(Step.MECHANISM):
        return go(drafted.draft, drafted.furthest)
    return _page(request, drafted, user, database)


@router.post(START + "/{draft_id}/mechanism")
def keep_mechanism(
    request: Request,
    form: CheckedForm,
    drafted: TheDraft,
    user: Author,
    database: TheDatabase,
    queue: TheQueue,
) -> Response:
    """Draw the choice, have more runs made for it, or keep it and go on."""
    if not drafted.may_see(Step.MECHANISM):
        return go(drafted.draft, drafted.furthest)
    if form.get("action") in ("redraw", "again"):
        return _page(request, drafted, user, database, typed=form)
    try:
        mechanism = mechanism_of(form, drafted.dataset)
        if form.get("action") == "run":
            rehearsal_id = _run_more(drafted, mechanism["name"], user, database, queue)
            save(database, drafted, mechanism=mechanism, rehearsal=rehearsal_id)
            return go(drafted.draft, Step.MECHANISM)
    except RequestError as error:
        return _page(request, drafted, user, database, typed=form, error=error)
    save(database, drafted, mechanism=mechanism)
    return go(drafted.draft, Step.CHECK)


def _run_more(drafted: Drafted, mechanism: str, user: User, database: TheDatabase, queue: TheQueue) -> str:
    """The id of a rehearsal that takes over the runs that there are, and makes those of this mechanism."""
    before = drafted.rehearsal
    assert before is not None
    if mechanism == "sample_aggregate":
        raise InvalidRequest("mechanism", "needs no other runs.", "Keep it, or choose another one.")
    fields = {
        "dataset": drafted.content.dataset,
        "pipeline": drafted.content.pipeline,
        "block_size": before.request.block_size,
        "runs_of": before.id,
        "mechanism": mechanism,
    }
    asked = parse(RehearsalRequest, fields)
    rehearsal, _ = request_rehearsal(database, user, str(uuid.uuid4()), asked, queue)
    return rehearsal.id


def _page(
    request: Request,
    drafted: Drafted,
    user: User,
    database: TheDatabase,
    *,
    typed: FormData | None = None,
    error: RequestError | None = None,
) -> Response:
    rehearsal, policy = drafted.rehearsal, drafted.dataset.declaration.policy
    assert rehearsal is not None
    start = typed_of(
        drafted.content.mechanism,
        block_size=rehearsal.request.block_size,
        epsilon=policy.max_epsilon_per_job if float(policy.max_epsilon_per_job) < 1 else "1",
    )
    shown = start | (typed_texts(typed) if typed else {})
    if str(shown.get("action", "")) == "again":
        shown["again"] = str(int(shown["again"]) + 1) if shown["again"].isdigit() else "1"
    budget = binding(get_budget(database, user, drafted.dataset.name), project=drafted.content.project)
    expected = _expected(rehearsal, shown, drafted, budget)
    return step_page(
        request,
        user,
        drafted,
        Step.MECHANISM,
        error=error,
        typed=typed,
        shown=shown,
        cards=cards(drafted.dataset, pipeline_digest=pipeline_of(drafted.content).digest),
        policy=policy,
        bars=bars(budget),
        outputs=[value.name for value in rehearsal.values],
        sizes=errors.block_sizes(rehearsal),
        aggregators=errors.AGGREGATORS,
        noises=NOISES,
        is_waiting=rehearsal.state.is_open,
        expected=expected if isinstance(expected, ExpectedError) else None,
        no_forecast=expected if isinstance(expected, NoForecast) else None,
    )


def _expected(
    rehearsal: Rehearsal, shown: Mapping[str, str], drafted: Drafted, budget: BudgetView
) -> ExpectedError | NoForecast | None:
    declaration = drafted.dataset.declaration
    other = other_error(rehearsal, shown, declaration=declaration, budget=budget)
    if other is not None or shown.get("mechanism") != "sample_aggregate":
        return other
    return errors.expected_error(
        rehearsal,
        shown,
        left=errors.left_of(budget),
        cap=declaration.policy.max_epsilon_per_job,
        people=declaration.nominal_size,
    )
