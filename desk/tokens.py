"""Tokens of one's own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Annotated

from pydantic import BaseModel, Field

from desk.rights import needs
from domain.model import Model, Slug, Whole
from domain.permissions import Permission, User
from domain.scopes import Scope
from store import audit, tokens
from store.database import Database
from store.tokens import Caller


class NewToken(Model):
    """What a token is for, how far it reaches and how long it lasts."""

    label: Slug
    scopes: tuple[Scope, ...] = (Scope.READ,)
    days: Annotated[Whole, Field(ge=1, le=366)] = 90


class TokenShown(BaseModel):
    """A token that works; without its secret part, which nobody can show again."""

    id: str
    label: str
    scopes: tuple[Scope, ...]
    created_at: datetime
    expires_at: datetime
    last_used_on: date | None


class TokenOnce(TokenShown):
    """The token's text is shown this once; only a hash of it is kept."""

    token: str


@needs(Permission.TOKENS_OWN)
def list_tokens(database: Database, user: User) -> list[TokenShown]:
    with database.reading() as connection:
        found = tokens.of_user(connection, user.name, datetime.now(UTC))
    return [TokenShown(**vars(token)) for token in found]


@needs(Permission.TOKENS_OWN)
def add_token(database: Database, user: User, new: NewToken, caller: Caller) -> TokenOnce:
    """It reaches no further and lasts no longer than what the caller came with."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        made, text = tokens.create(
            connection,
            replace(caller, user=user),
            label=new.label,
            scopes=frozenset(new.scopes),
            lasts=timedelta(days=new.days),
            now=now,
        )
        audit.append(
            connection,
            at=now,
            actor=user.name,
            action="token.create",
            subject=made.id,
            scopes=list(made.scopes),
            expires=made.expires_at.isoformat(),
        )
    return TokenOnce(**vars(made), token=text)


@needs(Permission.TOKENS_OWN)
def revoke_token(database: Database, user: User, token_id: str) -> list[TokenShown]:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        tokens.revoke(connection, name=user.name, token_id=token_id, now=now)
        audit.append(connection, at=now, actor=user.name, action="token.revoke", subject=token_id)
    return list_tokens(database, user)
