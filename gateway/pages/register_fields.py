"""From the fields of a step to a declaration as typed, and back. A field is called by its path in it.

What cannot be understood stays as the text that was typed: the declaration's own check names it, and the page
shows it again. An empty field is left out, so that the declaration's default holds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from starlette.datastructures import FormData

from domain.usual_ranges import BY_KEY

MAX_FIELD = 1_000_000
_WHOLE = re.compile(r"[+-]?\d{1,15}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})(e[+-]?\d{1,3})?", re.ASCII | re.IGNORECASE)

Reader = Callable[[str], Any]


def _text(typed: str) -> Any:
    return typed.strip() or None


def _as_typed(typed: str) -> Any:
    return typed.replace("\r\n", "\n") or None


def _number(typed: str) -> Any:
    text = typed.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    is_number = _NUMBER.fullmatch(text) and math.isfinite(float(text))
    return float(text) if is_number else text or None


def _lines(typed: str) -> Any:
    return [line.strip() for line in typed.splitlines() if line.strip()] or None


def _names(typed: str) -> Any:
    return [name for name in re.split(r"[\s,;]+", typed) if name] or None


def _numbers(typed: str) -> Any:
    return [_number(part) for part in re.split(r"[\s,;x×]+", typed.strip()) if part] or None


def _truth(typed: str) -> Any:
    return True if typed == "true" else typed or None


ABOUT: Mapping[str, Reader] = {
    "name": _text, "title": _text, "description": _text, "licence": _text, "citation": _text,
}  # fmt: skip
UNIT: Mapping[str, Reader] = {
    "layout": _text, "privacy_unit.name": _text, "nominal_size": _number, "folders": _text,
    "most_bytes": _number, "cohort": _text,
}  # fmt: skip
BUDGET: Mapping[str, Reader] = {
    "accounting": _text, "budget_epsilon": _text, "budget_delta": _text, "budget_nats": _text,
    "budget_releases": _number,
}  # fmt: skip
POLICY: Mapping[str, Reader] = {
    "policy.data_users": _names, "policy.max_epsilon_per_job": _text, "policy.min_block_size": _number,
    "policy.timing.mode": _text, "policy.timing.step_seconds": _number, "policy.isolation": _text,
}  # fmt: skip
COLUMN: Mapping[str, Reader] = {
    "name": _text, "kind": _text, "with_time": _truth,
    "lower": _number, "upper": _number, "decimals": _number,
    "categories": _lines, "missing": _text, "missing_rate": _number, "typical.mean": _number,
    "typical.sd": _number, "description": _text, "instrument": _text, "bins": _number, "scale": _text,
    "special_values": _numbers, "basis": _text, "declared_by": _text, "text_length": _text,
    "pii.kind": _text, "pii.classification": _text, "pii.decision": _text, "pii.by": _text, "pii.why": _text,
}  # fmt: skip
PERSON_FILE: Mapping[str, Reader] = {
    "path": _text, "twin_text": _as_typed, "twin_volume.shape": _numbers, "twin_volume.dtype": _text,
    "twin_volume.lower": _number, "twin_volume.upper": _number, "twin_volume.zooms": _numbers,
}  # fmt: skip
TABLE: Mapping[str, Reader] = {
    "path": _text, "rows_per_person": _text, "typical_rows": _number, "most_rows": _number,
    "line_end": _text, "row_rules": _lines, "dialect.delimiter": _text, "dialect.encoding": _text,
    "dialect.decimal": _text, "dialect.thousands": _text, "dialect.dates": _text,
}  # fmt: skip
EXCLUDED: Mapping[str, Reader] = {"excluded": _lines}
PUBLIC_FILE: Mapping[str, Reader] = {"path": _text, "text": _as_typed}
TICKS: Mapping[str, tuple[str, ...]] = {
    "about": ("synthetic",),
    "unit": ("new_people",),
    "policy": ("policy.approve_jobs", "policy.review_releases"),
}
SEVERAL = ("policy.images", "policy.guarantees", "policy.accepted_channels")
_NUMERIC = ("typical", "decimals", "instrument", "scale", "special_values")
_NOT_OF_KIND = {
    "person": ("lower", "upper", "categories", "missing_rate", "bins", *_NUMERIC, "coarsen", "text_length",
               "typical_shares", "count_missing", "with_time"),
    "categorical": ("lower", "upper", "bins", *_NUMERIC, "text_length", "with_time"),
    "integer": ("categories", "coarsen", "text_length", "with_time"),
    "number": ("categories", "coarsen", "text_length", "with_time"),
    "date": ("categories", *_NUMERIC, "coarsen", "text_length", "typical_shares"),
    "text": ("lower", "upper", "categories", "bins", *_NUMERIC, "coarsen", "typical_shares", "count_missing",
             "with_time"),
}  # fmt: skip


def read_fields(content: dict[str, Any], form: FormData, readers: Mapping[str, Reader], at: str = "") -> None:
    """Put what was typed into `content`, in place; a field that the form does not have stays as it is."""
    for path, read in readers.items():
        typed = form.get(f"{at}{path}")
        if isinstance(typed, str):
            place(content, path, read(typed[:MAX_FIELD].replace("\x00", "")))


def read_ticks(content: dict[str, Any], form: FormData, step: str) -> None:
    """Boxes: one that is not ticked is not in the form."""
    for path in TICKS.get(step, ()):
        place(content, path, True if form.get(path) else None)
    if step == "policy":
        for path in SEVERAL:
            # an empty list says something else than none: guarantees have a default
            place(content, path, [str(chosen)[:200] for chosen in form.getlist(path)])


def read_columns(table: dict[str, Any], form: FormData, at: str, first: int, most: int) -> None:
    """The columns of a table that the page shows: `most` of them, from the one numbered `first`."""
    columns = list(table.get("columns") or ())
    for number in range(first, min(first + most, len(columns))):
        columns[number] = _column(columns[number], form, f"{at}columns.{number}.")
    table["columns"] = columns


def read_items(content: dict[str, Any], form: FormData, name: str, readers: Mapping[str, Reader]) -> None:
    """The items of a list of objects, each with its own fields."""
    items = [dict(item) if isinstance(item, dict) else {} for item in content.get(name) or ()]
    for number, item in enumerate(items):
        read_fields(item, form, readers, f"{name}.{number}.")
    place(content, name, items or None)


def place(content: dict[str, Any], path: str, value: Any) -> None:
    """Set what is at a path of names; None removes it, and what is left empty above it."""
    first, _, rest = path.partition(".")
    if not rest:
        if value is None:
            content.pop(first, None)
        else:
            content[first] = value
        return
    inner = content.get(first)
    inner = dict(inner) if isinstance(inner, dict) else {}
    place(inner, rest, value)
    if inner:
        content[first] = inner
    else:
        content.pop(first, None)


def shown(content: Any, path: str) -> str:
    """What a field shows: what was typed there, as text."""
    for part in path.split("."):
        if isinstance(content, list) and part.isdigit() and int(part) < len(content):
            content = content[int(part)]
        elif isinstance(content, dict):
            content = content.get(part)
        else:
            return ""
    return _shown(content)


def _shown(value: Any) -> str:
    if value is None or isinstance(value, dict):
        return ""
    if isinstance(value, bool):
        return "true" if value else ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return "\n".join(map(_shown, value)) if isinstance(value, list) else str(value)


def _column(column: Any, form: FormData, at: str) -> dict[str, Any]:
    found = dict(column) if isinstance(column, dict) else {}
    read_fields(found, form, COLUMN, at)
    usual = BY_KEY.get(str(form.get(f"{at}usual", "")))
    if usual is not None:
        found |= {"kind": usual.kind, "lower": usual.lower, "upper": usual.upper}
        found.setdefault("description", f"{usual.name}, {usual.unit}")
    for name in _NOT_OF_KIND.get(str(found.get("kind")), ()):
        found.pop(name, None)
    return found
