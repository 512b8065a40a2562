"""The columns of one table of a registration: typed one by one, or named by a header line."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import UploadFile

from domain.errors import FieldProblem, NotFound, RequestError, TooLarge
from domain.header_line import MAX_BYTES, column_names, line_dialect
from domain.usual_ranges import suggested
from gateway.access import TheDatabase
from gateway.pages import register_draft, register_facts, register_fields
from gateway.pages.layout import page
from gateway.pages.register_draft import PLACE, Typed
from gateway.pages.register_steps import Holder
from gateway.pages.session import CheckedForm
from gateway.problems import STATUS
from gateway.routes import OurId
from store.drafts import Draft

router = APIRouter(include_in_schema=False)
AT_ONCE = 40
"""Columns on one page: a form has at most a thousand fields."""
MOST_COLUMNS = 5000
PEOPLE = {"participant_id", "participant", "subject", "subject_id", "patient", "patient_id", "person", "id"}
PEOPLE |= {"pseudonym", "record_id", "case_id", "proband", "patientennummer"}
_TABLE = f"{PLACE}/{{draft_id}}/tables/{{number}}"


def small_body(request: Request) -> None:
    """A line of names is small: what is larger is refused by its stated length, before it is taken apart."""
    length = request.headers.get("content-length", "")
    if not (length.isascii() and length.isdigit() and len(length) < 9 and int(length) <= MAX_BYTES + 8192):
        raise TooLarge("file", "is too large for a line of names; none of it was kept.", "Send one line.")


@router.get(_TABLE)
def show_table(
    request: Request, draft_id: OurId, number: int, user: Holder, database: TheDatabase, first: int = 0
) -> Response:
    draft = register_draft.opened(database, user, draft_id)
    declaration = register_draft.declaration_of(draft)
    _table_of(declaration, number)
    shown = register_draft.typed(draft, declaration)
    if "tables" in shown.done:
        shown = register_draft.typed(draft, declaration, shown.all_wrong["tables"])
    return _page(request, user, shown, number, first)


@router.post(_TABLE)
def keep_table(
    request: Request, draft_id: OurId, number: int, form: CheckedForm, user: Holder, database: TheDatabase,
    first: int = 0,
) -> Response:  # fmt: skip
    """Keep the columns that the page showed, then do what the button says."""
    draft = register_draft.opened(database, user, draft_id)
    declaration = register_draft.declaration_of(draft)
    table = _table_of(declaration, number)
    register_fields.read_fields(declaration, form, register_fields.TABLE, f"tables.{number}.")
    register_fields.read_columns(table, form, f"tables.{number}.", max(first, 0), AT_ONCE)
    do = str(form.get("do", "next"))
    try:
        if do == "names":
            _take_names(table, str(form.get("names", "")).encode(errors="replace"), "names")
        first = _change(table, do, first)
        kept, late = register_draft.keep(
            database,
            draft,
            declaration,
            revision=str(form.get("revision", "")),
            done="tables" if do == "next" else "",
        )
    except RequestError as error:
        return _again(request, user, draft, declaration, number, first, error)
    if late is not None:
        shown = register_draft.typed(kept, declaration, (late,))
        return _page(request, user, shown, number, first, status=409)
    shown = register_draft.typed(kept, declaration, _of_table(kept, declaration, number))
    if do == "next" and shown.wrong:
        return _page(request, user, shown, number, first, status=422)
    there = f"{PLACE}/{draft_id}/tables"
    return RedirectResponse(there if do == "next" else f"{there}/{number}?first={first}", status_code=303)


@router.post(f"{_TABLE}/header", dependencies=[Depends(small_body)])
def take_header(
    request: Request, draft_id: OurId, number: int, form: CheckedForm, user: Holder, database: TheDatabase
) -> Response:
    """The names from a file of one line. A file of more is refused, and nothing of it is kept."""
    draft = register_draft.opened(database, user, draft_id)
    declaration = register_draft.declaration_of(draft)
    table = _table_of(declaration, number)
    file = form.get("file")
    content = file.file.read(MAX_BYTES + 1) if isinstance(file, UploadFile) else b""
    try:
        _take_names(table, content, "file")
        _, late = register_draft.keep(
            database, draft, declaration, revision=str(form.get("revision", "")), done=""
        )
    except RequestError as error:
        return _again(request, user, draft, declaration, number, 0, error)
    if late is not None:
        fresh = register_draft.opened(database, user, draft_id)
        shown = register_draft.typed(fresh, declaration, (late,))
        return _page(request, user, shown, number, 0, status=409)
    return RedirectResponse(f"{PLACE}/{draft_id}/tables/{number}", status_code=303)


def _take_names(table: dict[str, Any], line: bytes, field: str) -> None:
    """The columns, and what the line shows of how the file is written; what was chosen of that stays."""
    name_columns(table, column_names(line, field=field))
    stated = table.get("dialect")
    dialect = line_dialect(line) | (stated if isinstance(stated, dict) else {})
    if dialect and str(table.get("path")).endswith(".csv"):
        table["dialect"] = dialect


def name_columns(table: dict[str, Any], names: tuple[str, ...]) -> None:
    """The columns of these names in this order; what was typed of one that is there already stays."""
    present = {str(column.get("name")): column for column in table.get("columns") or ()}
    kept = [
        column for name, column in present.items() if name not in names and set(column) - {"name", "kind"}
    ]
    has_person = any(column.get("kind") == "person" for name, column in present.items() if name in names)
    found = []
    for name in names:
        if name in present:
            found.append(present[name])
            continue
        is_person = not has_person and name.lower() in PEOPLE
        has_person = has_person or is_person
        usual = suggested(name)
        found.append({"name": name, "kind": "person" if is_person else usual.kind if usual else "number"})
    table["columns"] = (found + kept)[:MOST_COLUMNS]


def _change(table: dict[str, Any], do: str, first: int) -> int:
    """Add or remove a column, or turn the page; returns the first column to show."""
    columns = list(table.get("columns") or ())
    verb, _, rest = do.partition(":")
    number = int(rest) if rest.isascii() and rest.isdigit() and len(rest) < 6 else -1
    if verb == "add" and len(columns) < MOST_COLUMNS:
        columns.append({"name": f"column_{len(columns) + 1}", "kind": "number"})
        first = (len(columns) - 1) // AT_ONCE * AT_ONCE
    elif verb == "remove" and 0 <= number < len(columns):
        del columns[number]
    elif verb == "page" and number >= 0:
        first = number
    table["columns"] = columns
    return first


def _table_of(declaration: dict[str, Any], number: int) -> dict[str, Any]:
    tables = declaration.get("tables") or []
    if not 0 <= number < len(tables) or not isinstance(tables[number], dict):
        raise NotFound("table", "the draft has no such table.")
    table: dict[str, Any] = tables[number]
    table["columns"] = [column for column in table.get("columns") or () if isinstance(column, dict)]
    return table


def _of_table(draft: Draft, declaration: dict[str, Any], number: int) -> list[FieldProblem]:
    found = register_draft.typed(draft, declaration).all_wrong["tables"]
    return [problem for problem in found if f"{problem.field}.".startswith(f"tables.{number}.")]


def _again(
    request: Request, user: Any, draft: Draft, declaration: dict[str, Any], number: int, first: int,
    error: RequestError,
) -> Response:  # fmt: skip
    shown = register_draft.typed(draft, declaration, error.problems)
    return _page(request, user, shown, number, first, status=STATUS[type(error)])


def _page(
    request: Request, user: Any, shown: Typed, number: int, first: int, *, status: int = 200
) -> Response:
    at = f"tables.{number}."
    columns = shown.declaration["tables"][number]["columns"]
    first = min(max(first, 0), max(0, (len(columns) - 1) // AT_ONCE * AT_ONCE))
    visible = range(first, min(first + AT_ONCE, len(columns)))
    return page(
        request,
        "register_table.html",
        user=user,
        status=status,
        typed=shown,
        at=at,
        number=number,
        first=first,
        columns=[(place, suggested(str(columns[place].get("name", "")))) for place in visible],
        total=len(columns),
        pages=range(0, len(columns), AT_ONCE),
        stations=shown.stations("tables"),
        **register_facts.table_facts(shown, at),
    )
