"""Where a registration begins and ends: drafts, a pasted dataset.yaml, and the registration itself."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from domain import registration_draft
from domain.errors import InvalidRequest, NotFound, RequestError
from domain.permissions import User
from domain.yaml_text import read_yaml
from gateway.access import TheDatabase, TheQueue
from gateway.api.datasets import DELIVERY, Registration, register_dataset
from gateway.pages import register_draft, register_steps
from gateway.pages.layout import page
from gateway.pages.register_draft import PLACE
from gateway.pages.register_steps import Holder
from gateway.pages.session import CheckedForm
from gateway.problems import STATUS
from gateway.routes import OurId
from store import datasets, drafts
from store.database import Database

router = APIRouter(include_in_schema=False)


@router.get(PLACE)
def show_drafts(request: Request, user: Holder, database: TheDatabase) -> Response:
    return _start(request, user, database)


@router.post(PLACE)
def start_draft(request: Request, form: CheckedForm, user: Holder, database: TheDatabase) -> Response:
    """A draft from nothing, from a pasted dataset.yaml, or from a data set that gets a new version."""
    pasted = str(form.get("yaml", ""))
    try:
        declaration, done = _beginning(form, user, database)
        with database.transaction() as connection:
            draft = drafts.create(
                connection,
                owner=user.name,
                content={"declaration": declaration, "done": done},
                now=datetime.now(UTC),
            )
    except RequestError as error:
        return _start(request, user, database, pasted=pasted, error=error)
    return RedirectResponse(f"{PLACE}/{draft.id}/{'check' if done else 'about'}", status_code=303)


@router.post(f"{PLACE}/{{draft_id}}/removal")
def throw_away(draft_id: OurId, _form: CheckedForm, user: Holder, database: TheDatabase) -> Response:
    with database.transaction() as connection:
        if not drafts.remove(connection, draft_id, owner=user.name):
            raise NotFound("draft", "there is no such draft of yours.")
    return RedirectResponse(PLACE, status_code=303)


@router.get(f"{PLACE}/{{draft_id}}/dataset.yaml")
def download_yaml(draft_id: OurId, user: Holder, database: TheDatabase) -> Response:
    """The declaration for `dpgate dataset add`; while it is none, the check says what is missing."""
    draft = register_draft.opened(database, user, draft_id)
    try:
        declared = registration_draft.declared(register_draft.declaration_of(draft))
    except InvalidRequest:
        return RedirectResponse(f"{PLACE}/{draft_id}/check", status_code=303)
    return Response(
        registration_draft.as_yaml(declared),
        media_type="application/yaml; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="dataset.yaml"'},
    )


@router.post(f"{PLACE}/{{draft_id}}/registration")
def register(
    request: Request, draft_id: OurId, form: CheckedForm, user: Holder, database: TheDatabase, queue: TheQueue
) -> Response:
    """What the API does with the declaration and the name of a delivery; then the draft has done its work."""
    draft = register_draft.opened(database, user, draft_id)
    declaration = register_draft.declaration_of(draft)
    typed = register_draft.typed(draft, declaration)
    if any(typed.all_wrong.values()):
        return register_steps.step_page(request, user, database, typed, "check", status=422)
    delivery = str(form.get("delivery", "")).strip()
    try:
        if not re.fullmatch(DELIVERY, delivery):
            raise InvalidRequest("delivery", "is no delivery number.", "Copy it from dpgate dataset deliver.")
        asked = Registration(declaration=registration_draft.declared(declaration), delivery=delivery)
        registered = register_dataset(asked, user, database, queue)
    except RequestError as error:
        shown = register_draft.typed(draft, declaration, error.problems)
        return register_steps.step_page(
            request, user, database, shown, "check", status=STATUS[type(error)], delivery=delivery
        )
    with database.transaction() as connection:
        drafts.remove(connection, draft_id, owner=user.name)
    return RedirectResponse(f"/datasets/{registered.name}", status_code=303)


def _beginning(form: FormData, user: User, database: Database) -> tuple[dict[str, Any], list[str]]:
    """The first content, and the steps that need no first look. Raises RequestError."""
    origin, pasted, name = (str(form.get(field, "")) for field in ("from", "yaml", "name"))
    every_step = [step.key for step in registration_draft.STEPS]
    if origin == "yaml":
        return registration_draft.taken_up(read_yaml(pasted, field="yaml")), every_step
    if origin == "version":
        with database.reading() as connection:
            dataset = datasets.newest_registration(connection, name, user)
        return dataset.declaration.model_dump(mode="json", exclude_defaults=True), every_step
    return registration_draft.new_draft(), []


def _start(
    request: Request,
    user: User,
    database: Database,
    *,
    pasted: str = "",
    error: RequestError | None = None,
) -> Response:
    with database.reading() as connection:
        own = drafts.of_owner(connection, user.name)
        registered = [
            dataset for dataset in datasets.visible_to(connection, user) if dataset.owner == user.name
        ]
    return page(
        request,
        "register.html",
        user=user,
        status=STATUS[type(error)] if error else 200,
        problems=error.problems if error else (),
        drafts=[register_draft.typed(draft, register_draft.declaration_of(draft)) for draft in own],
        registered=registered,
        pasted=pasted,
    )
