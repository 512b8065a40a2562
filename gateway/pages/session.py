"""Who looks at a page, and does a form come from a page of ours?

A session is a cookie that holds a random token. Each form carries a second value made from that token, which
another site can neither read nor make; a form from elsewhere is refused before it is looked at.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Annotated
from urllib.parse import quote, urlsplit

from fastapi import Depends, FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData
from starlette.routing import Match

from domain.errors import NotAllowed, Unauthenticated
from domain.permissions import Permission, User, check_allowed
from gateway.access import TheDatabase, greet
from gateway.config import GatewaySettings
from gateway.maintenance import check_goes_on
from store import sessions
from store.database import Database

COOKIE = "dpgate_session"
# of somebody who has no session yet: it binds the login form to their browser
VISIT_COOKIE = "dpgate_visit"
# of one in which somebody has shown a password: in a flood of guesses they go before strangers. No right
BROWSER_COOKIE = "dpgate_browser"
BROWSER_LASTS = timedelta(days=180)
CSRF_FIELD = "csrf"
HOME, LOGIN, LOGOUT = "/", "/login", "/logout"
ACCOUNT, NEW_PASSWORD = "/account", "/account/password"
MAX_NEXT = 2000
# a login that is younger cannot be made fresher
JUST_NOW = timedelta(minutes=1)
_FOREIGN = (
    "form",
    "did not come from a page of this platform, or the page is older than your login.",
    "Load the page again, then send the form from there.",
)


class LoginFirst(Exception):
    """Nobody is logged in. Becomes a redirect to the login page, and from there back."""


class FreshLoginFirst(Exception):
    """The role has to show anew who it is. Becomes a redirect to the login, and from there back."""


class OwnPasswordFirst(Exception):
    """The password is still the one that the operator was shown. Becomes a redirect to the account page."""


def page_user(request: Request, database: TheDatabase) -> User:
    """The user whose page this is. Without a session: off to the login page, and back afterwards."""
    now = datetime.now(UTC)
    token = request.cookies.get(cookie_name(request, COOKIE), "")
    with database.reading() as connection:
        try:
            found = sessions.find(connection, token, now)
        except Unauthenticated:
            raise LoginFirst from None
    greet(request)
    # a page that asks again by itself is nobody's presence: the idle hour goes on
    if found.is_stale(now) and "HX-Request" not in request.headers:
        with database.transaction() as connection:
            sessions.touch(connection, token, now)
    if found.initial_password and request.url.path not in (ACCOUNT, NEW_PASSWORD, LOGOUT):
        raise OwnPasswordFirst
    return found.user


def logged_in(request: Request) -> User | None:
    """Who is logged in, if anybody; what they may do is asked elsewhere."""
    database: Database = request.app.state.database
    token = request.cookies.get(cookie_name(request, COOKIE))
    if not token:
        return None
    with database.reading() as connection:
        try:
            return sessions.find(connection, token, datetime.now(UTC)).user
        except Unauthenticated:
            return None


def page_requires(permission: Permission) -> Callable[[User, Request, Database], User]:
    """A dependency of a page: its user, who must hold the permission."""

    def check(user: Annotated[User, Depends(page_user)], request: Request, database: TheDatabase) -> User:
        check_allowed(user, permission)
        check_stepped_up(request, database, user, permission)
        check_goes_on(database, permission, request.method)
        return user

    check.permission = permission  # type: ignore[attr-defined]  # tests of all routes read it
    return check


def check_stepped_up(
    request: Request, database: Database, user: User, permission: Permission, *, back: str | None = None
) -> None:
    """Raises FreshLoginFirst where the login of this session is too old, or not of the kind that the role
    needs: it leads on to the page `back`. Raises NotAllowed where the login is fresh and still not enough:
    another one would not help."""
    settings: GatewaySettings = request.app.state.settings
    rule = settings.step_up.get(user.role)
    if rule is None or not rule.concerns(permission, request.method):
        return
    now = datetime.now(UTC)
    with database.reading() as connection:
        found = sessions.find(connection, request.cookies.get(cookie_name(request, COOKIE), ""), now)
    # with a password of this platform, who they are was shown when the session was opened
    at = found.shown.at if found.is_of_provider else found.opened_at
    lacking = rule.lacks(acr=found.shown.acr, shown_at=at, now=now)
    # a session that has just begun may be of a login at the provider that is old
    if lacking and now - (at or found.opened_at) < JUST_NOW:
        raise NotAllowed(
            "session", lacking, "Try again in a minute, or ask the operator which login your role needs here."
        )
    if lacking:
        raise FreshLoginFirst(back or request.url.path)


def csrf(request: Request) -> str:
    """The value of the hidden field `csrf` in every form of this session."""
    token = _browser_token(request)
    # one-way: a page may show it, and it says nothing about the cookie
    return hmac.new(token.encode(), b"dpgate form", hashlib.sha256).hexdigest() if token else ""


def start_visit(request: Request) -> str | None:
    """For the visit cookie of a browser that came with no cookie of ours; `csrf` goes by it at once."""
    if _browser_token(request):
        return None
    request.state.visit = secrets.token_urlsafe(32)
    return str(request.state.visit)


def _browser_token(request: Request) -> str:
    names = (cookie_name(request, COOKIE), cookie_name(request, VISIT_COOKIE))
    kept = next((request.cookies[name] for name in names if request.cookies.get(name)), "")
    return kept or str(getattr(request.state, "visit", ""))


async def checked_form(request: Request) -> AsyncIterator[FormData]:
    """The form of a POST, which came from a page of ours in this session. Raises NotAllowed."""
    if not _from_here(request):
        raise NotAllowed(*_FOREIGN)
    # files that came with it are let go when the answer is made
    async with request.form() as form:
        given, expected = form.get(CSRF_FIELD), csrf(request)
        # of two empty strings the digests would be equal
        if not expected or not isinstance(given, str):
            raise NotAllowed(*_FOREIGN)
        if not hmac.compare_digest(given.encode(), expected.encode()):
            raise NotAllowed(*_FOREIGN)
        # for the page of a refusal that keeps what was typed
        request.state.typed = [(name, text) for name, text in form.multi_items() if _is_typed(name, text)]
        yield form


def _is_typed(name: str, text: object) -> bool:
    """Not a file, not our own field, and nothing that a page must never show again."""
    return isinstance(text, str) and name != CSRF_FIELD and "password" not in name and "token" not in name


CheckedForm = Annotated[FormData, Depends(checked_form)]


def safe_next(path: str | None) -> str:
    """Where to go after the login: a page of ours, or the first page. Never another site."""
    if not path or len(path) > MAX_NEXT or not path.startswith("/") or path.startswith("//"):
        return HOME
    # browsers read a backslash as a slash, and drop tabs and line ends
    if not path.isascii() or not path.isprintable() or "\\" in path or " " in path:
        return HOME
    parts = urlsplit(path)
    leads_back = parts.path.startswith((LOGIN, LOGOUT))
    return HOME if parts.scheme or parts.netloc or leads_back else path


def is_secure(request: Request) -> bool:
    """Does the browser speak https to us? The proxy that ends TLS is named by `public_url`."""
    return origin(request).startswith("https:")


def origin(request: Request) -> str:
    """Scheme and host under which browsers know this platform."""
    settings: GatewaySettings = request.app.state.settings
    if settings.public_url:
        parts = urlsplit(settings.public_url)
        return f"{parts.scheme}://{parts.netloc}"
    return f"{request.url.scheme}://{request.url.netloc}"


def cookie_name(request: Request, name: str) -> str:
    """Over https the name forbids that a neighbouring host sets the cookie."""
    return f"__Host-{name}" if is_secure(request) else name


def set_cookie(
    response: Response, request: Request, name: str, value: str, *, max_age: int | None = None
) -> None:
    response.set_cookie(
        cookie_name(request, name),
        value,
        max_age=max_age,
        path="/",
        secure=is_secure(request),
        httponly=True,
        samesite="lax",
    )


def delete_cookie(response: Response, request: Request, name: str) -> None:
    response.delete_cookie(
        cookie_name(request, name), path="/", secure=is_secure(request), httponly=True, samesite="lax"
    )


def install(app: FastAPI) -> None:
    """What becomes of somebody who is not logged in, or not with a password of their own."""
    app.add_exception_handler(LoginFirst, _to_login)
    app.add_exception_handler(OwnPasswordFirst, _to_account)
    app.add_exception_handler(FreshLoginFirst, _to_fresh_login)


def _from_here(request: Request) -> bool:
    """Browsers say where a form was sent from; one that says nothing still needs the hidden field."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    stated = request.headers.get("origin")
    return stated is None or stated == origin(request)


async def _to_login(request: Request, _error: Exception) -> Response:
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    target = LOGIN
    if request.method == "GET" and safe_next(path) != HOME:
        target = f"{LOGIN}?next={quote(path, safe='/')}"
    return _redirect(request, target)


async def _to_fresh_login(request: Request, error: Exception) -> Response:
    """What was typed is lost: forms of the new session carry another value. They come back to the page, or to
    the nearest above it where the form leads to none."""
    path = str(error)
    while path and not _is_page(request, path):
        path = path.rpartition("/")[0]
    target = quote(safe_next(path), safe="/")
    return RedirectResponse(f"{LOGIN}?fresh=yes&next={target}", status_code=303)


def _is_page(request: Request, path: str) -> bool:
    scope = {**request.scope, "method": "GET", "path": path, "raw_path": path.encode()}
    return any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)


async def _to_account(request: Request, _error: Exception) -> Response:
    return _redirect(request, ACCOUNT)


def _redirect(request: Request, target: str) -> Response:
    if request.headers.get("hx-request") == "true":
        # a fragment's redirect would put the whole page into the fragment's place
        return Response(status_code=401, headers={"HX-Redirect": LOGIN if target != ACCOUNT else ACCOUNT})
    return RedirectResponse(target, status_code=303)
