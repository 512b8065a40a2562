"""Users of this platform."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel

from desk.rights import needs
from desk.tokens import TokenShown
from domain.errors import Conflict, NotAllowed, NotFound
from domain.identity import Kind
from domain.model import Model, Slug
from domain.permissions import Permission, Role, User
from store import accounts, audit, identities, recognition, sessions, tokens, users
from store.database import Database
from store.recognition import Person, Said

NO_PASSWORDS = "password", "this platform has no passwords.", "Log in with your organisation's account."


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


class SaidOf(BaseModel):
    """What the identity provider said of somebody at their last login. It decides nothing: names and
    addresses change hands, and some providers let people choose them."""

    issuer: str
    subject: str
    kind: Kind
    display_name: str | None
    affiliation: str | None
    email: str | None
    heard_at: datetime

    @classmethod
    def of(cls, said: Said) -> SaidOf:
        return cls(
            issuer=said.issuer,
            subject=said.subject,
            kind=said.kind,
            heard_at=said.heard_at,
            **vars(said.profile),
        )


class ListedUser(BaseModel):
    """`disabled`: may not log in any more, and nothing that they hold works. `said` is null for an account of
    the platform's own; `near` are users who are called alike."""

    name: str
    role: Role
    disabled: bool
    said: SaidOf | None
    near: list[str]

    @classmethod
    def of(cls, person: Person, *, disabled: bool) -> ListedUser:
        return cls(
            name=person.user.name,
            role=person.user.role,
            disabled=disabled,
            said=None if person.said is None else SaidOf.of(person.said),
            near=[other.name for other in person.near],
        )


class InitialPassword(BaseModel):
    """Shown this once. It lasts for a week and is good for choosing another one."""

    name: str
    initial_password: str


@needs(Permission.USER_READ)
def list_users(database: Database, _user: User) -> list[ListedUser]:
    with database.reading() as connection:
        found, disabled = recognition.people(connection), users.disabled(connection)
    return [ListedUser.of(one, disabled=name in disabled) for name, one in found.items()]


@needs(Permission.USER_ADD)
def add_user(database: Database, user: User, new: NewUser, has_passwords: bool) -> UserWithToken:
    if new.name in identities.RESERVED:
        raise Conflict(
            "name", "is what the platform calls itself in the audit trail.", "Choose another name."
        )
    now = datetime.now(UTC)
    with database.transaction() as connection:
        added, token = users.add(connection, name=new.name, role=new.role, now=now)
        password = accounts.set_initial_password(connection, added.name, now) if has_passwords else None
        audit.append(
            connection, at=now, actor=user.name, action="user.add", subject=added.name, role=added.role
        )
    return UserWithToken(name=added.name, role=added.role, token=token, initial_password=password)


@needs(Permission.USER_ADD)
def renew_password(database: Database, user: User, name: Slug, has_passwords: bool) -> InitialPassword:
    now = datetime.now(UTC)
    if not has_passwords:
        raise NotFound(*NO_PASSWORDS)
    with database.transaction() as connection:
        password = accounts.set_initial_password(connection, name, now)
        sessions.close_all(connection, name)
        audit.append(connection, at=now, actor=user.name, action="password.renew", subject=name)
    return InitialPassword(name=name, initial_password=password)


@needs(Permission.USER_READ)
def list_tokens_of(database: Database, _user: User, name: Slug) -> list[TokenShown]:
    """What they are for, how far they reach and how long they last; never the secret part."""
    with database.reading() as connection:
        found = tokens.of_user(connection, name, datetime.now(UTC))
    return [TokenShown(**vars(token)) for token in found]


@needs(Permission.USER_DISABLE)
def revoke_token_of(database: Database, user: User, name: Slug, token_id: str) -> list[TokenShown]:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        tokens.revoke(connection, name=name, token_id=token_id, now=now)
        audit.append(connection, at=now, actor=user.name, action="token.revoke", subject=token_id, of=name)
    return list_tokens_of(database, user, name)


@needs(Permission.USER_DISABLE)
def disable_user(database: Database, user: User, name: Slug) -> ListedUser:
    if name == user.name:
        raise NotAllowed("name", "you cannot disable yourself.", "Ask another operator.")
    now = datetime.now(UTC)
    with database.transaction() as connection:
        users.disable(connection, name=name, now=now)
        sessions.close_all(connection, name)
        tokens.revoke_all(connection, name=name, now=now)
        audit.append(connection, at=now, actor=user.name, action="user.disable", subject=name)
        found = recognition.people(connection, {name})[name]
    return ListedUser.of(found, disabled=True)
