"""To the identity provider and back."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from domain.errors import NotFound, RequestError
from gateway.access import TheDatabase
from gateway.config import GatewaySettings
from gateway.oidc.browser import Attempt, address_for, finish
from gateway.oidc.provider import Provider
from gateway.pages.login import enter, login_form
from gateway.pages.session import HOME, cookie_name, delete_cookie, origin, safe_next, set_cookie

router = APIRouter(include_in_schema=False)
COOKIE = "dpgate_attempt"
LASTS_S = 600
LEAVE, BACK = "/login/oidc", "/login/oidc/back"


@router.get(LEAVE)
def leave(request: Request) -> Response:
    """A plain link leads here: a form could not be redirected to another site under our policy."""
    provider = _provider(request)
    settings: GatewaySettings = request.app.state.settings
    attempt = Attempt.new(safe_next(request.query_params.get("next")))
    try:
        address = address_for(provider, attempt, back=origin(request) + BACK, scope=settings.oidc_scope)
    except RequestError as error:
        return login_form(request, target=attempt.next, error=error)
    response = RedirectResponse(address, status_code=303)
    set_cookie(response, request, COOKIE, attempt.written(), max_age=LASTS_S)
    return response


@router.get(BACK)
def come_back(request: Request, database: TheDatabase) -> Response:
    """The provider sends the browser here with a code that only this attempt can use, once."""
    provider = _provider(request)
    attempt = Attempt.read(request.cookies.get(cookie_name(request, COOKIE), ""))
    target = safe_next(attempt.next) if attempt else HOME
    try:
        word = finish(provider, attempt, request.query_params, back=origin(request) + BACK)
        user = provider.admit(database, word)
        response = enter(request, database, user, by="oidc", target=target)
    except RequestError as error:
        response = login_form(request, target=target, error=error)
    delete_cookie(response, request, COOKIE)
    return response


def _provider(request: Request) -> Provider:
    found: Provider | None = request.app.state.provider
    if found is None or found.client_id is None:
        raise NotFound("login", "this platform has no identity provider.", "Log in with your password.")
    return found
