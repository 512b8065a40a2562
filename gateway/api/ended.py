"""The identity provider says that a login has ended (OpenID Connect Back-Channel Logout 1.0)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from domain.errors import RequestError
from gateway import problems
from gateway.access import TheDatabase
from gateway.oidc.claims import check_logout, open_signed
from gateway.oidc.provider import Provider
from gateway.oidc.providers import Providers
from gateway.routes import PREFIX
from store import audit, vouching
from store.database import Database

router = APIRouter(prefix=PREFIX, tags=["tokens"])


class Ended(BaseModel):
    """That it was heard. Whom it concerned is nobody's to learn here."""

    ended: bool


@router.post(
    "/login/ended",
    summary="The identity provider ends a login",
    response_model=Ended,
    responses=problems.responses(400, 413, 422, 500),
)
def end_login(
    request: Request, database: TheDatabase, logout_token: Annotated[str, Form()] = ""
) -> Ended | JSONResponse:
    """Open to everybody: the token carries the provider's signature, and counts once."""
    providers: Providers = request.app.state.providers
    try:
        provider = providers.of_logout(logout_token)
        signed = open_signed(logout_token, provider.published.key)
        client = provider.client_id or ""
        claims = check_logout(signed, client=client, issuer=provider.issuer, now=provider.clock())
    except RequestError as error:
        providers.refusals.note(database, error, way="logout")
        return problems.answer(error, status=400)
    end(database, provider, claims, now=datetime.now(UTC))
    return Ended(ended=True)


def end(database: Database, provider: Provider, claims: Any, *, now: datetime) -> None:
    """All of it in one transaction; the same token again changes nothing."""
    subject, login = (claims.get(name) for name in ("sub", "sid"))
    with database.transaction() as connection:
        if not vouching.take_once(connection, provider.issuer, claims["jti"], now=now):
            return
        names = vouching.end_logins(
            connection,
            issuer=provider.issuer,
            subject=subject,
            login=login,
            said_at=datetime.fromtimestamp(float(claims["iat"]), UTC),
            now=now,
        )
        for name in names:
            audit.append(connection, at=now, actor="gateway", action="login.end", subject=name)
    provider.forget()
