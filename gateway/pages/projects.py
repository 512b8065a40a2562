"""Projects: one's own, one in full, and the steps of its lead. What was typed is kept on refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk import grants
from desk import projects as desk
from desk.projects import NewLead, ProjectView
from domain.errors import FieldProblem, InvalidRequest, RequestError
from domain.model import Model, Slug, parse
from domain.permissions import Permission, Role, User
from domain.project import Ask, NewProject, ProjectState
from gateway.access import TheDatabase
from gateway.pages import project_facts
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm, page_requires
from gateway.problems import STATUS
from store.database import Database

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(page_requires(Permission.PROJECT_READ))]
Lead = Annotated[User, Depends(page_requires(Permission.PROJECT_LEAD))]
PROJECTS = "/projects"
MAX_NAME = 63
NEW = ("name", "title", "purpose", "ends_on")


class Member(Model):
    """Whom a step of the lead is about."""

    member: Slug


class Wanted(Model):
    """Which data set a step of the lead is about."""

    dataset: Slug


NAMED: dict[str, type[Model]] = {"member": Member, "dataset": Wanted}


@router.get(PROJECTS)
def list_projects(request: Request, user: Reader, database: TheDatabase) -> Response:
    return _list(request, user, database)


@router.post(PROJECTS)
def make_project(request: Request, form: CheckedForm, user: Lead, database: TheDatabase) -> Response:
    fields = {name: str(form.get(name, "")) for name in NEW}
    try:
        made = desk.make_project(database, user, parse(NewProject, fields))
    except RequestError as error:
        return _list(request, user, database, typed=fields, error=error)
    return RedirectResponse(f"{PROJECTS}/{made.name}", status_code=303)


@router.get(f"{PROJECTS}/{{project}}")
def show_project(request: Request, project: Slug, user: Reader, database: TheDatabase) -> Response:
    return _page(request, project, user, database)


@router.post(f"{PROJECTS}/{{project}}/members")
def change_members(
    request: Request, project: Slug, form: CheckedForm, user: Lead, database: TheDatabase
) -> Response:
    """Add somebody, remove somebody, leave, or let somebody else lead."""
    steps: dict[str, Callable[[str], Any]] = {
        "add": lambda member: desk.add_member(database, user, project, member),
        "remove": lambda member: desk.remove_member(database, user, project, member),
        "lead": lambda member: desk.hand_over(database, user, project, NewLead(lead=member)),
    }
    return _step(request, project, form, user, database, at="members", steps=steps, of="member")


@router.post(f"{PROJECTS}/{{project}}/asks")
def ask(request: Request, project: Slug, form: CheckedForm, user: Lead, database: TheDatabase) -> Response:
    """Ask the rights holder of a data set for it."""

    def asked(dataset: str) -> None:
        why = parse(Ask, {"why": str(form.get("why", ""))})
        grants.ask_for_grant(database, user, project, dataset, why)

    def withdrawn(dataset: str) -> None:
        grants.withdraw_grant(database, user, project, dataset)

    steps = {"ask": asked, "withdraw": withdrawn}
    return _step(request, project, form, user, database, at="asks", steps=steps, of="dataset")


@router.post(f"{PROJECTS}/{{project}}/closing")
def close(project: Slug, _form: CheckedForm, user: Lead, database: TheDatabase) -> Response:
    desk.close_project(database, user, project)
    return RedirectResponse(f"{PROJECTS}/{project}", status_code=303)


def _step(
    request: Request,
    project: str,
    form: FormData,
    user: User,
    database: Database,
    *,
    at: str,
    steps: Mapping[str, Callable[[str], Any]],
    of: str,
) -> Response:
    """One step of the lead on the thing that the field `of` names; back to the project, or with problems."""
    step, name = str(form.get("step", "")), str(form.get(of, "")).strip()
    desk.get_project(database, user, project)  # a project that is none of theirs has no form
    try:
        if step not in steps:
            raise InvalidRequest("step", "is missing.", "Use one of the buttons.")
        steps[step](_slug(of, name))
    except RequestError as error:
        return _page(request, project, user, database, at=at, typed=form, error=error)
    left = step == "remove" and name == user.name
    return RedirectResponse(PROJECTS if left else f"{PROJECTS}/{project}", status_code=303)


def _slug(field: str, name: str) -> str:
    return str(getattr(parse(NAMED[field], {field: name}), field))


def _list(
    request: Request,
    user: User,
    database: Database,
    *,
    typed: dict[str, str] | None = None,
    error: RequestError | None = None,
) -> Response:
    found = desk.list_projects(database, user)
    asking_for = request.query_params.get("dataset", "")[:MAX_NAME]
    asks = grants.list_asks(database, user) if user.role is Role.RIGHTS_HOLDER else []
    return page(
        request,
        "projects.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        projects=[(project, _reach(project)) for project in found],
        led=[one for one in found if one.lead == user.name and one.state is ProjectState.OPEN],
        asks=asks,
        states=project_facts.PROJECT_STATES,
        keeper=project_facts.keeper,
        until=project_facts.until,
        asking_for=asking_for,
        typed=typed or dict.fromkeys(NEW, ""),
        wrong=_by_field(error),
    )


def _page(
    request: Request,
    name: str,
    user: User,
    database: Database,
    *,
    at: str = "",
    typed: FormData | None = None,
    error: RequestError | None = None,
) -> Response:
    project = desk.get_project(database, user, name)
    events = desk.get_project_history(database, user, name)
    kept = {"dataset": request.query_params.get("dataset", "")[:MAX_NAME], "why": "", "member": ""}
    return page(
        request,
        "project.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        project=project,
        grants=[project_facts.granted(view) for view in project.grants],
        words=project_facts.PROJECT_STATES[project.state],
        keeper=project_facts.keeper(project),
        until=project_facts.until,
        leads=project.state is ProjectState.OPEN and user.name in {project.lead, *project.further_leads},
        leads_by_name=project.state is ProjectState.OPEN and user.name == project.lead,
        history=project_facts.steps(events),
        at=at,
        typed=kept | ({key: str(typed.get(key, "")) for key in kept} if typed else {}),
        wrong=_by_field(error),
        problems=list(_by_field(error).values()),
    )


def _reach(project: ProjectView) -> list[str]:
    """The data sets that it may use now."""
    return [grant.dataset for grant in project.grants if grant.is_living]


def _by_field(error: RequestError | None) -> dict[str, FieldProblem]:
    return {problem.field: problem for problem in error.problems} if error else {}
