"""Users and their tokens. A token is shown once; only a hash of its secret part is kept."""

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
_WRONG_TOKEN = ("authorization", "the token is not valid.", "Log in with `dpgate login`.")


def add(connection: sa.Connection, *, name: str, role: Role, now: datetime) -> tuple[User, str]:
    """A new user and the token, which cannot be shown again. Raises Conflict when the name is taken."""
    user = User(name=name, role=role)
    token_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    values = {
        "name": name,
        "role": role,
        "token_id": token_id,
        "token_hash": _hash(secret),
        "created_at": now,
    }
    if not insert_once(connection, users, values):
        raise Conflict("name", f"a user {name} exists already.", "Choose another name.")
    return user, f"{PREFIX}.{token_id}.{secret}"


def renew_token(connection: sa.Connection, *, name: str) -> str:
    """A fresh token for a user; the old one stops working."""
    token_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
    changed = connection.execute(
        sa.update(users).where(users.c.name == name).values(token_id=token_id, token_hash=_hash(secret))
    )
    if changed.rowcount != 1:
        raise NotFound("name", f"there is no user {name}.")
    return f"{PREFIX}.{token_id}.{secret}"


def authenticate(connection: sa.Connection, token: str) -> User:
    """The user who holds this token. Raises Unauthenticated, in the same words for every wrong token."""
    form = _TOKEN.fullmatch(token)
    token_id, secret = form.groups() if form else ("", "")
    row = connection.execute(sa.select(users).where(users.c.token_id == token_id)).one_or_none()
    # a secret has 256 random bits, so a plain hash of it is enough; unknown ids cost the same comparison
    expected = _hash("") if row is None else row.token_hash
    matches = hmac.compare_digest(expected, _hash(secret))
    if row is None or not matches:
        raise Unauthenticated(*_WRONG_TOKEN)
    return User(name=row.name, role=Role(row.role))


def listed(connection: sa.Connection) -> list[User]:
    query = sa.select(users.c.name, users.c.role).order_by(users.c.name)
    return [User(name=row.name, role=Role(row.role)) for row in connection.execute(query)]


def check_exist(connection: sa.Connection, names: tuple[str, ...]) -> None:
    """Raises NotFound naming the first unknown user."""
    known = {user.name for user in listed(connection)}
    for name in names:
        if name not in known:
            raise NotFound("members", f"there is no user {name}.", "Ask the operator to add them.")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
