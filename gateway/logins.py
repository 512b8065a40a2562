"""Logging in with a name and a password, the same for pages and programs."""

from __future__ import annotations

from datetime import datetime

from fastapi import Request

from desk.users import NO_PASSWORDS
from domain.errors import NotFound
from domain.permissions import User
from gateway.config import GatewaySettings
from gateway.login_line import LoginLine
from store import accounts, audit, sessions
from store.database import Database


def check_passwords_are_used(settings: GatewaySettings) -> None:
    """Raises NotFound on a platform whose people come from an identity provider."""
    if not settings.has_passwords:
        raise NotFound(*NO_PASSWORDS)


def check_login(
    request: Request, database: Database, name: str, password: str, now: datetime, *, word: str = ""
) -> User:
    """The user, if this is their password, once it is their turn. `word`: what their browser keeps of an
    earlier login. Raises Unauthenticated or TooMany."""
    check_passwords_are_used(request.app.state.settings)
    line: LoginLine = request.app.state.login_line
    browser = accounts.place_of_browser(database, name, word)
    with line.turn(name, request.client.host if request.client else "", browser=browser) as turn:
        user = accounts.check_password(database, name, password, now, origin=turn.origin)
        turn.is_right = True
    return user


def open_session(
    database: Database,
    user: User,
    *,
    old_token: str,
    by: str,
    now: datetime,
    shown: sessions.Shown | None = None,
) -> str:
    """A new session under a new token; the one that the browser came with ends. `by` is the way in."""
    with database.transaction() as connection:
        sessions.close_session(connection, old_token)
        token = sessions.open_session(connection, user, now, shown=shown)
        audit.append(connection, at=now, actor=user.name, action="session.open", subject=user.name, by=by)
    return token
