"""One's own password and sessions."""

from __future__ import annotations

from datetime import UTC, datetime

from desk.rights import needs
from domain.errors import InvalidRequest
from domain.permissions import Permission, User
from store import accounts, audit, sessions
from store.database import Database


@needs(Permission.TOKENS_OWN)
def change_password(database: Database, user: User, *, old: str, new: str, keep_session: str | None) -> None:
    """The user's new choice; whoever else is logged in under their name is not any more.

    Raises Unauthenticated, TooMany or InvalidRequest.
    """
    now = datetime.now(UTC)
    if new == old:
        raise InvalidRequest("new_password", "is the old one.", "Choose another.")
    accounts.check_strength(user.name, new)
    accounts.check_password(database, user.name, old, now)
    with database.transaction() as connection:
        accounts.set_password(connection, user.name, new, now)
        sessions.close_all(connection, user.name, but=keep_session)
        audit.append(connection, at=now, actor=user.name, action="password.change", subject=user.name)


@needs(Permission.TOKENS_OWN)
def end_other_sessions(database: Database, user: User, *, keep_session: str) -> None:
    with database.transaction() as connection:
        ended = sessions.close_all(connection, user.name, but=keep_session)
        audit.append(
            connection,
            at=datetime.now(UTC),
            actor=user.name,
            action="session.close",
            subject=user.name,
            others=ended,
        )
