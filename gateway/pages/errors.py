"""Errors of pages, as pages: the same words as the API's, for people who came with a browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ExceptionHandler

from domain.errors import (
    Conflict,
    FieldProblem,
    InvalidRequest,
    NotAllowed,
    NotFound,
    RequestError,
    Spoilt,
    TooMany,
    UnderMaintenance,
)
from domain.permissions import User
from domain.places import place
from gateway.pages.layout import page
from gateway.pages.session import logged_in
from gateway.problems import STATUS
from store.database import NO_ANSWER

API = "/api/"
TITLES = {
    404: "There is no such page",
    405: "This page does not take that",
    413: "Too large",
}
# the fields of an address or of a whole request: their names tell a reader of pages nothing
NAMELESS = {"grant", "project", "user", "job", "dataset", "name", "form", "state", "address", "maintenance"}


def install(app: FastAPI) -> None:
    """Answer with a page wherever the request was for one. The API's answers stay as they are."""
    for kind, shown in (
        (RequestError, _refused),
        (RequestValidationError, _not_an_address),
        (HTTPException, _http_error),
    ):
        app.add_exception_handler(kind, _by_audience(app.exception_handlers[kind], shown))


def _by_audience(for_programs: ExceptionHandler, for_people: Any) -> Any:
    async def answer(request: Request, error: Exception) -> Any:
        if request.url.path.startswith(API):
            return await for_programs(request, error)  # type: ignore[arg-type, misc]
        # to look for a menu asks the database, and this thread answers everybody
        return await run_in_threadpool(for_people, request, error)

    return answer


def _refused(request: Request, error: RequestError) -> Response:
    status = STATUS[type(error)]
    names_no_job = isinstance(error, InvalidRequest) and error.problems[0].field == "job_id"
    if names_no_job:
        return _page(request, 404, TITLES[404], [FieldProblem("", "No job can have this address.", "")])
    if isinstance(error, NotFound):
        # commands that help at a terminal do not help here
        problems = [FieldProblem("", "There is nothing by that name that you may see.", "")]
    else:
        problems = [_shown(problem) for problem in error.problems]
    title = "You may not do this" if isinstance(error, NotAllowed) else error.title
    if isinstance(error, Conflict) and not isinstance(error, Spoilt):
        title = "This has changed in the meantime"
    kept = getattr(request.state, "typed", []) if isinstance(error, UnderMaintenance) else []
    answer = _page(request, status, title, problems, kept=kept)
    if isinstance(error, TooMany | UnderMaintenance):
        answer.headers["Retry-After"] = str(error.retry_after_s)
    return answer


def _not_an_address(request: Request, _error: RequestValidationError) -> Response:
    return _page(request, 404, TITLES[404], [FieldProblem("", "Nothing can have this address.", "")])


def _http_error(request: Request, error: HTTPException) -> Response:
    title = TITLES.get(error.status_code, str(error.detail))
    answer = _page(request, error.status_code, title, [FieldProblem("", "Look at the address again.", "")])
    answer.headers.update(error.headers or {})
    return answer


def _page(
    request: Request,
    status: int,
    title: str,
    problems: list[FieldProblem],
    *,
    kept: Sequence[tuple[str, str]] = (),
) -> Response:
    return page(
        request,
        "problem.html",
        user=_reader(request),
        status=status,
        title=title,
        number=status,
        problems=problems,
        back="/",
        back_name="To the first page",
        kept=kept,
        again=request.url.path,
    )


def _reader(request: Request) -> User | None:
    """Whose menu the page has. A page that says what is wrong has none where the database does not answer."""
    try:
        return logged_in(request)
    except NO_ANSWER:
        return None


def _shown(problem: FieldProblem) -> FieldProblem:
    field = "" if problem.field in NAMELESS else problem.field
    text = problem.problem[:1].upper() + problem.problem[1:] if not place(field) else problem.problem
    return FieldProblem(field, text, problem.fix, problem.code)
