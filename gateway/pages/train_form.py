"""A training as a form: from what was typed to the body of a request, and what each kind of model means."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.datastructures import FormData

from domain.dataset import Dataset, Table
from domain.errors import FieldProblem, InvalidRequest, RequestError
from domain.model import parse
from domain.training import TrainingRequest
from domain.training.proposed import Proposed
from gateway.pages.manifest_form import read_number
from gateway.pages.submit_frame import text_of

KINDS = {
    "logistic": ("Which of two", "logistic regression: the chance of the second category"),
    "softmax": ("Which of several", "softmax regression: 2 to 64 categories"),
    "linear": ("How much", "linear regression: a number within its bounds"),
}
MOST_WITH_BOUNDS, MOST_COLUMNS = 200, 900
"""A form that is sent has at most 1,000 fields: of each feature one, and two for its bounds."""
_NUMBERS = ("steps", "batch", "clip", "learning_rate", "momentum")
_WHOLE = {"steps", "batch", "rows"}
_FEATURES = "model.features."


def training_of(form: FormData, dataset: Dataset, table: Table, columns: Proposed) -> TrainingRequest:
    """The request that the form stands for. Raises InvalidRequest naming each wrong field."""
    wrong: list[FieldProblem] = []
    model: dict[str, Any] = {
        "kind": text_of(form, "kind"),
        "target": text_of(form, "target"),
        "features": _features(form, columns, wrong),
        "hidden": _hidden(form, wrong),
        "average": form.get("average") == "yes",
    }
    if table.path != dataset.declaration.privacy_unit.table:
        model["table"] = table.path
    for name in (*_NUMBERS, "rows") if table.rows_per_person == "many" else _NUMBERS:
        if text_of(form, name):
            model[name] = _number(text_of(form, name), f"model.{name}", wrong, is_whole=name in _WHOLE)
    if wrong:
        first, *more = wrong
        raise InvalidRequest(first.field, first.problem, first.fix, more=tuple(more))
    body = {"dataset": dataset.name, "model": model}
    body |= {name: text_of(form, name) for name in ("epsilon", "delta", "project") if text_of(form, name)}
    return parse(TrainingRequest, body)


def by_name(error: RequestError, form: FormData, columns: Proposed) -> tuple[FieldProblem, ...]:
    """The problems, with a feature's place in the request as the name of its column."""
    names = [column.name for _, column in _ticked(form, columns)]
    return tuple(replace(problem, field=_named(problem.field, names)) for problem in error.problems)


def _named(field: str, names: list[str]) -> str:
    if field.startswith("model.hidden."):
        return "model.hidden"
    place, dot, rest = field.removeprefix(_FEATURES).partition(".")
    if not field.startswith(_FEATURES) or not place.isdecimal() or int(place) >= len(names):
        return field
    return f"{_FEATURES}{names[int(place)]}{dot}{rest}"


def _ticked(form: FormData, columns: Proposed) -> list[tuple[int, Any]]:
    """Those that are chosen, with their number in the form. What is predicted is no feature."""
    chosen, target = set(map(str, form.getlist("feature"))), text_of(form, "target")
    return [
        (number, column)
        for number, column in enumerate(columns.columns)
        if column.name in chosen and column.name != target
    ]


def _features(form: FormData, columns: Proposed, wrong: list[FieldProblem]) -> list[dict[str, Any]]:
    """Bounds that are the declared ones are left out: it is the same question."""
    found: list[dict[str, Any]] = []
    for number, column in _ticked(form, columns):
        feature: dict[str, Any] = {"name": column.name}
        if column.kind != "categorical":
            for side, declared in zip(("lower", "upper"), column.bounds, strict=True):
                if text := text_of(form, f"{side}-{number}"):
                    value = _number(text, f"{_FEATURES}{len(found)}.{side}", wrong)
                    feature |= {} if value == declared else {side: value}
        found.append(feature)
    return found


def _hidden(form: FormData, wrong: list[FieldProblem]) -> list[int]:
    texts = text_of(form, "hidden")[:100].replace(",", " ").split()
    return [int(_number(text, "model.hidden", wrong, is_whole=True)) for text in texts]


def _number(text: str, field: str, wrong: list[FieldProblem], *, is_whole: bool = False) -> float:
    value = read_number(text[:100])
    if value is not None and (not is_whole or value == int(value)):
        return int(value) if is_whole else value
    kind, fix = ("whole number", "Write one such as 64.") if is_whole else ("number", "Write one.")
    wrong.append(FieldProblem(field, f"is not a {kind}.", fix))
    return 0
