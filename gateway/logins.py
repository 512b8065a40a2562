"""Logging in with a name and a password, the same for pages and programs."""

from __future__ import annotations

from datetime import datetime

from desk.users import NO_PASSWORDS
from domain.errors import NotFound
from domain.permissions import User
from gateway.config import GatewaySettings
from store import audit, sessions
from store.database import Database


def check_passwords_are_used(settings: GatewaySettings) -> None:
    """Raises NotFound on a platform whose people come from an identity provider."""
    if not settings.has_passwords:
        raise NotFound(*NO_PASSWORDS)


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
