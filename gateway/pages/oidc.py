"""To the identity provider and back."""

from __future__ import annotations

import re
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from domain.errors import RequestError
from gateway.access import TheDatabase
from gateway.config import MAIN, GatewaySettings
from gateway.oidc.browser import Attempt, address_for, finish
from gateway.oidc.faults import Fault, refused
from gateway.oidc.provider import Provider
from gateway.oidc.providers import Providers
from gateway.pages.login import enter, login_form
from gateway.pages.session import HOME, LOGIN, cookie_name, delete_cookie, origin, safe_next, set_cookie

router = APIRouter(include_in_schema=False)
COOKIE = "dpgate_attempt"
LASTS_S = 600
# of logins that were begun and not ended: a browser's cookies have to fit into a request
MOST_ATTEMPTS = 8
LEAVE, BACK, OUT = "/login/oidc", "/login/oidc/back", "/login/oidc/out"


@router.get(LEAVE)
def leave(request: Request, database: TheDatabase) -> Response:
    """A plain link leads here: a form could not be redirected to another site under our policy."""
    providers: Providers = request.app.state.providers
    provider = providers.for_browser(request.query_params.get("provider"))
    attempt = Attempt.new(provider.name, safe_next(request.query_params.get("next")))
    try:
        back = origin(request) + _back_from(provider)
        address = address_for(provider, attempt, back=back, fresh=_fresh(request))
    except RequestError as error:
        providers.refusals.note(database, error, way="browser")
        return login_form(request, target=attempt.next, error=error)
    response = RedirectResponse(address, status_code=303)
    _forget_old(request, response)
    set_cookie(response, request, _cookie_of(attempt.state), attempt.written(), max_age=LASTS_S)
    return response


@router.get(BACK)
@router.get(f"{BACK}/{{name}}")
def come_back(request: Request, database: TheDatabase) -> Response:
    """The provider sends the browser here with a code that only this attempt can use, once."""
    providers: Providers = request.app.state.providers
    cookie = _cookie_of(request.query_params.get("state", ""))
    attempt = Attempt.read(request.cookies.get(cookie_name(request, cookie), ""))
    provider = providers.for_browser(attempt.provider if attempt else None)
    target = safe_next(attempt.next) if attempt else HOME
    try:
        if request.url.path != _back_from(provider):
            raise refused(Fault.OTHER_ISSUER)
        found = finish(provider, attempt, request.query_params, back=origin(request) + _back_from(provider))
        user = provider.admit(database, found.word)
        response = enter(request, database, user, by="oidc", target=target, shown=found.shown)
    except RequestError as error:
        providers.refusals.note(database, error, way="browser")
        response = login_form(request, target=target, error=error)
    delete_cookie(response, request, cookie)
    return response


@router.get(OUT)
def log_out_there(request: Request) -> Response:
    """After the logout here: on to the provider (OpenID Connect RP-Initiated Logout 1.0), which asks whether
    to end its own session, and sends the browser back."""
    providers: Providers = request.app.state.providers
    provider = providers.for_browser(request.query_params.get("provider"))
    try:
        address = provider.published.find_address("end_session_endpoint")
    except RequestError as error:
        return login_form(request, target=HOME, error=error)
    if address is None:
        return RedirectResponse(LOGIN, status_code=303)
    asked = {"client_id": provider.client_id or "", "post_logout_redirect_uri": origin(request) + LOGIN}
    return RedirectResponse(f"{address}{'&' if '?' in address else '?'}{urlencode(asked)}", status_code=303)


def _back_from(provider: Provider) -> str:
    """Each provider sends browsers to an address of its own (RFC 9700, 2.1 and 4.4.2): one that sends them on
    to another provider does not get what that one says."""
    return BACK if provider.name == MAIN else f"{BACK}/{provider.name}"


def _fresh(request: Request) -> tuple[str, ...] | None:
    """Where somebody has to show anew who they are: by any of the ways that a role needs. It is looked at
    again when they do what needs it."""
    if "fresh" not in request.query_params:
        return None
    settings: GatewaySettings = request.app.state.settings
    return tuple(dict.fromkeys(way for rule in settings.step_up.values() for way in rule.acr))


def _cookie_of(state: str) -> str:
    """Each attempt has its own: the start of its state, which is of letters that a cookie's name may have."""
    return f"{COOKIE}_{re.sub('[^A-Za-z0-9_-]', '', state)[:16]}"


def _forget_old(request: Request, response: Response) -> None:
    """The browser sends the oldest first; of many begun logins those go."""
    ours = cookie_name(request, COOKIE)
    begun = [name for name in request.cookies if name.startswith(ours)]
    for name in begun[: max(0, len(begun) - MOST_ATTEMPTS + 1)]:
        delete_cookie(response, request, name.removeprefix(ours.removesuffix(COOKIE)))
