"""Identity providers, as an operator looks at them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel

from domain.permissions import Permission, User
from gateway.access import TheDatabase, requires
from gateway.oidc.look import Found, PastedToken, decide, look
from gateway.oidc.providers import Providers
from gateway.problems import RESPONSES
from gateway.routes import PREFIX

router = APIRouter(prefix=f"{PREFIX}/operation/providers", tags=["operation"], responses=RESPONSES)
Reader = Annotated[User, Depends(requires(Permission.OPERATION_READ))]


class FoundView(BaseModel):
    """One thing that was looked at; `well` is null where it cannot be told."""

    what: str
    well: bool | None
    says: str

    @classmethod
    def of(cls, found: Found) -> FoundView:
        return cls(**asdict(found))


class ProviderView(BaseModel):
    """A provider, and what it answered just now."""

    name: str
    issuer: str
    found: list[FoundView]


@router.get("", summary="Ask the identity providers how they are")
def list_providers(_user: Reader, request: Request) -> list[ProviderView]:
    """Each is asked now: its document, its keys, its clock, and whether it takes our client and secret."""
    providers: Providers = request.app.state.providers
    return [
        ProviderView(name=one.name, issuer=one.issuer, found=[FoundView.of(found) for found in look(one)])
        for one in providers
    ]


@router.post("/decision", summary="What would be decided on an access token, and why")
def decide_on_token(
    pasted: PastedToken,
    _user: Annotated[User, Depends(requires(Permission.USER_READ))],
    request: Request,
    database: TheDatabase,
) -> list[FoundView]:
    """Step by step, up to the first refusal. Nobody is let in by it, and nothing is written."""
    providers: Providers = request.app.state.providers
    return [FoundView.of(found) for found in decide(providers, database, pasted.token)]
