"""Users of this platform."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel

from domain.errors import Conflict, NotAllowed
from domain.model import Model, Slug
from domain.permissions import Permission, Role, User
from gateway.access import TheDatabase, requires
from gateway.api.tokens import TokenShown
from gateway.config import GatewaySettings
from gateway.logins import check_passwords_are_used
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, OurId
from store import accounts, audit, identities, sessions, tokens, users

router = APIRouter(prefix=f"{PREFIX}/users", tags=["users"], responses=RESPONSES)


class NewUser(Model):
    name: Slug
    role: Role


class UserWithToken(BaseModel):
    """Token and first password are shown this once; only hashes of them are kept.

    The password lasts for a week and is good for choosing another one; there is none where people come from
    an identity provider.
    """

    name: str
    role: Role
    token: str
    initial_password: str | None


class ListedUser(BaseModel):
    """`disabled`: may not log in any more, and nothing that they hold works."""

    name: str
    role: Role
    disabled: bool


class InitialPassword(BaseModel):
    """Shown this once. It lasts for a week and is good for choosing another one."""

    name: str
    initial_password: str


@router.get("", summary="All users")
def list_users(
    _user: Annotated[User, Depends(requires(Permission.USER_READ))], database: TheDatabase
) -> list[ListedUser]:
    with database.reading() as connection:
        found, disabled = users.listed(connection), users.disabled(connection)
    return [ListedUser(name=user.name, role=user.role, disabled=user.name in disabled) for user in found]


@router.post("", status_code=201, summary="Add a user")
def add_user(
    new: NewUser,
    user: Annotated[User, Depends(requires(Permission.USER_ADD))],
    request: Request,
    database: TheDatabase,
) -> UserWithToken:
    if new.name in identities.RESERVED:
        raise Conflict(
            "name", "is what the platform calls itself in the audit trail.", "Choose another name."
        )
    now = datetime.now(UTC)
    settings: GatewaySettings = request.app.state.settings
    with database.transaction() as connection:
        added, token = users.add(connection, name=new.name, role=new.role, now=now)
        password = (
            accounts.set_initial_password(connection, added.name, now) if settings.has_passwords else None
        )
        audit.append(
            connection, at=now, actor=user.name, action="user.add", subject=added.name, role=added.role
        )
    return UserWithToken(name=added.name, role=added.role, token=token, initial_password=password)


@router.post("/{name}/password", status_code=201, summary="A new first password for a user")
def renew_password(
    name: Slug,
    user: Annotated[User, Depends(requires(Permission.USER_ADD))],
    request: Request,
    database: TheDatabase,
) -> InitialPassword:
    now = datetime.now(UTC)
    check_passwords_are_used(request.app.state.settings)
    with database.transaction() as connection:
        password = accounts.set_initial_password(connection, name, now)
        sessions.close_all(connection, name)
        audit.append(connection, at=now, actor=user.name, action="password.renew", subject=name)
    return InitialPassword(name=name, initial_password=password)


@router.get("/{name}/tokens", summary="The tokens of a user that work")
def list_tokens_of(
    name: Slug, _user: Annotated[User, Depends(requires(Permission.USER_READ))], database: TheDatabase
) -> list[TokenShown]:
    """What they are for, how far they reach and how long they last; never the secret part."""
    with database.reading() as connection:
        found = tokens.of_user(connection, name, datetime.now(UTC))
    return [TokenShown(**vars(token)) for token in found]


@router.delete("/{name}/tokens/{token_id}", summary="Revoke a token of a user")
def revoke_token_of(
    name: Slug,
    token_id: OurId,
    user: Annotated[User, Depends(requires(Permission.USER_DISABLE))],
    database: TheDatabase,
) -> list[TokenShown]:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        tokens.revoke(connection, name=name, token_id=token_id, now=now)
        audit.append(connection, at=now, actor=user.name, action="token.revoke", subject=token_id, of=name)
    return list_tokens_of(name, user, database)


@router.delete("/{name}", summary="Disable a user: all sessions and tokens end at once")
def disable_user(
    name: Slug, user: Annotated[User, Depends(requires(Permission.USER_DISABLE))], database: TheDatabase
) -> ListedUser:
    if name == user.name:
        raise NotAllowed("name", "you cannot disable yourself.", "Ask another operator.")
    now = datetime.now(UTC)
    with database.transaction() as connection:
        users.disable(connection, name=name, now=now)
        sessions.close_all(connection, name)
        tokens.revoke_all(connection, name=name, now=now)
        audit.append(connection, at=now, actor=user.name, action="user.disable", subject=name)
        found = next(one for one in users.listed(connection) if one.name == name)
    return ListedUser(name=found.name, role=found.role, disabled=True)
