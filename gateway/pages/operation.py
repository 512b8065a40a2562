"""The operator's first page: is everything well, what is stuck and the button that mends it, maintenance.

States, counts and names only: nothing here depends on data.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from desk.operation import Mend, begin_maintenance, end_maintenance, retry_stuck
from domain.errors import FieldProblem, InvalidRequest
from domain.maintenance import MAX_REASON, PlannedMaintenance
from domain.model import parse
from domain.operation import StuckKind
from domain.permissions import Permission, User
from gateway.access import TheDatabase, TheQueue
from gateway.overview import overview
from gateway.pages import steps
from gateway.pages.health import tiles
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm, page_requires
from store import datasets, history

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(page_requires(Permission.OPERATION_READ))]
Operator = Annotated[User, Depends(page_requires(Permission.OPERATION_CHANGE))]
HERE = "/operation"
# what a page may say was done, by the word in its address
DONE = {
    "sent": "The message is on its way. A worker takes it up when it is free.",
    "before": "That was just done. Give a worker a moment, then look again.",
    "begun": "Maintenance is on. Everybody sees the banner.",
    "ended": "Maintenance has ended. The platform takes everything again.",
}


@router.get(HERE)
def show_operation(request: Request, user: Reader, database: TheDatabase, done: str = "") -> Response:
    return _page(request, user, database, done=done)


@router.post(f"{HERE}/stuck")
def mend_stuck(form: CheckedForm, user: Operator, database: TheDatabase, queue: TheQueue) -> Response:
    """The button beside something that is stuck."""
    wanted = parse(Mend, {"kind": _text(form, "kind"), "subject": _text(form, "subject")})
    mended = retry_stuck(database, user, wanted, queue)
    return RedirectResponse(f"{HERE}?done={'sent' if mended.sent else 'before'}#stuck", status_code=303)


@router.post(f"{HERE}/maintenance")
def decide_maintenance(
    request: Request, form: CheckedForm, user: Operator, database: TheDatabase
) -> Response:
    """Begin, change or end maintenance. What was typed is kept where it is refused."""
    if _text(form, "decision") == "end":
        end_maintenance(database, user)
        return RedirectResponse(f"{HERE}?done=ended", status_code=303)
    reason, until = _text(form, "reason"), _text(form, "until")
    try:
        planned = parse(PlannedMaintenance, {"reason": reason, "until": _moment(until)})
        begin_maintenance(database, user, planned)
    except InvalidRequest as refused:
        typed = {"reason": reason[:MAX_REASON], "until": until[:40]}
        return _page(request, user, database, problems=refused.problems, typed=typed, status=422)
    return RedirectResponse(f"{HERE}?done=begun", status_code=303)


def _page(
    request: Request,
    user: User,
    database: TheDatabase,
    *,
    done: str = "",
    problems: tuple[FieldProblem, ...] = (),
    typed: dict[str, str] | None = None,
    status: int = 200,
) -> Response:
    found = overview(database, request.app.state.looks.now())
    with database.reading() as connection:
        errored = history.reasons(connection)
        spoilt = datasets.unreadable(connection) if found.schema.fits else []
    return page(
        request,
        "operation.html",
        user=user,
        status=status,
        done=DONE.get(done, ""),
        problems={problem.field: problem for problem in problems},
        typed=typed or _as_typed(found.maintenance),
        tiles=tiles(found, spoilt),
        found=found,
        kinds=StuckKind,
        by_state=[(steps.WORDS[state], state, count) for state, count in found.jobs.items()],
        errored=errored,
    )


def _as_typed(maintenance: Any) -> dict[str, str]:
    if maintenance is None:
        return {"reason": "", "until": ""}
    until = "" if maintenance.until is None else f"{maintenance.until:%Y-%m-%dT%H:%M}"
    return {"reason": maintenance.reason, "until": until}


def _moment(typed: str) -> datetime | str | None:
    """A time of day in UTC, as the field of a browser gives it; anything else is refused as it is."""
    if not typed:
        return None
    try:
        moment = datetime.fromisoformat(typed)
    except ValueError:
        return typed
    return moment.replace(tzinfo=moment.tzinfo or UTC)


def _text(form: CheckedForm, name: str) -> str:
    return str(form.get(name, "")).strip()
