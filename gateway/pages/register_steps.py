"""The steps of a registration: each one a form that keeps what was typed, and says what is wrong with it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from domain.errors import FieldProblem, NotFound, RequestError
from domain.permissions import Permission, User
from domain.registration_draft import BY_KEY, STEPS
from gateway.access import TheDatabase
from gateway.pages import register_draft, register_facts, register_fields
from gateway.pages.layout import page
from gateway.pages.register_draft import PLACE, Typed
from gateway.pages.session import CheckedForm, page_requires
from gateway.problems import STATUS
from gateway.routes import OurId
from store.database import Database
from store.drafts import Draft

router = APIRouter(include_in_schema=False)
Holder = Annotated[User, Depends(page_requires(Permission.DATASET_REGISTER))]
_READERS = {
    "about": register_fields.ABOUT,
    "unit": register_fields.UNIT,
    "budget": register_fields.BUDGET,
    "policy": register_fields.POLICY,
}
_NEW: dict[str, dict[str, Any]] = {
    "tables": {"path": "table.csv", "columns": [{"name": "participant_id", "kind": "person"}]},
    "person_files": {"path": "{person}/notes.txt", "twin_text": "{person}\n"},
    "public_files": {"path": "README", "text": ""},
}
MOST_ITEMS = 100


@router.get(f"{PLACE}/{{draft_id}}/{{step}}")
def show_step(
    request: Request, draft_id: OurId, step: str, user: Holder, database: TheDatabase, wrong: str = ""
) -> Response:
    draft = register_draft.opened(database, user, draft_id)
    declaration = register_draft.declaration_of(draft)
    shown = register_draft.typed(draft, declaration)
    if wrong or step in shown.done:
        shown = register_draft.typed(draft, declaration, shown.all_wrong.get(step, ()))
    return step_page(request, user, database, shown, step)


@router.post(f"{PLACE}/{{draft_id}}/{{step}}")
def keep_step(
    request: Request, draft_id: OurId, step: str, form: CheckedForm, user: Holder, database: TheDatabase
) -> Response:
    """Keep what was typed. `do` is the button: on to the next step, or a change of a list on this one."""
    draft = register_draft.opened(database, user, draft_id)
    if step not in _READERS and step not in ("tables", "files"):
        raise NotFound("step", "there is no such step.")
    declaration = register_draft.declaration_of(draft)
    read_step(declaration, form, step)
    do = str(form.get("do", "next"))
    change_list(declaration, do)
    try:
        kept, late = register_draft.keep(
            database,
            draft,
            declaration,
            revision=str(form.get("revision", "")),
            done=step if do == "next" else "",
        )
    except RequestError as error:
        return _again(request, user, database, draft, declaration, step, error.problems, STATUS[type(error)])
    if late is not None:
        return _again(request, user, database, kept, declaration, step, (late,), 409)
    if do == "next":
        found = register_draft.typed(kept, declaration).all_wrong[step]
        if found:
            return _again(request, user, database, kept, declaration, step, found, 422)
        return RedirectResponse(f"{PLACE}/{draft_id}/{_after(step)}", status_code=303)
    return RedirectResponse(_target(draft_id, step, do), status_code=303)


def read_step(declaration: dict[str, Any], form: FormData, step: str) -> None:
    """Everything that the form of a step says, into the declaration."""
    register_fields.read_fields(declaration, form, _READERS.get(step, {}))
    register_fields.read_ticks(declaration, form, step)
    if step == "unit" and declaration.get("layout") != "bids":
        declaration.pop("folders", None)
    elif step == "tables":
        register_fields.read_items(declaration, form, "tables", register_fields.TABLE)
        _read_unit(declaration, form)
    elif step == "files":
        register_fields.read_items(declaration, form, "person_files", register_fields.PERSON_FILE)
        register_fields.read_items(declaration, form, "public_files", register_fields.PUBLIC_FILE)
        register_fields.read_fields(declaration, form, register_fields.EXCLUDED)


def change_list(declaration: dict[str, Any], do: str) -> None:
    """`add:tables` or `remove:tables:2`; anything else changes nothing."""
    verb, _, rest = do.partition(":")
    name, _, number = rest.partition(":")
    if name not in _NEW:
        return
    items = list(declaration.get(name) or ())
    if verb == "add" and len(items) < MOST_ITEMS:
        items.append(_NEW[name])
    elif verb == "remove" and number.isascii() and number.isdigit() and int(number) < len(items):
        del items[int(number)]
    register_fields.place(declaration, name, items or None)


def step_page(
    request: Request,
    user: User,
    database: Database,
    shown: Typed,
    step: str,
    *,
    status: int = 200,
    delivery: str = "",
) -> Response:
    """The page of a step; `delivery` is what was typed at the last one."""
    if step not in BY_KEY:
        raise NotFound("step", "there is no such step.")
    return page(
        request,
        f"register_{step}.html",
        user=user,
        status=status,
        typed=shown,
        step=BY_KEY[step],
        stations=shown.stations(step),
        delivery=delivery,
        **register_facts.facts(step, shown, database),
    )


def _again(
    request: Request,
    user: User,
    database: Database,
    draft: Draft,
    declaration: dict[str, Any],
    step: str,
    wrong: Any,
    status: int,
) -> Response:
    """The same page with what was typed, and what is wrong with it."""
    found: tuple[FieldProblem, ...] = tuple(wrong)
    shown = register_draft.typed(draft, declaration, found)
    return step_page(request, user, database, shown, step, status=status)


def _read_unit(declaration: dict[str, Any], form: FormData) -> None:
    """The unit's table is chosen by its place; the column is that table's column of people."""
    chosen, tables = form.get("unit_table"), declaration.get("tables") or ()
    if isinstance(chosen, str) and chosen.isascii() and chosen.isdigit() and int(chosen) < len(tables):
        register_fields.place(declaration, "privacy_unit.table", tables[int(chosen)].get("path"))
        register_fields.place(declaration, "privacy_unit.column", None)


def _after(step: str) -> str:
    keys = [each.key for each in STEPS]
    return keys[keys.index(step) + 1]


def _target(draft_id: str, step: str, do: str) -> str:
    if do == "later":
        return PLACE
    if do.startswith("columns:") and do[8:].isascii() and do[8:].isdigit():
        return f"{PLACE}/{draft_id}/tables/{int(do[8:])}"
    return f"{PLACE}/{draft_id}/{step}"
