"""The wizard's last step: everything on one page, what it costs, what happens next, and the button."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from desk.datasets import get_budget
from desk.jobs import submit_job
from domain import mechanisms
from domain.admission import check_policy, needs_approval, needs_review
from domain.cautions import about_request
from domain.channel_words import channels_of
from domain.dataset.person_size import timing_sentence
from domain.draft_steps import job_request
from domain.errors import BudgetExceeded, Doubtful, FieldProblem, RequestError
from domain.job import JobRequest
from domain.job_draft import Step
from domain.loss import texts
from domain.permissions import User
from gateway.access import TheDatabase, TheQueue
from gateway.pages import request_facts
from gateway.pages.budget_bar import Bar, bars, binding, questions_left
from gateway.pages.dataset_facts import promise_of
from gateway.pages.session import CheckedForm
from gateway.pages.submit_frame import (
    NAMES,
    START,
    Author,
    Drafted,
    TheDraft,
    go,
    path_of,
    step_page,
    text_of,
)
from store import job_drafts

router = APIRouter(include_in_schema=False)
# by the beginning of a field's name, the longest first: the step that mends it
_STEPS = (
    ("dataset_version", Step.REHEARSAL),
    ("pipeline.manifest.outputs", Step.BOUNDS),
    ("pipeline", Step.PIPELINE),
    ("shape", Step.REHEARSAL),
    ("mechanism", Step.MECHANISM),
    ("budget", Step.MECHANISM),
    ("dataset", Step.DATASET),
    ("project", Step.DATASET),
)


@dataclass(frozen=True)
class Mend:
    """A problem, and where it is mended."""

    problem: FieldProblem
    step: str
    path: str


@router.get(START + "/{draft_id}/check")
def show_check(request: Request, drafted: TheDraft, user: Author, database: TheDatabase) -> Response:
    if not drafted.may_see(Step.CHECK):
        return go(drafted.draft, drafted.furthest)
    return _page(request, drafted, user, database)


@router.post(START + "/{draft_id}/check")
def submit(
    request: Request,
    form: CheckedForm,
    drafted: TheDraft,
    user: Author,
    database: TheDatabase,
    queue: TheQueue,
) -> Response:
    """Submit by the same code as the interface. The draft's id becomes the job's: twice is once."""
    if not drafted.may_see(Step.CHECK):
        return go(drafted.draft, drafted.furthest)
    assert drafted.rehearsal is not None
    try:
        asked = job_request(drafted.content, drafted.rehearsal, version=drafted.dataset.version)
        asked = asked.model_copy(update={"anyway": text_of(form, "anyway") == "yes"})
        job, _ = submit_job(database, user, drafted.draft.id, asked, queue)
    except Doubtful:
        return _page(request, drafted, user, database)  # which says the same, and asks
    except RequestError as error:
        return _page(request, drafted, user, database, error=error)
    with database.transaction() as connection:
        job_drafts.delete(connection, drafted.draft)
    return RedirectResponse(f"/jobs/{job.id}", status_code=303)


def _page(
    request: Request,
    drafted: Drafted,
    user: User,
    database: TheDatabase,
    *,
    error: RequestError | None = None,
) -> Response:
    assert drafted.rehearsal is not None
    asked: JobRequest | None = None
    try:
        asked = job_request(drafted.content, drafted.rehearsal, version=drafted.dataset.version)
        check_policy(asked, drafted.dataset)
    except RequestError as found:
        error = error or found
    budget = get_budget(database, user, drafted.dataset.name)
    paying = bars(binding(budget, project=drafted.content.project))
    return step_page(
        request,
        user,
        drafted,
        Step.CHECK,
        error=error,
        mends=[mend_of(problem, error, drafted) for problem in error.problems] if error else [],
        bars=paying,
        summary=_summary(asked, drafted, paying) if asked else None,
        cautions=about_request(asked, drafted.dataset.declaration) if asked else (),
    )


def mend_of(problem: FieldProblem, error: RequestError, drafted: Drafted) -> Mend:
    """The step that mends a problem; a budget that does not cover it is a matter of epsilon."""
    step = next(
        (step for start, step in _STEPS if problem.field.startswith(start)),
        Step.MECHANISM if isinstance(error, BudgetExceeded) else Step.PIPELINE,
    )
    if isinstance(error, BudgetExceeded):
        step = Step.MECHANISM
    return Mend(problem, NAMES[step], path_of(drafted.draft, step))


def _summary(asked: JobRequest, drafted: Drafted, paying: list[Bar]) -> dict[str, object]:
    declaration = drafted.dataset.declaration
    cost = _cost(asked, drafted)
    return {
        "mechanism": mechanisms.summary(asked.mechanism_name),
        "choices": request_facts.choices(asked.choices()),
        "outputs": request_facts.outputs(asked),
        "promise": promise_of(asked.guarantee, asked.guarantee.sentence),
        "cost": cost,
        "times": questions_left(paying, cost),
        "needs_approval": needs_approval(asked, declaration.policy),
        "needs_review": needs_review(asked, declaration.policy),
        "timing": timing_sentence(declaration),
        "isolation": declaration.policy.isolation.sentence,
        "channels": channels_of(declaration.policy.all_accepted_channels),
        "digest": asked.pipeline.digest,
        "files": len(asked.pipeline.sources),
    }


def _cost(asked: JobRequest, drafted: Drafted) -> dict[str, str]:
    try:
        return {str(name): amount for name, amount in texts(asked.cost(drafted.dataset.declaration)).items()}
    except ValueError:  # the problem is among those that the page names
        return {}
