"""A trusted query as a form: from what was typed to the body of a request, and what each kind means."""

from __future__ import annotations

from typing import Any

from starlette.datastructures import FormData

from domain.dataset import Dataset, Table
from domain.errors import FieldProblem, InvalidRequest
from domain.model import parse
from domain.query import QUERIES, QueryRequest
from gateway.pages.manifest_form import read_number

CONDITIONS = 3
OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "in")


def query_of(form: FormData, dataset: Dataset, table: Table) -> QueryRequest:
    """The request that the form stands for. Raises InvalidRequest naming each wrong field."""
    wrong: list[FieldProblem] = []
    query: dict[str, Any] = {"kind": _text(form, "kind"), "where": _conditions(form, table, wrong)}
    if table.path != dataset.declaration.privacy_unit.table:
        query["table"] = table.path
    if by := [str(name) for name in form.getlist("by")]:
        query["by"] = by
    if table.rows_per_person == "many":
        query["contribution"] = _contribution(form, wrong)
    query |= fields_of_kind(form, query["kind"], wrong)
    if wrong:
        first, *more = wrong
        raise InvalidRequest(first.field, first.problem, first.fix, more=tuple(more))
    body = {"dataset": dataset.name, "query": query, "epsilon": _text(form, "epsilon")}
    project = _text(form, "project")
    return parse(QueryRequest, body | ({"project": project} if project else {}))


def fields_of_kind(form: FormData, kind: str, wrong: list[FieldProblem]) -> dict[str, Any]:
    """The fields that this kind has beside all others'."""
    asked = QUERIES[kind].model_fields if kind in QUERIES else {}
    ticked = [str(name) for name in form.getlist("columns")]
    found: dict[str, Any] = {}
    if one := next((name for name in ("column", "target") if name in asked), None):
        found[one] = _column(form, wrong)
    if "bins" in asked:
        found["bins"] = _whole(form, "bins", wrong)
    if "probabilities" in asked:
        found["probabilities"] = _text(form, "probabilities").replace(",", " ").split() or ["0.5"]
    if "columns" in asked:
        found["columns"] = ticked
    if "features" in asked:
        found["features"] = [name for name in ticked if name != found["target"].get("name")]
    return found


def _column(form: FormData, wrong: list[FieldProblem]) -> dict[str, Any]:
    name = _text(form, "column")
    if not name:
        wrong.append(FieldProblem("query.column", "is missing.", "Choose a column."))
    found: dict[str, Any] = {"name": name}
    for side in ("lower", "upper"):
        if text := _text(form, side):
            value = read_number(text)
            if value is None:
                wrong.append(
                    FieldProblem(f"query.{side}", "is not a number.", "Write one, or leave it empty.")
                )
            else:
                found[side] = value
    return found


def _conditions(form: FormData, table: Table, wrong: list[FieldProblem]) -> list[dict[str, Any]]:
    kinds = {column.name: column.kind for column in table.columns}
    found = []
    for number in range(CONDITIONS):
        name = _text(form, f"where-column-{number}")
        if not name:
            continue
        operator, text = _text(form, f"where-operator-{number}"), _text(form, f"where-value-{number}")
        value: Any = [part.strip() for part in text.split(",")] if operator == "in" else text
        if kinds.get(name) != "categorical":
            value = _numbers(value)
        if value is None:
            wrong.append(
                FieldProblem(
                    f"query.where.{number}.value", f"{name} is compared with a number.", "Write one."
                )
            )
            continue
        found.append({"column": name, "operator": operator, "value": value})
    return found


def _numbers(value: str | list[str]) -> float | list[float] | None:
    if isinstance(value, str):
        return read_number(value)
    found = [read_number(part) for part in value]
    return None if None in found else [number for number in found if number is not None]


def _contribution(form: FormData, wrong: list[FieldProblem]) -> dict[str, Any]:
    rule = _text(form, "contribution") or "mean"
    if rule != "rows":
        return {"reduce": rule}
    return {"rows": _whole(form, "rows", wrong)}


def _whole(form: FormData, name: str, wrong: list[FieldProblem]) -> int:
    text = _text(form, name)
    if text.isascii() and text.isdigit() and len(text) < 8:
        return int(text)
    wrong.append(FieldProblem(f"query.{name}", "is not a whole number.", "Write one such as 10."))
    return 0


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value.strip()[:500] if isinstance(value, str) else ""
