"""Reports of operators about their hosts, kept in the audit trail by whoever can open the database there."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.errors import NotReady, RequestError
from domain.permissions import Role
from store import audit, users
from store.database import Database


def keep_report(url: str, *, token: str, action: str, subject: str, now: datetime, **details: Any) -> None:
    """One event in the name of the operator whose token this is. Raises NotReady when it cannot be kept."""
    database = Database(url)
    try:
        with database.transaction() as connection:
            operator = users.authenticate(connection, token)
            if operator.role is not Role.OPERATOR:
                raise NotReady(f"{operator.name} is not an operator of this platform")
            audit.append(connection, at=now, actor=operator.name, action=action, subject=subject, **details)
    except RequestError:
        raise NotReady("the operator's token is not valid there; start the platform once") from None
    except sa.exc.SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or type(error).__name__).strip().splitlines()[0]
        raise NotReady(f"its database cannot be written: {reason}") from None
    finally:
        database.close()
