"""Logins in a browser. The cookie holds 256 random bits; only their hash is kept."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from domain.errors import Unauthenticated
from domain.permissions import Role, User
from store.account_tables import identities, passwords, sessions
from store.tables import users
from store.users import hash_of

LONGEST = timedelta(hours=12)
IDLE = timedelta(hours=1)
# how old `seen_at` may grow before it is written again: not on every page
STALE = timedelta(minutes=2)
_NO_SESSION = ("session", "nobody is logged in here.", "Log in.")


@dataclass(frozen=True)
class Shown:
    """What an identity provider says of a login: a digest that names it, how somebody showed who they are (in
    its own word, `acr`), and when."""

    login: str | None = None
    acr: str | None = None
    at: datetime | None = None


@dataclass(frozen=True)
class Session:
    """An open session and whose it is."""

    user: User
    opened_at: datetime
    seen_at: datetime
    # the password is still the one that the operator was shown
    initial_password: bool
    shown: Shown
    # of somebody whom an identity provider vouches for
    is_of_provider: bool

    def is_stale(self, now: datetime) -> bool:
        return now - self.seen_at > STALE


def open_session(connection: sa.Connection, user: User, now: datetime, *, shown: Shown | None = None) -> str:
    """A new session; returns the token of its cookie, which is never given out again."""
    shown = shown or Shown()
    connection.execute(sa.delete(sessions).where(~_is_open(now)))
    token = secrets.token_urlsafe(32)
    values = {"hash": hash_of(token), "name": user.name, "opened_at": now, "seen_at": now}
    values |= {"login": shown.login, "acr": shown.acr, "shown_at": shown.at}
    connection.execute(sa.insert(sessions).values(values))
    return token


def find(connection: sa.Connection, token: str, now: datetime) -> Session:
    """The open session with this token. Raises Unauthenticated when it ended or never was."""
    query = (
        sa.select(sessions, users.c.role)
        .add_columns(passwords.c.initial_until, identities.c.name.label("vouched_for"))
        .join(users, users.c.name == sessions.c.name)
        .outerjoin(passwords, passwords.c.name == sessions.c.name)
        .outerjoin(identities, identities.c.name == sessions.c.name)
        .where(sessions.c.hash == hash_of(token), _is_open(now), users.c.disabled_at.is_(None))
        .where(still_vouched_for(now))
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        raise Unauthenticated(*_NO_SESSION)
    user = User(name=row.name, role=Role(row.role))
    # what is no instant is written again at once, as one long ago
    seen_at = row.seen_at if isinstance(row.seen_at, datetime) else now - IDLE
    shown = Shown(row.login, row.acr, row.shown_at)
    return Session(
        user, row.opened_at, seen_at, row.initial_until is not None, shown, row.vouched_for is not None
    )


def touch(connection: sa.Connection, token: str, now: datetime) -> None:
    """Somebody is still there: an hour more, within the twelve."""
    query = sa.update(sessions).where(sessions.c.hash == hash_of(token), _is_open(now))
    connection.execute(query.values(seen_at=now))


def close_session(connection: sa.Connection, token: str) -> None:
    connection.execute(sa.delete(sessions).where(sessions.c.hash == hash_of(token)))


def close_all(connection: sa.Connection, name: str, *, but: str | None = None) -> int:
    """End every session of this user, or every other one than `but`; returns how many."""
    query = sa.delete(sessions).where(sessions.c.name == name)
    if but is not None:
        query = query.where(sessions.c.hash != hash_of(but))
    return connection.execute(query).rowcount


def count(connection: sa.Connection, name: str, now: datetime) -> int:
    """In how many browsers this user is logged in."""
    query = sa.select(sa.func.count()).select_from(sessions).where(sessions.c.name == name, _is_open(now))
    return int(connection.execute(query).scalar_one())


def still_vouched_for(now: datetime) -> sa.ColumnElement[bool]:
    """Of somebody without an identity elsewhere, or whose provider's word still counts; for an outer join."""
    return sa.or_(identities.c.name.is_(None), identities.c.counts_until > now)


def _is_open(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(sessions.c.opened_at > now - LONGEST, sessions.c.seen_at > now - IDLE)
