"""Who is asking, and may they? Every route states a permission; the few open ones are named here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from domain.errors import Unauthenticated
from domain.permissions import Permission, User, check_allowed
from gateway.queue import Queue
from store import users
from store.database import Database

# login everywhere; exceptions by name
OPEN_ROUTES = {"/api/v1/health", "/api/v1/openapi.json"}

_bearer = HTTPBearer(auto_error=False, description="A token of `dpgate user add`")


def database(request: Request) -> Database:
    found: Database = request.app.state.database
    return found


def queue(request: Request) -> Queue:
    found: Queue = request.app.state.queue
    return found


def current_user(
    database: Annotated[Database, Depends(database)],
    credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> User:
    """The user behind the bearer token. Raises Unauthenticated."""
    if credentials is None:
        raise Unauthenticated(
            "authorization", "no token came with the request.", "Log in with `dpgate login`."
        )
    with database.reading() as connection:
        return users.authenticate(connection, credentials.credentials)


def requires(permission: Permission) -> Callable[[User], User]:
    """A dependency that gives the user, or refuses."""

    def check(user: Annotated[User, Depends(current_user)]) -> User:
        check_allowed(user, permission)
        return user

    check.permission = permission  # type: ignore[attr-defined]  # the route test reads it
    return check


# A route opens its own transaction, for as long as it needs it. A connection held by a dependency would be
# kept until the answer was sent: forty readers then wait for each other, and one slow client keeps its own.
TheDatabase = Annotated[Database, Depends(database)]
TheQueue = Annotated[Queue, Depends(queue)]
