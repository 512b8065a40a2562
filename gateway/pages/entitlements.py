"""Which groups of people's organisations give which rights: of the platform, of a data set, of a project."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk import entitlements as desk
from desk import projects
from desk.entitlements import EntitlementView
from domain.entitlement import ProjectEntitlement, ReviewerEntitlement, RoleEntitlement
from domain.errors import RequestError
from domain.model import Slug, parse
from domain.permissions import ROLE_NAMES, Permission, Role, User
from gateway.access import TheDatabase
from gateway.config import GatewaySettings
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm, page_requires
from gateway.problems import STATUS

router = APIRouter(include_in_schema=False)
Operator = Annotated[User, Depends(page_requires(Permission.USER_ADD))]
Holder = Annotated[User, Depends(page_requires(Permission.POLICY_CHANGE))]
Lead = Annotated[User, Depends(page_requires(Permission.PROJECT_LEAD))]
RuleId = Annotated[str, Path(pattern="^[0-9a-f]{4,16}$")]
OF_PLATFORM = "/operation/entitlements"
OF_DATASET = "/datasets/{name}/entitlements"
OF_PROJECT = "/projects/{project}/entitlements"


@dataclass(frozen=True)
class Editor:
    """One page: who looks, what it is about, and which rules there are."""

    request: Request
    user: User
    kind: str
    about: str
    here: str
    may_change: bool
    rules: Sequence[EntitlementView]

    def shown(self, error: RequestError | None = None, typed: FormData | None = None) -> Response:
        settings: GatewaySettings = self.request.app.state.settings
        kept = {name: str(typed.get(name, "")) if typed else "" for name in ("entitlement", "role", "leads")}
        return page(
            self.request,
            f"entitlements_{self.kind}.html",
            user=self.user,
            status=STATUS[type(error)] if error else 200,
            about=self.about,
            action=self.here,
            may_change=self.may_change,
            rules=self.rules,
            roles=ROLE_NAMES,
            of_settings=settings.oidc_roles if self.kind == "roles" else {},
            has_provider=settings.oidc_issuer is not None,
            typed=kept,
            problems=error.problems if error else (),
            wrong={problem.field: problem for problem in error.problems} if error else {},
        )

    def step(self, form: FormData | None, change: Callable[[], Any]) -> Response:
        """Change something; back to the page, or the page with what was typed and what was wrong."""
        try:
            change()
        except RequestError as error:
            if form is None:
                raise
            return self.shown(error, form)
        return RedirectResponse(self.here, status_code=303)


@router.get(OF_PLATFORM)
def show_roles(
    request: Request,
    user: Annotated[User, Depends(page_requires(Permission.USER_READ))],
    database: TheDatabase,
) -> Response:
    return _platform(request, user, database).shown()


@router.post(OF_PLATFORM)
def add_role(request: Request, form: CheckedForm, user: Operator, database: TheDatabase) -> Response:
    typed = {"entitlement": _text(form, "entitlement"), "role": _text(form, "role")}
    return _platform(request, user, database).step(
        form, lambda: desk.add_role(database, user, parse(RoleEntitlement, typed))
    )


@router.post(OF_PLATFORM + "/{rule_id}")
def remove_role(
    request: Request,
    rule_id: RuleId,
    _form: CheckedForm,
    user: Annotated[User, Depends(page_requires(Permission.USER_DISABLE))],
    database: TheDatabase,
) -> Response:
    editor = _platform(request, user, database)
    return editor.step(None, lambda: desk.remove_role(database, user, rule_id))


@router.get(OF_DATASET)
def show_reviewers(request: Request, name: Slug, user: Holder, database: TheDatabase) -> Response:
    return _dataset(request, name, user, database).shown()


@router.post(OF_DATASET)
def add_reviewers(
    request: Request, name: Slug, form: CheckedForm, user: Holder, database: TheDatabase
) -> Response:
    typed = {"entitlement": _text(form, "entitlement")}
    return _dataset(request, name, user, database).step(
        form, lambda: desk.add_reviewers(database, user, name, parse(ReviewerEntitlement, typed))
    )


@router.post(OF_DATASET + "/{rule_id}")
def remove_reviewers(
    request: Request, name: Slug, rule_id: RuleId, _form: CheckedForm, user: Holder, database: TheDatabase
) -> Response:
    editor = _dataset(request, name, user, database)
    return editor.step(None, lambda: desk.remove_reviewers(database, user, name, rule_id))


@router.get(OF_PROJECT)
def show_places(
    request: Request,
    project: Slug,
    user: Annotated[User, Depends(page_requires(Permission.PROJECT_READ))],
    database: TheDatabase,
) -> Response:
    return _project(request, project, user, database).shown()


@router.post(OF_PROJECT)
def add_places(
    request: Request, project: Slug, form: CheckedForm, user: Lead, database: TheDatabase
) -> Response:
    typed = {"entitlement": _text(form, "entitlement"), "leads": _text(form, "leads") == "yes"}
    return _project(request, project, user, database).step(
        form, lambda: desk.add_places(database, user, project, parse(ProjectEntitlement, typed))
    )


@router.post(OF_PROJECT + "/{rule_id}")
def remove_places(
    request: Request, project: Slug, rule_id: RuleId, _form: CheckedForm, user: Lead, database: TheDatabase
) -> Response:
    editor = _project(request, project, user, database)
    return editor.step(None, lambda: desk.remove_places(database, user, project, rule_id))


def _platform(request: Request, user: User, database: TheDatabase) -> Editor:
    rules = desk.list_roles(database, user)
    return Editor(request, user, "roles", "", OF_PLATFORM, user.role is Role.OPERATOR, rules)


def _dataset(request: Request, name: str, user: User, database: TheDatabase) -> Editor:
    rules = desk.list_reviewers(database, user, name)
    return Editor(request, user, "reviews", name, OF_DATASET.format(name=name), True, rules)


def _project(request: Request, name: str, user: User, database: TheDatabase) -> Editor:
    found = projects.get_project(database, user, name)
    rules = desk.list_places(database, user, name)
    here = OF_PROJECT.format(project=name)
    return Editor(request, user, "places", name, here, user.name == found.lead, rules)


def _text(form: FormData, name: str) -> str:
    return str(form.get(name, "")).strip()
