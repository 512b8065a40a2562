"""Who is asking, and may they? Every route states a permission; the few open ones are named here."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from domain.acting import check_acting
from domain.permissions import DEEDS, Permission, User, check_allowed
from domain.refusals import rights
from domain.scopes import SCOPE, covers
from gateway.config import GatewaySettings
from gateway.login_line import LoginLine
from gateway.maintenance import check_goes_on
from gateway.oidc.providers import Providers
from gateway.queue import Queue
from store import tokens, users
from store.database import Database
from store.tokens import Caller

# login everywhere; exceptions by name
OPEN_ROUTES = {"/api/v1/health", "/api/v1/health/ready", "/api/v1/openapi.json", "/api/v1/login"}
# the identity provider comes with its own signature
OPEN_ROUTES |= {"/api/v1/login/ended"}

_bearer = HTTPBearer(
    auto_error=False,
    description="A token of `dpgate user add NAME`, `dpgate token add LABEL` or the identity provider",
)


# these two wait for nothing: were they not `async`, each request would go to another thread for them
async def database(request: Request) -> Database:
    found: Database = request.app.state.database
    return found


async def queue(request: Request) -> Queue:
    found: Queue = request.app.state.queue
    return found


def current_caller(
    request: Request,
    database: Annotated[Database, Depends(database)],
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> Caller:
    """Who holds the bearer token, and how far it reaches. Raises Unauthenticated."""
    if credentials is None:
        raise rights.NO_TOKEN()
    return caller_of(request, database, credentials.credentials)


def caller_of(request: Request, database: Database, token: str) -> Caller:
    """Whose token it is. Raises Unauthenticated."""
    providers: Providers = request.app.state.providers
    if providers and not users.is_ours(token):
        caller = providers.caller(database, token)
        greet(request)
        return caller
    now = datetime.now(UTC)
    with database.reading() as connection:
        caller = tokens.authenticate(connection, token, now)
        first_today = tokens.needs_note(connection, token, now.date())
    if first_today:
        with database.transaction() as connection:
            tokens.note_use(connection, token, now.date())
    greet(request)
    return caller


def greet(request: Request) -> None:
    """Somebody is who they say: where they are goes before where nobody ever was, in a crowd."""
    if request.client is not None:
        line: LoginLine = request.app.state.login_line
        line.greet(request.client.host)


def requires(permission: Permission) -> Callable[[Caller, Request, Database], User]:
    """A dependency that gives the user, or refuses; during maintenance also what would change something."""

    def check(
        caller: Annotated[Caller, Depends(current_caller)],
        request: Request,
        database: Annotated[Database, Depends(database)],
    ) -> User:
        check_allowed(caller.user, permission)
        check_acting(caller.user, permission)
        check_scope(caller, permission)
        check_no_step_up(request, caller.user, permission)
        check_goes_on(database, permission, request.method)
        return caller.user

    check.permission = permission  # type: ignore[attr-defined]  # the route test reads it
    return check


def check_scope(caller: Caller, permission: Permission) -> None:
    """Raises NotAllowed when the token was made for less."""
    if not covers(caller.scopes, permission):
        scope = SCOPE.get(permission)
        instead = f"Use one with the scope {scope}." if scope else "Log in and do it without a token."
        raise rights.TOKEN(deed=DEEDS[permission], instead=instead)


def check_no_step_up(request: Request, user: User, permission: Permission) -> None:
    """Raises NotAllowed where the role has to show anew who it is: a token shows that somebody did once."""
    settings: GatewaySettings = request.app.state.settings
    rule = settings.step_up.get(user.role)
    if rule is not None and rule.concerns(permission, request.method):
        raise rights.FRESH_LOGIN()


# A route opens its own transaction, for as long as it needs it. A connection held by a dependency would be
# kept until the answer was sent: forty readers then wait for each other, and one slow client keeps its own.
TheDatabase = Annotated[Database, Depends(database)]
TheCaller = Annotated[Caller, Depends(current_caller)]
TheQueue = Annotated[Queue, Depends(queue)]
