"""Where a registration begins and ends: drafts, a pasted dataset.yaml, and the registration itself."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk.datasets import DELIVERY, Registration, brings_another_policy, register_dataset
from domain import registration_draft
from domain.errors import Conflict, InvalidRequest, NotFound, RequestError
from domain.permissions import Permission, User
from formats.yaml_text import read_yaml
from gateway.access import TheDatabase, TheQueue
from gateway.pages import register_draft, register_steps
from gateway.pages.layout import page
from gateway.pages.register_draft import PLACE
from gateway.pages.register_steps import Holder
from gateway.pages.session import CheckedForm, check_stepped_up
from gateway.problems import STATUS
from gateway.routes import OurId
from store import datasets, drafts, grants, policies, profiles
from store.database import Database
from store.drafts import Draft

router = APIRouter(include_in_schema=False)


@router.get(PLACE)
def show_drafts(request: Request, user: Holder, database: TheDatabase) -> Response:
    return _start(request, user, database)


@router.post(PLACE)
def start_draft(request: Request, form: CheckedForm, user: Holder, database: TheDatabase) -> Response:
    """A draft from nothing, from a pasted dataset.yaml, or from a data set that gets a new version."""
    pasted = str(form.get("yaml", ""))
    try:
        content = _beginning(form, user, database)
        with database.transaction() as connection:
            draft = drafts.create(connection, owner=user.name, content=content, now=datetime.now(UTC))
    except RequestError as error:
        return _start(request, user, database, pasted=pasted, error=error)
    return RedirectResponse(f"{PLACE}/{draft.id}/{'check' if content['done'] else 'about'}", status_code=303)


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
        _check_policy(draft, declaration, database)
        asked = Registration(declaration=registration_draft.declared(declaration), delivery=delivery)
        if brings_another_policy(database, user, asked.declaration):
            back = f"{PLACE}/{draft_id}/check"
            check_stepped_up(request, database, user, Permission.POLICY_CHANGE, back=back)
        registered = register_dataset(database, user, asked, queue)
    except RequestError as error:
        shown = register_draft.typed(draft, declaration, error.problems)
        return register_steps.step_page(
            request, user, database, shown, "check", status=STATUS[type(error)], delivery=delivery
        )
    with database.transaction() as connection:
        drafts.remove(connection, draft_id, owner=user.name)
    return RedirectResponse(f"/datasets/{registered.name}", status_code=303)


def _check_policy(draft: Draft, declaration: dict[str, Any], database: Database) -> None:
    """Raises Conflict where a draft that began with one policy would bring it back over a newer one."""
    name = str(declaration.get("name", ""))
    with database.reading() as connection:
        # of a name that is somebody else's nothing is said here
        is_own = grants.owner_of(connection, name) == draft.owner
        present = policies.in_effect(connection, name) if is_own else None
    begun_with = draft.content.get("policy")
    if present is None or begun_with is None or begun_with == present.number:
        return
    if registration_draft.declared(declaration).policy != present.policy:
        raise Conflict(
            "policy",
            f"of {name} was changed after this draft began: number {present.number} is in effect, and the "
            "draft would bring another one back.",
            "Begin another draft from the data set, or set the policy here to the one in effect.",
        )


def _beginning(form: FormData, user: User, database: Database) -> dict[str, Any]:
    """The first content: the declaration, the steps that need no first look, and where it comes from a data
    set the number of its policy. Raises RequestError."""
    origin, pasted, name = (str(form.get(field, "")) for field in ("from", "yaml", "name"))
    every_step = [step.key for step in registration_draft.STEPS]
    if origin == "yaml":
        taken = registration_draft.taken_up(read_yaml(pasted, field="yaml"))
        return {"declaration": taken, "done": every_step}
    if origin == "version":
        with database.reading() as connection:
            dataset = datasets.newest_registration(connection, name, user)
        declared = dataset.declaration.model_dump(mode="json", exclude_defaults=True)
        return {"declaration": declared, "done": every_step, "policy": dataset.policy_number}
    return {"declaration": registration_draft.new_draft(), "done": []}


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
        profiled = len(profiles.of_owner(connection, user.name))
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
        profiles=profiled,
        pasted=pasted,
    )
