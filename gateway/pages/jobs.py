"""Jobs as pages: the list, one job on its way, and the button that withdraws it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk.jobs import AskedJobs, JobView, cancel_job, visible_jobs
from desk.operation import why_all_wait
from domain import mechanisms
from domain.admission import needs_review
from domain.channel_words import channels_of
from domain.errors import FieldProblem, InvalidRequest
from domain.model import parse
from domain.permissions import Permission, User, is_allowed
from domain.review import Thread, is_open
from domain.states import JobState, is_terminal
from domain.timetable import timetable_of
from gateway.access import TheDatabase
from gateway.pages import request_facts, steps
from gateway.pages.dataset_facts import promise_of
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm, page_requires
from gateway.routes import AnId
from store import comments, datasets, jobs, reviews
from store.database import Database
from store.job_lists import WantedJobs

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(page_requires(Permission.JOB_READ))]
ROWS = 100
GROUPS = {
    "": "All",
    "open": "On their way",
    "released": "Released",
    "ended": "Ended without a release",
}


@router.get("/jobs")
def list_jobs(request: Request, user: Reader, database: TheDatabase) -> Response:
    """The newest jobs that this user may see, and those that are older part by part."""
    asked = {name: request.query_params.get(name, "") for name in ("show", "dataset", "since", "before")}
    chosen = asked["show"] if asked["show"] in GROUPS else ""
    wrong: dict[str, FieldProblem] = {}
    found: list[JobView] = []
    is_last = True
    try:
        found, is_last = visible_jobs(database, user, _wanted(asked, chosen), limit=ROWS)
    except InvalidRequest as error:
        wrong = {problem.field: problem for problem in error.problems}
    kept = {name: asked[name] for name in ("dataset", "since") if asked[name]}
    return page(
        request,
        "jobs.html",
        user=user,
        jobs=found,
        wrong=wrong,
        states=steps.WORDS,
        groups=GROUPS,
        chosen=chosen,
        asked=asked,
        kept=kept,
        is_whole=not (chosen or kept or asked["before"]),
        older=None if is_last else {**kept, **({"show": chosen} if chosen else {}), "before": found[-1].id},
    )


@router.get("/jobs/{job_id}")
def show_job(request: Request, job_id: AnId, user: Reader, database: TheDatabase, seen: str = "") -> Response:
    """One job. Between the charge and the public time it looks the same whatever its runs do.

    A page that asks again says what it has `seen`, and gets nothing new while that still holds.
    """
    return job_page(request, job_id, user, database, seen=seen)


def job_page(
    request: Request,
    job_id: str,
    user: User,
    database: Database,
    *,
    seen: str = "",
    typed: FormData | None = None,
    problems: tuple[FieldProblem, ...] = (),
) -> Response:
    """The page of a job; a comment that was `typed` comes back with its `problems`."""
    with database.reading() as connection:
        job = jobs.get_visible(connection, job_id, user)
        dataset = datasets.of_job(connection, job)
        refusals = reviews.refusals(connection, job)
        may_talk = is_allowed(user, Permission.JOB_COMMENT)
        talk = comments.listed(connection, job_id=job_id, thread=Thread.JOB, user=user) if may_talk else None
        view = JobView.of(job, dataset, user, waits=why_all_wait(connection))
    now = datetime.now(UTC)
    is_late = view.due_at is not None and now > view.due_at
    timetable = timetable_of(job, dataset.declaration)
    turns_over = None if timetable is None else timetable.turns_over(now)
    shown = f"{view.state}-late" if is_late else f"{view.state}-{turns_over or 0}"
    if view.reason:
        shown += f"-{job.reason.name if job.reason else 'WORKERS_MISSING'}"
    if seen == shown:
        return Response(status_code=204)
    return page(
        request,
        "job.html",
        user=user,
        status=422 if problems else 200,
        job=view,
        dataset=dataset,
        state_words=steps.WORDS[view.state],
        refusals=refusals,
        talk=talk,
        may_write=is_open(Thread.JOB, job.state),
        typed=str(typed.get("text", "")) if typed else "",
        problems=problems,
        steps=steps.steps(view, reviewed=needs_review(job.request, dataset.declaration.policy)),
        charge=steps.charge_sentence(view),
        ended=is_terminal(view.state),
        promise=promise_of(job.request.guarantee, job.request.guarantee.sentence),
        mechanism=mechanisms.summary(view.mechanism),
        choices=request_facts.choices(view.choices),
        outputs=request_facts.outputs(job.request),
        is_late=is_late,
        turns_over=turns_over,
        isolation=dataset.declaration.policy.isolation.sentence,
        channels=channels_of(dataset.declaration.policy.all_accepted_channels),
        is_padded=dataset.declaration.policy.timing.mode == "padded",
        shown=shown,
        may_cancel=JobState.CANCELLED in view.may_become,
        may_read=is_allowed(user, Permission.RELEASE_READ),
    )


@router.post("/jobs/{job_id}/cancel")
def withdraw_job(
    job_id: AnId,
    _form: CheckedForm,
    user: Annotated[User, Depends(page_requires(Permission.JOB_CANCEL))],
    database: TheDatabase,
) -> Response:
    cancel_job(database, user, job_id)
    return RedirectResponse(f"/jobs/{job_id}", status_code=303)


def _wanted(asked: Mapping[str, str], chosen: str) -> WantedJobs:
    """Raises InvalidRequest for what cannot be understood."""
    typed = {name: asked[name] for name in ("dataset", "since", "before") if asked[name]}
    states = [state for state in JobState if chosen and group(state) == chosen]
    return parse(AskedJobs, {**typed, "state": states}).wanted


def group(state: JobState) -> str:
    """Under which heading of the list a job stands."""
    if state is JobState.RELEASED:
        return "released"
    return "ended" if is_terminal(state) else "open"
