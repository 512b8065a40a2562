"""Logging in with a name and a password, the same for pages and programs."""

from __future__ import annotations

from datetime import datetime

from desk.users import NO_PASSWORDS
from domain.errors import InvalidRequest, NotFound
from domain.permissions import User
from gateway.config import GatewaySettings
from store import accounts, audit, sessions
from store.database import Database


def check_passwords_are_used(settings: GatewaySettings) -> None:
    """Raises NotFound on a platform whose people come from an identity provider."""
    if not settings.has_passwords:
        raise NotFound(*NO_PASSWORDS)


def change_password(
    database: Database, user: User, *, old: str, new: str, now: datetime, keep_session: str | None
) -> None:
    """The user's new choice; whoever else is logged in under their name is not any more.

    Raises Unauthenticated, TooMany or InvalidRequest.
    """
    if new == old:
        raise InvalidRequest("new_password", "is the old one.", "Choose another.")
    accounts.check_strength(user.name, new)
    accounts.check_password(database, user.name, old, now)
    with database.transaction() as connection:
        accounts.set_password(connection, user.name, new, now)
        sessions.close_all(connection, user.name, but=keep_session)
        audit.append(connection, at=now, actor=user.name, action="password.change", subject=user.name)


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
