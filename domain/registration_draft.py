"""A declaration that is being written: its steps, and which step mends which problem."""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import Any

from domain.dataset import Declaration
from domain.dataset.person_size import check_most_rows
from domain.errors import FieldProblem, InvalidRequest
from domain.model import parse
from formats.yaml_text import write_yaml


@dataclass(frozen=True)
class Step:
    """One page of the way; `fields` are the declaration's own that are stated on it."""

    key: str
    name: str
    fields: tuple[str, ...]


STEPS = (
    Step("about", "About", ("name", "title", "description", "licence", "citation", "synthetic")),
    Step(
        "unit",
        "People",
        ("layout", "privacy_unit", "nominal_size", "folders", "most_bytes", "cohort", "new_people"),
    ),
    Step("tables", "Tables", ("tables", "profile")),
    Step("files", "Files", ("person_files", "public_files", "excluded")),
    Step(
        "budget",
        "Budget",
        ("budget_epsilon", "budget_delta", "budget_nats", "budget_releases", "accounting"),
    ),
    Step("policy", "Policy", ("policy",)),
    Step("check", "Check", ()),
)
BY_KEY = {step.key: step for step in STEPS}
FIELDS = {field: step.key for step in STEPS for field in step.fields}
# sentences about several fields at once name no field: what stands in them says which step mends them
_SENTENCES = (
    ("budget_", "budget"),
    ("person_files", "files"),
    ("public_files", "files"),
    ("excluded", "files"),
    ("privacy_unit", "tables"),
    ("identify people", "tables"),
    ("pseudonym", "tables"),
    ("generalise", "tables"),
    ("folders", "unit"),
    ("participants table", "tables"),
    ("Parquet", "tables"),
    ("file", "files"),
)


def new_draft() -> dict[str, Any]:
    """What an empty form begins with: one table with a column of people, and the policy's defaults."""
    table = {"path": "participants.tsv", "columns": [{"name": "participant_id", "kind": "person"}]}
    return {"layout": "tables", "tables": [table], "policy": {}}


def taken_up(content: dict[str, Any]) -> dict[str, Any]:
    """A declaration from elsewhere as a draft. Raises InvalidRequest for what no step could show or mend:
    unknown fields, and lists and objects that are none."""
    for name in ("tables", "person_files", "public_files"):
        _check_objects(content.get(name), name)
    for number, table in enumerate(content.get("tables") or ()):
        _check_objects(table.get("columns"), f"tables.{number}.columns")
    for name in ("privacy_unit", "policy"):
        if not isinstance(content.get(name), dict | NoneType):
            raise InvalidRequest(name, "must hold `name: value` lines.", "See the reference of dataset.yaml.")
    unknown = [problem for problem in problems(content) if problem.problem == "is not a known field."]
    if unknown:
        first, *more = unknown
        raise InvalidRequest(first.field, first.problem, first.fix, more=tuple(more))
    return content


def _check_objects(items: Any, name: str) -> None:
    if items is None:
        return
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise InvalidRequest(name, "must be a list of objects.", "Begin each with a hyphen.")


def problems(content: dict[str, Any]) -> tuple[FieldProblem, ...]:
    """Everything that keeps it from being a declaration, in the words of the API; nothing when it is one."""
    try:
        declared(content)
    except InvalidRequest as error:
        return error.problems
    return ()


def declared(content: dict[str, Any]) -> Declaration:
    """The declaration. Raises InvalidRequest with every wrong field."""
    # the table of the unit needs to be said once
    unit = dict(content.get("privacy_unit") or {})
    tables = content.get("tables") or []
    if "table" not in unit and tables and isinstance(tables[0], dict) and "path" in tables[0]:
        unit["table"] = tables[0]["path"]
    if "column" not in unit and (found := person_column(content, unit.get("table"))):
        unit["column"] = found
    read = parse(Declaration, {**content, "privacy_unit": unit})
    check_most_rows(read)
    return read


def person_column(content: dict[str, Any], path: Any) -> str | None:
    """The name of the column of people in the table at `path`, where there is one."""
    for table in content.get("tables") or ():
        if isinstance(table, dict) and table.get("path") == path:
            names = [
                column.get("name")
                for column in table.get("columns") or ()
                if isinstance(column, dict) and column.get("kind") == "person"
            ]
            return str(names[0]) if len(names) == 1 else None
    return None


def step_of(problem: FieldProblem) -> str:
    """The key of the step that mends it."""
    first = problem.field.partition(".")[0]
    if problem.field in ("privacy_unit.table", "privacy_unit.column"):
        return "tables"  # where the table of the unit is chosen
    if first in FIELDS:
        return FIELDS[first]
    return next((step for words, step in _SENTENCES if words in problem.problem), "check")


def by_step(found: tuple[FieldProblem, ...]) -> dict[str, list[FieldProblem]]:
    """The problems of each step, in their order; a step without any has an empty list."""
    sorted_out: dict[str, list[FieldProblem]] = {step.key: [] for step in STEPS}
    for problem in found:
        sorted_out[step_of(problem)].append(problem)
    return sorted_out


def as_yaml(declaration: Declaration) -> str:
    """The declaration as a dataset.yaml that says no more than it must: defaults are left out."""
    content = declaration.model_dump(mode="json", exclude_defaults=True)
    # what everybody looks for first comes first, whatever its value
    head = {"name": declaration.name, "title": declaration.title, "layout": declaration.layout}
    return write_yaml(_with_whole_numbers({**head, **content}))


def _with_whole_numbers(value: Any) -> Any:
    """18 rather than 18.0, as people write bounds."""
    if isinstance(value, dict):
        return {name: _with_whole_numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_whole_numbers(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value
