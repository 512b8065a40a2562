"""Users of this platform."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from domain.model import Model, Slug
from domain.permissions import Permission, Role, User
from gateway.access import TheDatabase, requires
from gateway.problems import RESPONSES
from store import audit, users

router = APIRouter(prefix="/users", tags=["users"], responses=RESPONSES)


class NewUser(Model):
    name: Slug
    role: Role


class UserWithToken(BaseModel):
    """The token is shown this once; only a hash of it is kept."""

    name: str
    role: Role
    token: str


@router.get("", summary="All users")
def list_users(
    _user: Annotated[User, Depends(requires(Permission.USER_READ))], database: TheDatabase
) -> list[User]:
    with database.reading() as connection:
        return users.listed(connection)


@router.post("", status_code=201, summary="Add a user")
def add_user(
    new: NewUser, user: Annotated[User, Depends(requires(Permission.USER_ADD))], database: TheDatabase
) -> UserWithToken:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        added, token = users.add(connection, name=new.name, role=new.role, now=now)
        audit.append(
            connection, at=now, actor=user.name, action="user.add", subject=added.name, role=added.role
        )
    return UserWithToken(name=added.name, role=added.role, token=token)
