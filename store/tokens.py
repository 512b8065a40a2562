"""API tokens that reach only so far and only so long. Shown once; only a hash of the secret part is kept."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.errors import Conflict, InvalidRequest, NotFound, Spoilt, Unauthenticated
from domain.permissions import Role, User
from domain.scopes import ALL, Scope
from store import users
from store.account_tables import api_tokens, identities
from store.sessions import still_vouched_for
from store.spoilt import readable, reads
from store.tables import users as users_table

LONGEST = timedelta(days=366)
MOST = 50


@dataclass(frozen=True)
class Caller:
    """Who sends a request, and how far what they hold reaches."""

    user: User
    scopes: frozenset[Scope] = ALL
    # None: until it is replaced
    expires_at: datetime | None = None
    # the login at an identity provider that it all came of, as a digest
    login: str | None = None


@dataclass(frozen=True)
class Token:
    """A token on record: everything but the secret."""

    id: str
    label: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime
    last_used_on: date | None


def create(
    connection: sa.Connection,
    by: Caller,
    *,
    label: str,
    scopes: frozenset[Scope],
    lasts: timedelta,
    now: datetime,
) -> tuple[Token, str]:
    """A token for the caller, and its text, which cannot be shown again.

    Never wider than what the caller holds; where theirs ends, it ends. Raises InvalidRequest, Conflict.
    """
    if not scopes:
        raise InvalidRequest("scopes", "name none.", "Name at least one.")
    if wider := sorted(scopes - by.scopes):
        raise InvalidRequest(
            "scopes", f"hold {wider[0]}, which your own token does not.", "Ask for less, or log in fully."
        )
    if len(of_user(connection, by.user.name, now)) >= MOST:
        raise Conflict("label", f"you have {MOST} tokens.", "Revoke one that you no longer need.")
    expires = min(now + min(lasts, LONGEST), by.expires_at or now + LONGEST)
    token_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    made = Token(token_id, label, tuple(sorted(scopes)), now, expires, None)
    connection.execute(
        sa.insert(api_tokens).values(
            id=token_id,
            name=by.user.name,
            label=label,
            hash=users.hash_of(secret),
            scopes=list(made.scopes),
            created_at=now,
            expires_at=expires,
            login=by.login,
        )
    )
    return made, f"{users.PREFIX}.{token_id}.{secret}"


def authenticate(connection: sa.Connection, token: str, now: datetime) -> Caller:
    """Who holds this token, of either kind. Raises Unauthenticated, in the same words for every wrong one."""
    token_id, secret = users.parts_of(token)
    query = (
        sa.select(api_tokens, users_table.c.role)
        .join(users_table, users_table.c.name == api_tokens.c.name)
        .outerjoin(identities, identities.c.name == api_tokens.c.name)
        .where(api_tokens.c.id == token_id, _is_valid(now), users_table.c.disabled_at.is_(None))
        .where(still_vouched_for(now))
    )
    row = connection.execute(query).one_or_none()
    if row is None:
        return Caller(users.authenticate(connection, token))
    if not hmac.compare_digest(row.hash, users.hash_of(secret)):
        raise Unauthenticated(*users.WRONG_TOKEN)
    user = User(name=row.name, role=Role(row.role))
    try:
        return Caller(user, frozenset(_scopes(row)), row.expires_at, row.login)
    except Spoilt:  # nobody knows what it may do
        raise Unauthenticated(*users.WRONG_TOKEN) from None


def needs_note(connection: sa.Connection, token: str, today: date) -> bool:
    """Is this the token's first use today?"""
    query = sa.select(api_tokens.c.id).where(_used_before(token, today))
    return connection.execute(query).one_or_none() is not None


def note_use(connection: sa.Connection, token: str, today: date) -> None:
    connection.execute(sa.update(api_tokens).where(_used_before(token, today)).values(last_used_on=today))


def of_user(connection: sa.Connection, name: str, now: datetime) -> list[Token]:
    """The tokens that work, oldest first."""
    query = sa.select(api_tokens).where(api_tokens.c.name == name, _is_valid(now))
    return readable(_token, connection.execute(query.order_by(api_tokens.c.created_at, api_tokens.c.id)))


def revoke(connection: sa.Connection, *, name: str, token_id: str, now: datetime) -> None:
    """It stops working at once, also the one that came with the account. Raises NotFound, also for a token of
    somebody else."""
    query = sa.update(api_tokens).where(
        api_tokens.c.id == token_id, api_tokens.c.name == name, api_tokens.c.revoked_at.is_(None)
    )
    if connection.execute(query.values(revoked_at=now)).rowcount == 1:
        return
    if not users.end_full_token(connection, name=name, token_id=token_id):
        raise NotFound("token", f"{name} has no token {token_id}.", "`dpgate token list` shows your own.")


def revoke_all(connection: sa.Connection, *, name: str, now: datetime) -> None:
    query = sa.update(api_tokens).where(api_tokens.c.name == name, api_tokens.c.revoked_at.is_(None))
    connection.execute(query.values(revoked_at=now))


@reads("token")
def _token(row: sa.Row[Any]) -> Token:
    return Token(row.id, row.label, _scopes(row), row.created_at, row.expires_at, row.last_used_on)


@reads("token")
def _scopes(row: sa.Row[Any]) -> tuple[Scope, ...]:
    return tuple(map(Scope, row.scopes))


def _is_valid(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(api_tokens.c.revoked_at.is_(None), api_tokens.c.expires_at > now)


def _used_before(token: str, today: date) -> sa.ColumnElement[bool]:
    token_id, _ = users.parts_of(token)
    unnoted = sa.or_(api_tokens.c.last_used_on.is_(None), api_tokens.c.last_used_on < today)
    return sa.and_(api_tokens.c.id == token_id, unnoted)
