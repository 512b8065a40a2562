"""Users and the one full token of each. A token is shown once; only a hash of its secret part is kept."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from datetime import datetime

import sqlalchemy as sa

from domain.errors import Conflict, NotFound, Unauthenticated
from domain.permissions import Role, User
from store.database import insert_once
from store.tables import users

PREFIX = "dpgate"
_TOKEN = re.compile(rf"{PREFIX}\.([0-9a-f]{{16}})\.([A-Za-z0-9_-]{{43}})", re.ASCII)
REVOKED = "revoked"
"""In the place of a hash: no secret has it."""
WRONG_TOKEN = (
    "authorization",
    "the token is not valid.",
    "Log in with `dpgate login --url https://dpgate.example.org`.",
)


def add(connection: sa.Connection, *, name: str, role: Role, now: datetime) -> tuple[User, str]:
    """A new user and the token, which cannot be shown again. Raises Conflict when the name is taken."""
    user = User(name=name, role=role)
    token_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    values = {
        "name": name,
        "role": role,
        "token_id": token_id,
        "token_hash": hash_of(secret),
        "created_at": now,
    }
    if not insert_once(connection, users, values):
        raise Conflict("name", f"a user {name} exists already.", "Choose another name.")
    return user, f"{PREFIX}.{token_id}.{secret}"


def disable(connection: sa.Connection, *, name: str, now: datetime) -> None:
    """Nothing that this user holds works any more. Raises NotFound; once is as good as twice."""
    changed = connection.execute(
        sa.update(users)
        .where(users.c.name == name)
        .values(disabled_at=sa.func.coalesce(users.c.disabled_at, now))
    )
    if changed.rowcount != 1:
        raise NotFound("name", f"there is no user {name}.")


def set_role(connection: sa.Connection, *, name: str, role: Role) -> None:
    """Another role, as an identity provider says."""
    connection.execute(sa.update(users).where(users.c.name == name).values(role=role))


def renew_token(connection: sa.Connection, *, name: str) -> str:
    """A fresh token for a user; the old one stops working."""
    token_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    changed = connection.execute(
        sa.update(users).where(users.c.name == name).values(token_id=token_id, token_hash=hash_of(secret))
    )
    if changed.rowcount != 1:
        raise NotFound("name", f"there is no user {name}.")
    return f"{PREFIX}.{token_id}.{secret}"


def full_token(connection: sa.Connection, name: str) -> str | None:
    """The id of the token that came with the account; None when it was ended."""
    query = sa.select(users.c.token_id).where(users.c.name == name, users.c.token_hash != REVOKED)
    found: str | None = connection.execute(query).scalar()
    return found


def end_full_token(connection: sa.Connection, *, name: str, token_id: str) -> bool:
    """Whoever added the user has seen it: nobody comes in with it any more. False when it is not theirs, or
    was ended before."""
    its = (users.c.name == name, users.c.token_id == token_id, users.c.token_hash != REVOKED)
    return connection.execute(sa.update(users).where(*its).values(token_hash=REVOKED)).rowcount == 1


def parts_of(token: str) -> tuple[str, str]:
    """Id and secret of a token of ours; empty for any other text."""
    form = _TOKEN.fullmatch(token)
    return (form[1], form[2]) if form else ("", "")


def is_ours(token: str) -> bool:
    """Does it look like a token of this platform's own?"""
    return token.startswith(f"{PREFIX}.")


def authenticate(connection: sa.Connection, token: str) -> User:
    """The user who holds this token. Raises Unauthenticated, in the same words for every wrong token."""
    token_id, secret = parts_of(token)
    row = connection.execute(sa.select(users).where(users.c.token_id == token_id)).one_or_none()
    # a secret has 256 random bits, so a plain hash of it is enough; unknown ids cost the same comparison
    expected = hash_of("") if row is None else row.token_hash
    matches = hmac.compare_digest(str(expected).encode(), hash_of(secret).encode())
    if row is None or not matches or row.disabled_at is not None:
        raise Unauthenticated(*WRONG_TOKEN)
    return User(name=row.name, role=Role(row.role))


def listed(connection: sa.Connection) -> list[User]:
    query = sa.select(users.c.name, users.c.role).order_by(users.c.name)
    return [User(name=row.name, role=Role(row.role)) for row in connection.execute(query)]


def disabled(connection: sa.Connection) -> set[str]:
    """The names of those who may not log in any more."""
    return set(connection.execute(sa.select(users.c.name).where(users.c.disabled_at.is_not(None))).scalars())


def check_exist(connection: sa.Connection, names: tuple[str, ...]) -> None:
    """Raises NotFound naming the first unknown user."""
    known = {user.name for user in listed(connection)}
    for name in names:
        if name not in known:
            raise NotFound("members", f"there is no user {name}.", "Ask the operator to add them.")


def hash_of(secret: str) -> str:
    """What is kept of a secret of 256 random bits; a password needs a slow hash instead."""
    return hashlib.sha256(secret.encode()).hexdigest()
