"""Errors as problem+json (RFC 9457), each naming the field and the fix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema
from starlette.exceptions import HTTPException

from domain import errors
from domain.errors import FieldProblem, InvalidRequest, RequestError, Unready
from domain.model import invalid
from store.full_disk import is_full_for_database

MEDIA_TYPE = "application/problem+json"
# an answer stays small, whatever was sent
MAX_PROBLEMS = 20
MAX_TEXT = 1000

STATUS: dict[type[RequestError], int] = {
    errors.InvalidRequest: 422,
    errors.Unauthenticated: 401,
    errors.NotAllowed: 403,
    errors.NotFound: 404,
    errors.Conflict: 409,
    errors.Spoilt: 409,
    errors.BudgetExceeded: 409,
    errors.Doubtful: 409,
    errors.TooLarge: 413,
    errors.TooMany: 429,
    errors.UnderMaintenance: 503,
    errors.Unready: 503,
}


class ProblemField(BaseModel):
    """One wrong field and what to do about it."""

    field: str
    problem: str
    fix: str
    code: str = Field(description="Which refusal of the catalogue it is; empty for what is not in it")
    sentence: str = Field(description="The whole of it for a person, without a path of JSON")


class Problem(BaseModel):
    """Why a request was not taken. Nothing was changed and nothing charged."""

    type: str
    title: str
    status: int
    detail: str
    problems: list[ProblemField]


_FULL = (
    "has no room left for the platform's database: nothing was changed, and nothing charged.",
    "Tell the operator, who makes room there; then send it again.",
)
# by reference: for a model FastAPI would build an adapter for each status of each route
_CONTENT = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
DOCUMENTED: dict[int | str, dict[str, Any]] = {
    status: {"description": title, "content": _CONTENT}
    for status, title in {
        400: "Not a token that ends a login",
        401: "No valid token",
        403: "Not allowed for this role or by this policy",
        404: "Nothing by that name that this user may see",
        409: "Exists and differs, wrong state, over budget, or hardly of use and sent without `anyway`",
        413: "Too large",
        422: "A field is not valid",
        429: "Too often in too short a time; Retry-After says when to come back",
        500: "The platform failed; nothing was charged",
        503: "Maintenance: nothing new is taken; Retry-After says when to come back",
    }.items()
}
# of a route behind a token
RESPONSES = {status: response for status, response in DOCUMENTED.items() if status not in (400, 429)}


def install(app: FastAPI) -> None:
    """One map from error to answer. What none of them takes is for `faults`."""
    app.add_exception_handler(RequestError, _on_request_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_http_error)


def responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documented errors of a route that has these only."""
    return {status: DOCUMENTED[status] for status in statuses}


def schemas() -> dict[str, Any]:
    """What the documented errors refer to."""
    _, found = models_json_schema([(Problem, "serialization")], ref_template="#/components/schemas/{model}")
    described: dict[str, Any] = found["$defs"]
    return described


def answer(error: RequestError, *, status: int | None = None) -> JSONResponse:
    """A request error as problem+json; with another status where a standard wants one."""
    status = status or STATUS[type(error)]
    shown = [_shown(problem) for problem in error.problems[:MAX_PROBLEMS]]
    more = len(error.problems) - len(shown)
    content = Problem(
        type=f"urn:dpgate:problem:{type(error).__name__}",
        title=error.title,
        status=status,
        detail="; ".join(map(str, shown)) + (f"; and {more} more" if more else ""),
        problems=[ProblemField(**vars(p), sentence=_text(p.sentence)) for p in shown],
    )
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    if isinstance(error, errors.TooMany | errors.UnderMaintenance):
        headers["Retry-After"] = str(error.retry_after_s)
    return JSONResponse(content.model_dump(), status, headers=headers, media_type=MEDIA_TYPE)


def fault(error: BaseException | None = None) -> JSONResponse:
    """The answer to an error that nobody foresaw: no word about it, but that the database has no room."""
    if error is not None and is_full_for_database(error):
        return answer(Unready("disk", *_FULL))
    return _plain(500, "The platform failed on this request. Nothing was charged by it. Tell the operator.")


def fault_page(error: BaseException | None = None) -> HTMLResponse:
    """The same to somebody with a browser. No template of ours: it may be what failed."""
    is_full = error is not None and is_full_for_database(error)
    said = f"The disk {_FULL[0]} {_FULL[1]}" if is_full else "Nothing was charged by this. Tell the operator."
    return HTMLResponse(
        '<!doctype html><html lang="en"><title>The platform failed</title><h1>The platform failed</h1>'
        f'<p>{said}</p><p><a href="/">To the first page</a></p>',
        503 if is_full else 500,
    )


async def _on_request_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestError)
    return answer(error)


async def _on_invalid_request(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    details = [dict(detail) for detail in error.errors()]
    if any(detail["type"] == "json_invalid" for detail in details):
        return answer(_unreadable())
    for detail in details:
        source, *within = detail["loc"]
        detail["loc"] = tuple(within) if source in ("path", "query", "header") else detail["loc"]
    # the same words as everywhere; pydantic's copy of the input is not sent back
    return answer(invalid(details))


async def _on_http_error(_request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if error.status_code == 400:
        # the framework's word for a body that is not JSON at all: not UTF-8, compressed, nested too deeply
        return answer(_unreadable())
    return _plain(error.status_code, str(error.detail), headers=error.headers)


def _unreadable() -> InvalidRequest:
    return InvalidRequest("body", "cannot be read as JSON.", "Send one JSON object in UTF-8, not compressed.")


def _shown(problem: FieldProblem) -> FieldProblem:
    return replace(
        problem, field=_text(problem.field), problem=_text(problem.problem), fix=_text(problem.fix)
    )


def _text(text: str) -> str:
    # names of unknown keys are the sender's: lone surrogates could not even be written as UTF-8
    printable = "".join(letter if letter.isprintable() else "?" for letter in text[: MAX_TEXT + 1])
    return printable if len(text) <= MAX_TEXT else f"{printable[:MAX_TEXT]}..."


def _plain(status: int, detail: str, *, headers: Mapping[str, str] | None = None) -> JSONResponse:
    content = Problem(type="about:blank", title=detail, status=status, detail=detail, problems=[])
    return JSONResponse(content.model_dump(), status, headers=headers, media_type=MEDIA_TYPE)
