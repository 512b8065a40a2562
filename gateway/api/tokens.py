"""Routes of tokens of one's own, and the exchange of a password for one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, StringConstraints

from desk import tokens
from desk.account import change_password
from desk.tokens import NewToken, TokenOnce
from domain.errors import InvalidRequest
from domain.model import Model, Slug, Whole
from domain.permissions import User
from domain.scopes import ALL, Scope
from gateway.access import TheCaller, TheDatabase
from gateway.config import MAIN, GatewaySettings
from gateway.logins import check_login
from gateway.problems import RESPONSES, responses
from gateway.routes import PREFIX, OurId
from gateway.serving import allowed, served
from store import accounts
from store.tokens import Caller

router = APIRouter(prefix=PREFIX, tags=["tokens"])
# a login with a password, at an organisation from a terminal, or in a browser reaches equally far
OF_A_LOGIN = tuple(sorted(ALL))
Secret = Annotated[str, StringConstraints(max_length=1000)]


class NewLogin(Model):
    """A name and a password, for a token. `new_password` replaces the one that the operator handed over."""

    name: Annotated[str, StringConstraints(max_length=200)]
    password: Secret
    new_password: Secret | None = None
    label: Slug = "login"
    scopes: tuple[Scope, ...] = OF_A_LOGIN
    days: Annotated[Whole, Field(ge=1, le=366)] = 30


class DeviceLogin(BaseModel):
    """The identity provider, and the client that a program may use for its device flow."""

    issuer: str
    client_id: str | None
    scope: str


class WaysIn(BaseModel):
    """How people log in here. `others` are further identity providers; `scopes` is what a login holds, by
    whatever way."""

    password: bool
    oidc: DeviceLogin | None
    others: dict[str, DeviceLogin]
    scopes: tuple[Scope, ...]


@router.get("/login", summary="How to log in here", responses=responses(413, 500))
def ways_in(request: Request) -> WaysIn:
    settings: GatewaySettings = request.app.state.settings
    known = {
        one.name: DeviceLogin(issuer=one.issuer, client_id=one.cli_client_id, scope=one.scope)
        for one in settings.providers
    }
    return WaysIn(
        password=settings.has_passwords,
        oidc=known.pop(MAIN, None),
        others=known,
        scopes=OF_A_LOGIN,
    )


@router.post(
    "/login",
    status_code=201,
    summary="A password for a token",
    responses=responses(401, 404, 409, 413, 422, 429, 500),
)
def log_in(new: NewLogin, request: Request, database: TheDatabase) -> TokenOnce:
    now = datetime.now(UTC)
    user = check_login(request, database, new.name, new.password, now)
    with database.reading() as connection:
        is_initial = accounts.has_initial_password(connection, user.name)
    if is_initial and new.new_password is None:
        raise InvalidRequest(
            "new_password", "is missing: the password so far was handed to you.", "Choose one of your own."
        )
    if new.new_password is not None:
        change_password(database, user, old=new.password, new=new.new_password, keep_session=None)
    wanted = NewToken(label=new.label, scopes=new.scopes, days=new.days)
    return tokens.add_token(database, user, wanted, Caller(user))


router.get("/tokens", summary="Your tokens that work", responses=RESPONSES)(served(tokens.list_tokens))


@router.post("/tokens", status_code=201, summary="Make a token", responses=RESPONSES)
def add_token(
    new: NewToken, caller: TheCaller, user: Annotated[User, allowed(tokens.add_token)], database: TheDatabase
) -> TokenOnce:
    return tokens.add_token(database, user, new, caller)


router.delete("/tokens/{token_id}", summary="Revoke one of your tokens", responses=RESPONSES)(
    served(tokens.revoke_token, token_id=OurId)
)
