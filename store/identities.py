"""People and services of an identity provider, and the users that they are here.

An identity is the provider and its name for somebody. User names and e-mail addresses change hands.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime

import sqlalchemy as sa

from domain.errors import Conflict, Unauthenticated
from domain.permissions import Role, User
from store import audit, users
from store.account_tables import identities
from store.database import insert_once
from store.tables import users as users_table

# who acts in the audit trail without being a user
RESERVED = {"gateway", "host", "operator", "policy", "sweep", "unknown", "worker"}
MOST_OF_A_NAME = 99


def find(connection: sa.Connection, *, issuer: str, subject: str) -> User | None:
    """The user of an identity; None before the first login. Raises Unauthenticated for a disabled one."""
    query = (
        sa.select(users_table.c.name, users_table.c.role, users_table.c.disabled_at)
        .join(identities, identities.c.name == users_table.c.name)
        .where(identities.c.issuer == issuer, identities.c.subject == subject)
    )
    row = connection.execute(query).one_or_none()
    if row is not None and row.disabled_at is not None:
        raise Unauthenticated("authorization", "this account is disabled.", "Ask the operator.")
    return None if row is None else User(name=row.name, role=Role(row.role))


def admit(
    connection: sa.Connection, *, issuer: str, subject: str, called: str, role: Role, now: datetime
) -> User:
    """The user of an identity, made at its first login, with the role that the provider's word gives now."""
    known = find(connection, issuer=issuer, subject=subject)
    if known is None:
        return _add(connection, issuer=issuer, subject=subject, called=called, role=role, now=now)
    if known.role is not role:
        users.set_role(connection, name=known.name, role=role)
        audit.append(connection, at=now, actor="gateway", action="user.role", subject=known.name, role=role)
    return User(name=known.name, role=role)


def slug(called: str) -> str:
    """A user name from what somebody is called elsewhere; not from the part behind an @."""
    letters = unicodedata.normalize("NFKD", called.partition("@")[0]).encode("ascii", "ignore").decode()
    name = re.sub(r"[^a-z0-9]+", "-", letters.lower()).strip("-")[:40].strip("-")
    return name or "user"


def _add(
    connection: sa.Connection, *, issuer: str, subject: str, called: str, role: Role, now: datetime
) -> User:
    user = _free_user(connection, called=called, role=role, now=now)
    values = {"issuer": issuer, "subject": subject, "name": user.name, "created_at": now}
    if not insert_once(connection, identities, values):
        # the same person came through two doors at once; the transaction that is first counts
        raise Conflict("authorization", "this account is being made right now.", "Try again.")
    audit.append(connection, at=now, actor="gateway", action="user.add", subject=user.name, role=role)
    return user


def _free_user(connection: sa.Connection, *, called: str, role: Role, now: datetime) -> User:
    """Never somebody else's name: a number goes behind it."""
    wanted = slug(called)
    for number in range(1, MOST_OF_A_NAME + 1):
        name = wanted if number == 1 else f"{wanted}-{number}"
        if name in RESERVED:
            continue
        try:
            # the token that comes with it is shown to nobody
            return users.add(connection, name=name, role=role, now=now)[0]
        except Conflict:
            continue
    raise Conflict("authorization", f"too many users are called {wanted}.", "Ask the operator.")
