"""The page of a data set's scrambled twins: reviewers sign and withdraw, others take one under its terms."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk import scrambles as desk
from domain.errors import InvalidRequest, RequestError
from domain.model import Slug, parse
from domain.permissions import Permission, User
from domain.scrambled import ScrambleState
from gateway.access import TheDatabase
from gateway.offers import has_scrambles
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm, page_requires
from gateway.pages.submit_frame import text_of, typed_texts
from gateway.problems import STATUS
from gateway.routes import AnId
from gateway.serving import archive
from store import datasets, reviewers

router = APIRouter(include_in_schema=False)
BADGES = {
    ScrambleState.WAITING: ("waits for signatures", "warn", "clock"),
    ScrambleState.SIGNED: ("signed for, its files are not here yet", "warn", "clock"),
    ScrambleState.ATTACHED: ("handed out", "bad", "warning"),
    ScrambleState.REFUSED: ("refused", "plain", "cross"),
    ScrambleState.WITHDRAWN: ("withdrawn: delete every copy", "plain", "cross"),
    ScrambleState.EXPIRED: ("expired: delete every copy", "plain", "cross"),
}


@router.get("/datasets/{name}/scrambles")
def show_scrambles(
    request: Request,
    name: Slug,
    user: Annotated[User, Depends(page_requires(Permission.DATASET_READ))],
    database: TheDatabase,
) -> Response:
    return _page(request, name, user, database)


@router.post("/datasets/{name}/scrambles/{scramble_id}/signature")
def sign(
    request: Request,
    name: Slug,
    scramble_id: AnId,
    form: CheckedForm,
    user: Annotated[User, Depends(page_requires(Permission.TWIN_DECIDE))],
    database: TheDatabase,
) -> Response:
    """Sign or refuse. What was typed is kept on refusal."""
    asked = {
        "decision": "sign" if form.get("decision") == "sign" else "refuse",
        "leak_report": text_of(form, "leak_report").strip().lower() or None,
        "has_read": "has_read" in form,
        "reason": text_of(form, "reason"),
    }
    try:
        signature = parse(desk.NewSignature, asked)
        desk.sign_scramble(database, user, name, scramble_id, signature, has_scrambles(request))
    except RequestError as error:
        return _page(request, name, user, database, typed=form, error=error, about=scramble_id)
    return RedirectResponse(f"/datasets/{name}/scrambles", status_code=303)


@router.post("/datasets/{name}/scrambles/{scramble_id}/withdrawal")
def withdraw(
    request: Request,
    name: Slug,
    scramble_id: AnId,
    form: CheckedForm,
    user: Annotated[User, Depends(page_requires(Permission.TWIN_WITHDRAW))],
    database: TheDatabase,
) -> Response:
    try:
        reason = desk.ScrambleWithdrawal(reason=text_of(form, "reason"))
        desk.withdraw_scramble(database, user, name, scramble_id, reason)
    except RequestError as error:
        return _page(request, name, user, database, typed=form, error=error, about=scramble_id)
    return RedirectResponse(f"/datasets/{name}/scrambles", status_code=303)


@router.post("/datasets/{name}/scrambles/{scramble_id}/download")
def download(
    request: Request,
    name: Slug,
    scramble_id: AnId,
    form: CheckedForm,
    user: Annotated[User, Depends(page_requires(Permission.TWIN_TAKE))],
    database: TheDatabase,
) -> Response:
    """The archive, to whoever ticked that they agree to the terms that the page showed."""
    try:
        if "agrees" not in form:
            raise InvalidRequest("agrees", "is not ticked.", "Read the terms; without them nothing leaves.")
        terms = parse(desk.Acceptance, {"terms": text_of(form, "terms")})
        on = has_scrambles(request)
        size, parts = desk.download_scramble(database, user, name, scramble_id, terms, on)
        return archive(f"{name}-scrambled-NOT-ANONYMOUS.zip", size, parts)
    except RequestError as error:
        return _page(request, name, user, database, typed=form, error=error, about=scramble_id)


def _page(
    request: Request,
    name: str,
    user: User,
    database: TheDatabase,
    *,
    typed: FormData | None = None,
    error: RequestError | None = None,
    about: str = "",
) -> Response:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        is_reviewer = reviewers.is_reviewer(connection, user, name)
    found = desk.list_scrambles(database, user, name)
    if error is not None and about not in {one.id for one in found}:
        raise error
    return page(
        request,
        "scrambles.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        dataset=dataset,
        is_reviewer=is_reviewer,
        is_owner=user.name == dataset.owner,
        is_switched_on=has_scrambles(request),
        is_allowed=dataset.declaration.policy.scrambled_twin,
        needed=dataset.declaration.policy.votes,
        found=found,
        badges=BADGES,
        typed=typed_texts(typed),
        about=about,
        said=error.problems if error else (),
    )
