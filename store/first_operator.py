"""The first operator: over HTTP operators add users, so whoever has the database's account adds this one."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from domain.errors import Conflict
from domain.permissions import Role
from store import audit, users


def token_of_operator(connection: sa.Connection, *, name: str, now: datetime) -> str:
    """A new token of this operator, whom the first call adds. An earlier full token of theirs stops working.

    Raises Conflict where the name belongs to a user of another role, or to one who was disabled.
    """
    role = {user.name: user.role for user in users.listed(connection)}.get(name)
    if role is None:
        token, action = users.add(connection, name=name, role=Role.OPERATOR, now=now)[1], "user.add"
    elif role is not Role.OPERATOR or name in users.disabled(connection):
        what = "was disabled" if role is Role.OPERATOR else "has another role"
        raise Conflict("name", f"the user {name} {what}.", "Choose another name.")
    else:
        token, action = users.renew_token(connection, name=name), "user.renew_token"
    audit.append(connection, at=now, actor="host", action=action, subject=name)
    return token
