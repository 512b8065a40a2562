"""The identity providers, asked now, and what would be decided on an access token that an operator pastes.

The token is in the request and nowhere else: the page does not show it again, and nothing keeps or logs it.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from domain.errors import FieldProblem, InvalidRequest
from domain.model import parse
from domain.permissions import Permission, User
from gateway.access import TheDatabase
from gateway.oidc.look import Found, PastedToken, decide, look
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm, page_requires

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(page_requires(Permission.OPERATION_READ))]
Decider = Annotated[User, Depends(page_requires(Permission.USER_READ))]
HERE = "/operation/providers"


@router.get(HERE)
def show_providers(request: Request, user: Reader) -> Response:
    return _page(request, user)


@router.post(HERE)
def decide_here(request: Request, form: CheckedForm, user: Decider, database: TheDatabase) -> Response:
    """Nobody is let in by it, and nothing is written."""
    try:
        pasted = parse(PastedToken, {"token": str(form.get("access_token", "")).strip()})
    except InvalidRequest as refused:
        return _page(request, user, problems=refused.problems, status=422)
    return _page(request, user, decided=decide(request.app.state.providers, database, pasted.token))


def _page(
    request: Request,
    user: User,
    *,
    decided: list[Found] | None = None,
    problems: tuple[FieldProblem, ...] = (),
    status: int = 200,
) -> Response:
    return page(
        request,
        "operation_providers.html",
        user=user,
        status=status,
        providers=[
            {"name": one.name, "issuer": one.issuer, "found": look(one)}
            for one in request.app.state.providers
        ],
        decided=decided,
        problems=problems,
    )
