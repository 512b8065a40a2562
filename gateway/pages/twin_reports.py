"""The public report about a twin as a page of its own, and the form with which a rights holder hands it in.

What was handed in is a stranger's HTML: it is sent with headers under which it can run, send, load and frame
nothing (`gateway.headers`), and as a document of no origin.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import UploadFile

from desk import twins as desk
from domain.errors import InvalidRequest
from domain.model import Slug
from domain.permissions import Permission, User
from formats.public_report import MAX_BYTES
from gateway.access import TheDatabase
from gateway.pages.session import CheckedForm, page_requires
from store import datasets

router = APIRouter(include_in_schema=False)
Maker = Annotated[User, Depends(page_requires(Permission.TWIN_MAKE))]


@router.get("/datasets/{name}/twin/report")
def show_report(
    name: Slug,
    user: Annotated[User, Depends(page_requires(Permission.DATASET_READ))],
    database: TheDatabase,
) -> Response:
    return HTMLResponse(desk.get_report(database, user, name).page)


@router.post("/datasets/{name}/twin/report")
def hand_in(name: Slug, form: CheckedForm, user: Maker, database: TheDatabase) -> Response:
    with database.reading() as connection:
        datasets.owned(connection, name, user)  # before a word about what was sent
    if form.get("action") == "remove":
        desk.remove_report(database, user, name)
        return RedirectResponse(f"/datasets/{name}/twins#report", status_code=303)
    file = form.get("page")
    content = file.file.read(MAX_BYTES + 1) if isinstance(file, UploadFile) else b""
    if not content:
        raise InvalidRequest("page", "no file was chosen.", "Choose public.html of dpgate twin report.")
    try:
        page = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidRequest("page", "is not UTF-8.", "Choose public.html of dpgate twin report.") from None
    desk.put_report(database, user, name, desk.HandedIn(page=page))
    return RedirectResponse(f"/datasets/{name}/twins#report", status_code=303)
