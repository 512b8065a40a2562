"""People: who has an account and which tokens, what is taken back, and logins that were refused."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import RedirectResponse, Response

from desk.projects import NewLead, list_leadless, name_lead
from desk.users import disable_user, list_users, revoke_token_of
from domain.model import Slug, parse
from domain.permissions import ROLE_NAMES, Permission, User
from gateway.access import TheDatabase
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm, page_requires
from store import operation, recognition, tokens
from store.clock import database_time

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(page_requires(Permission.USER_READ))]
Operator = Annotated[User, Depends(page_requires(Permission.USER_DISABLE))]
Name = Annotated[Slug, Path()]
TokenId = Annotated[str, Path(pattern="^[0-9a-f]{4,16}$")]
HERE = "/operation/people"


@router.get(HERE)
def show_people(request: Request, user: Reader, database: TheDatabase) -> Response:
    found, now = list_users(database, user), datetime.now(UTC)
    with database.reading() as connection:
        held = {one.name: tokens.of_user(connection, one.name, now) for one in found}
        known = recognition.people(connection)
        logins = operation.refused_logins(connection, now=database_time(connection))
    return page(
        request,
        "operation_people.html",
        user=user,
        users=found,
        roles=ROLE_NAMES,
        tokens=held,
        people=known,
        logins=logins,
        leadless=list_leadless(database, user),
    )


@router.post("/operation/projects/{project}")
def let_lead(
    project: Name,
    form: CheckedForm,
    user: Annotated[User, Depends(page_requires(Permission.OPERATION_CHANGE))],
    database: TheDatabase,
) -> Response:
    """A member leads from now on, instead of somebody who cannot log in any more."""
    name_lead(database, user, project, parse(NewLead, {"lead": str(form.get("lead", ""))}))
    return RedirectResponse(f"{HERE}#projects", status_code=303)


@router.post(f"{HERE}/{{name}}")
def disable(name: Name, _form: CheckedForm, user: Operator, database: TheDatabase) -> Response:
    """Nothing that this person holds works any more."""
    disable_user(database, user, name)
    return RedirectResponse(HERE, status_code=303)


@router.post(f"{HERE}/{{name}}/tokens/{{token_id}}")
def revoke(
    name: Name, token_id: TokenId, _form: CheckedForm, user: Operator, database: TheDatabase
) -> Response:
    revoke_token_of(database, user, name, token_id)
    return RedirectResponse(f"{HERE}#user-{name}", status_code=303)
