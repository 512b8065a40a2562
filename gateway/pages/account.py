"""One's own account: password, tokens, sessions. Forms come back to this page, with what was wrong."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import FormData

from desk import tokens as desk
from desk.account import change_password, end_other_sessions
from desk.tokens import NewToken, TokenOnce
from domain.errors import InvalidRequest, RequestError
from domain.model import parse
from domain.permissions import Permission, User, is_allowed
from domain.scopes import MEANING, SCOPE, Scope
from gateway.access import TheDatabase
from gateway.logins import check_passwords_are_used
from gateway.pages import layout
from gateway.pages.session import ACCOUNT, COOKIE, NEW_PASSWORD, CheckedForm, cookie_name, page_requires
from gateway.problems import STATUS
from gateway.routes import OurId
from store import accounts, identities, sessions, tokens, users
from store.database import Database
from store.tokens import Caller

router = APIRouter(include_in_schema=False)
Owner = Annotated[User, Depends(page_requires(Permission.TOKENS_OWN))]


@router.get(ACCOUNT)
def account_page(request: Request, user: Owner, database: TheDatabase) -> Response:
    return _page(request, user, database)


@router.post(NEW_PASSWORD)
def new_password(request: Request, form: CheckedForm, user: Owner, database: TheDatabase) -> Response:
    check_passwords_are_used(request.app.state.settings)
    old, new = str(form.get("old", "")), str(form.get("new", ""))
    try:
        if new != str(form.get("again", "")):
            raise InvalidRequest("again", "is not the same.", "Type the new password twice.")
        kept = request.cookies.get(cookie_name(request, COOKIE), "")
        change_password(database, user, old=old, new=new, keep_session=kept)
    except RequestError as error:
        return _page(request, user, database, error=error, at="password")
    return RedirectResponse(ACCOUNT, status_code=303)


@router.post(f"{ACCOUNT}/tokens")
def new_token(request: Request, form: CheckedForm, user: Owner, database: TheDatabase) -> Response:
    """The answer shows the token: loading the page again does not."""
    try:
        now = datetime.now(UTC)
        with database.reading() as connection:
            shown = sessions.find(connection, request.cookies[cookie_name(request, COOKIE)], now).shown
        made = desk.add_token(database, user, _token_of(form), Caller(user, login=shown.login))
    except RequestError as error:
        return _page(request, user, database, error=error, at="tokens", typed=form)
    return _page(request, user, database, made=made)


@router.post(f"{ACCOUNT}/tokens/{{token_id}}/revocation")
def revoke_token(token_id: OurId, _form: CheckedForm, user: Owner, database: TheDatabase) -> Response:
    desk.revoke_token(database, user, token_id)
    return RedirectResponse(ACCOUNT, status_code=303)


@router.post(f"{ACCOUNT}/sessions")
def end_others(request: Request, _form: CheckedForm, user: Owner, database: TheDatabase) -> Response:
    kept = request.cookies.get(cookie_name(request, COOKIE), "")
    end_other_sessions(database, user, keep_session=kept)
    return RedirectResponse(ACCOUNT, status_code=303)


def _token_of(form: FormData) -> NewToken:
    days = str(form.get("days", ""))
    fields = {
        "label": str(form.get("label", "")),
        "scopes": tuple(str(scope) for scope in form.getlist("scopes")),
        "days": int(days) if days.isascii() and days.isdigit() and len(days) < 5 else days,
    }
    return parse(NewToken, fields)


def _page(
    request: Request,
    user: User,
    database: Database,
    *,
    error: RequestError | None = None,
    at: str = "",
    typed: FormData | None = None,
    made: TokenOnce | None = None,
) -> HTMLResponse:
    now = datetime.now(UTC)
    with database.reading() as connection:
        has_password = accounts.has_password(connection, user.name)
        initial = accounts.has_initial_password(connection, user.name)
        owned = tokens.of_user(connection, user.name, now)
        open_sessions = sessions.count(connection, user.name, now)
        full = None if identities.has_one(connection, user.name) else users.full_token(connection, user.name)
    return layout.page(
        request,
        "account.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        problems=error.problems if error else (),
        at=at,
        typed={"label": typed.get("label"), "days": typed.get("days")}
        if typed
        else {"label": "", "days": 90},
        chosen=typed.getlist("scopes") if typed else [Scope.READ],
        made=made,
        tokens=owned,
        full_token=full,
        scopes={scope: MEANING[scope] for scope in useful_scopes(user)},
        other_sessions=open_sessions - 1,
        has_password=has_password and request.app.state.settings.has_passwords,
        initial_password=initial,
    )


def useful_scopes(user: User) -> list[Scope]:
    """Those that reach anything that the user's role may do."""
    return [
        scope
        for scope in Scope
        if any(is_allowed(user, permission) for permission, its in SCOPE.items() if its is scope)
    ]
