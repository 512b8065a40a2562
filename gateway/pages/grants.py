"""One grant: what a project asks of a rights holder, and the decision, the change, or the end of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk import grants as desk
from desk.datasets import get_budget
from desk.grants import GrantView
from desk.projects import ProjectView, get_project, get_project_history
from domain.errors import InvalidRequest, RequestError
from domain.loss import Currency
from domain.model import Slug, parse
from domain.permissions import Permission, User
from domain.project import Grant, GrantState, ProjectState, Reason, Terms
from gateway.access import TheDatabase
from gateway.pages import project_facts
from gateway.pages.budget_bar import Bar, whole
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm, page_requires
from gateway.problems import STATUS
from store import grants, recognition
from store.database import Database

router = APIRouter(include_in_schema=False)
GRANT = "/projects/{project}/grants/{dataset}"
AMOUNT = "amount-"
Reader = Annotated[User, Depends(page_requires(Permission.PROJECT_READ))]
Holder = Annotated[User, Depends(page_requires(Permission.GRANT_DECIDE))]


@router.get(GRANT)
def show_grant(
    request: Request, project: Slug, dataset: Slug, user: Reader, database: TheDatabase
) -> Response:
    return _page(request, project, dataset, user, database)


@router.post(GRANT)
def decide(
    request: Request, project: Slug, dataset: Slug, form: CheckedForm, user: Holder, database: TheDatabase
) -> Response:
    """Grant, refuse, change or end. What was typed is kept on refusal; nothing is done then."""
    steps: dict[str, Callable[[], Any]] = {
        "grant": lambda: desk.give_grant(database, user, project, dataset, _terms(form)),
        "change": lambda: desk.change_grant(database, user, project, dataset, _terms(form)),
        "refuse": lambda: desk.refuse_grant(database, user, project, dataset, _reason(form)),
        "end": lambda: desk.end_grant(database, user, project, dataset, _reason(form)),
    }
    desk.get_grant(database, user, project, dataset)  # a grant that is none of theirs has no form
    try:
        step = steps.get(str(form.get("step", "")))
        if step is None:
            raise InvalidRequest("step", "is missing.", "Use one of the buttons.")
        step()
    except RequestError as error:
        return _page(request, project, dataset, user, database, typed=form, error=error)
    return RedirectResponse(f"/projects/{project}/grants/{dataset}", status_code=303)


def _terms(form: FormData) -> Terms:
    given = {
        name.removeprefix(AMOUNT): str(text).strip() for name, text in form.items() if name.startswith(AMOUNT)
    }
    fields: dict[str, Any] = {
        "amounts": {currency: text for currency, text in given.items() if text},
        "ends_on": str(form.get("ends_on", "")).strip() or None,
        "reason": str(form.get("reason", "")),
    }
    return parse(Terms, fields)


def _reason(form: FormData) -> Reason:
    return parse(Reason, {"reason": str(form.get("reason", ""))})


def _page(
    request: Request,
    name: str,
    dataset: str,
    user: User,
    database: Database,
    *,
    typed: FormData | None = None,
    error: RequestError | None = None,
) -> Response:
    grant = desk.get_grant(database, user, name, dataset)
    project = get_project(database, user, name)
    history = get_project_history(database, user, name)
    events = [event for event in history if event.dataset in (None, dataset)]
    with database.reading() as connection:
        record = grants.get_visible(connection, name, dataset, user)
        holds = grants.owner_of(connection, dataset) == user.name
        waiting = grants.unfinished(connection, record) if holds else 0
        # for whom it is to decide; members do not read each other's addresses
        people = recognition.people(connection, {*project.members, project.lead or ""} if holds else ())
    given = {key: str(value) for key, value in typed.items()} if typed else {}
    is_asked = record.state is GrantState.ASKED
    return page(
        request,
        "grant.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        project=project,
        keeper=project_facts.keeper(project),
        grant=project_facts.granted(grant),
        until=project_facts.until,
        history=project_facts.steps(events),
        holds=holds,
        form=_form(record, project) if holds else "",
        fields=_amounts(grant, given, user, database) if holds else [],
        promises=project_facts.PROMISES,
        last_day=given.get("ends_on", str(project.ends_on or "") if is_asked else ""),
        reason=given.get("reason", ""),
        waiting=waiting,
        people=people,
        problems=error.problems if error else (),
    )


def _form(record: Grant, project: ProjectView) -> str:
    """Which form the rights holder gets."""
    forms = {GrantState.ASKED: "decide", GrantState.GRANTED: "change"}
    return forms.get(record.state, "") if project.state is ProjectState.OPEN else ""


def _amounts(
    grant: GrantView, given: dict[str, str], user: User, database: Database
) -> list[tuple[Bar, str, str]]:
    """For each currency of the budget: what is left of all, what was typed, the project's share so far."""
    shares = {account.currency: account.cap for account in grant.accounts}
    budget = get_budget(database, user, grant.dataset)
    return [
        (bar, given.get(f"{AMOUNT}{bar.name}", ""), shares.get(Currency(bar.name), ""))
        for bar in whole(budget)
    ]
