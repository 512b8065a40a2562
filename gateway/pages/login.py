"""Log in, log out, and one's own account: password, tokens, sessions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from domain.errors import RequestError, TooMany
from domain.permissions import Permission, User
from gateway.access import TheDatabase
from gateway.config import GatewaySettings
from gateway.logins import check_login, check_passwords_are_used, open_session
from gateway.pages import layout
from gateway.pages.session import (
    BROWSER_COOKIE,
    BROWSER_LASTS,
    COOKIE,
    HOME,
    LOGIN,
    LOGOUT,
    VISIT_COOKIE,
    CheckedForm,
    LoginFirst,
    cookie_name,
    delete_cookie,
    page_requires,
    page_user,
    safe_next,
    set_cookie,
    start_visit,
)
from gateway.problems import STATUS
from store import accounts, audit, sessions

router = APIRouter(include_in_schema=False)


@router.get(LOGIN)
def login_page(request: Request, database: TheDatabase) -> Response:
    """The form; somebody who is logged in goes on to where they wanted, unless that needs a fresh login."""
    target = safe_next(request.query_params.get("next"))
    if "fresh" in request.query_params:
        return login_form(request, target=target)
    try:
        page_user(request, database)
        return RedirectResponse(target, status_code=303)
    except LoginFirst:
        return login_form(request, target=target)


@router.post(LOGIN)
def log_in(request: Request, form: CheckedForm, database: TheDatabase) -> Response:
    """A new session, whatever session the browser came with."""
    now = datetime.now(UTC)
    name, password = str(form.get("name", "")).strip(), str(form.get("password", ""))
    target = safe_next(str(form.get("next", "")))
    check_passwords_are_used(request.app.state.settings)
    try:
        word = request.cookies.get(cookie_name(request, BROWSER_COOKIE), "")
        user = check_login(request, database, name, password, now, word=word)
    except RequestError as error:
        return login_form(request, target=target, name=name, error=error)
    response = enter(request, database, user, by="password", target=target)
    word = accounts.word_for_browser(database, user.name)
    set_cookie(response, request, BROWSER_COOKIE, word, max_age=int(BROWSER_LASTS.total_seconds()))
    return response


@router.post(LOGOUT)
def log_out(
    request: Request,
    _form: CheckedForm,
    user: Annotated[User, Depends(page_requires(Permission.SELF_READ))],
    database: TheDatabase,
) -> Response:
    with database.transaction() as connection:
        sessions.close_session(connection, request.cookies.get(cookie_name(request, COOKIE), ""))
        audit.append(
            connection, at=datetime.now(UTC), actor=user.name, action="session.close", subject=user.name
        )
    # where there is a provider, the page offers to log out there too
    target = f"{LOGIN}?out=yes" if request.app.state.providers.for_browsers else LOGIN
    response = RedirectResponse(target, status_code=303)
    delete_cookie(response, request, COOKIE)
    return response


def enter(
    request: Request,
    database: TheDatabase,
    user: User,
    *,
    by: str,
    target: str,
    shown: sessions.Shown | None = None,
) -> Response:
    """Into the platform: a fresh session in the cookie, then on to where the user wanted."""
    old = request.cookies.get(cookie_name(request, COOKIE), "")
    token = open_session(database, user, old_token=old, by=by, now=datetime.now(UTC), shown=shown)
    response = RedirectResponse(target, status_code=303)
    set_cookie(response, request, COOKIE, token)
    delete_cookie(response, request, VISIT_COOKIE)
    return response


def login_form(
    request: Request, *, target: str, name: str = "", error: RequestError | None = None
) -> Response:
    """The form, with what was typed and what was wrong."""
    settings: GatewaySettings = request.app.state.settings
    visit = start_visit(request)
    response = layout.page(
        request,
        "login.html",
        status=STATUS[type(error)] if error else 200,
        name=name,
        next="" if target == HOME else target,
        problems=error.problems if error else (),
        passwords=settings.has_passwords,
        providers=request.app.state.providers.for_browsers,
        fresh="fresh" in request.query_params,
        logged_out="out" in request.query_params,
    )
    if visit:
        set_cookie(response, request, VISIT_COOKIE, visit)
    if isinstance(error, TooMany):
        response.headers["Retry-After"] = str(error.retry_after_s)
    return response
