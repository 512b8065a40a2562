"""The end of a data set, for its rights holder: its withdrawal, and its erasure."""

from __future__ import annotations

import base64
import json
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from desk.endings import Erasing, Withdrawal, erase, get_erasure, get_open_jobs, withdraw
from domain.errors import InvalidRequest, RequestError
from domain.model import Slug, parse
from domain.permissions import Permission, User
from gateway.access import TheDatabase
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm, page_requires
from gateway.problems import STATUS
from store import withdrawals

router = APIRouter(include_in_schema=False)
Holder = Annotated[User, Depends(page_requires(Permission.DATASET_END))]


@router.get("/datasets/{name}/withdrawal")
def show_withdrawal(request: Request, name: Slug, user: Holder, database: TheDatabase) -> Response:
    return _page(request, name, user, database)


@router.post("/datasets/{name}/withdrawal")
def withdraw_dataset(
    request: Request, name: Slug, form: CheckedForm, user: Holder, database: TheDatabase
) -> Response:
    """The name is typed once more: a button is pressed by mistake."""
    try:
        if str(form.get("name", "")).strip() != name:
            raise InvalidRequest("name", "is not the name of this data set.", f"Type {name}.")
        wanted = parse(Withdrawal, {"running": str(form.get("running", "finish"))})
        withdraw(database, user, name, wanted)
    except RequestError as error:
        return _page(request, name, user, database, error)
    return RedirectResponse(f"/datasets/{name}", status_code=303)


def _page(
    request: Request, name: str, user: User, database: TheDatabase, error: RequestError | None = None
) -> Response:
    with database.reading() as connection:
        dataset = withdrawals.own(connection, name, user)
    return page(
        request,
        "withdrawal.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        dataset=dataset,
        open_jobs=get_open_jobs(database, user, name),
        problems=error.problems if error else (),
    )


@router.get("/datasets/{name}/erasure")
def show_erasure(request: Request, name: Slug, user: Holder, database: TheDatabase) -> Response:
    return _erasure_page(request, name, user, database)


@router.post("/datasets/{name}/erasure")
def erase_dataset(
    request: Request, name: Slug, form: CheckedForm, user: Holder, database: TheDatabase
) -> Response:
    """The name is typed once more, as for a withdrawal."""
    try:
        erase(database, user, name, parse(Erasing, {"name": str(form.get("name", "")).strip()}))
    except RequestError as error:
        return _erasure_page(request, name, user, database, error)
    return RedirectResponse(f"/datasets/{name}/erasure", status_code=303)


def _erasure_page(
    request: Request, name: str, user: User, database: TheDatabase, error: RequestError | None = None
) -> Response:
    found = get_erasure(database, user, name)
    with database.reading() as connection:
        dataset = withdrawals.own(connection, name, user)
    said = None if found.record is None else json.loads(base64.b64decode(found.record["payload"]))
    return page(
        request,
        "erasure.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        dataset=dataset,
        erasure=found,
        said=said and said["predicate"],
        problems=error.problems if error else (),
    )
