"""From the form of a policy, or its YAML, to the policy as typed, and back.

What cannot be understood stays as the text that was typed: the policy's own check names it, and the page
shows it again.
"""

from __future__ import annotations

import re
from typing import Any

from starlette.datastructures import FormData

from domain.errors import InvalidRequest
from domain.model import parse
from domain.policy import ALL_MECHANISMS, Policy, in_full
from formats.yaml_text import read_yaml, write_yaml
from gateway.pages.policy_fields import ABOVE, ALL, GROUPS, NOBODY, Field

MAX_YAML = 200_000
MAX_PART = 20_000
_WHOLE = re.compile(r"[+-]?\d{1,15}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})", re.ASCII)
_FIELDS = [field for group in GROUPS for field in group.fields]
# an empty limit elsewhere is refused: nobody is given a default that they did not see
_MAY_BE_EMPTY = ("max_epsilon_per_project", "max_values", "approve_jobs_above", "review_releases_above")
Typed = dict[str, tuple[str, ...]]
"""What stands in the form: for each name the texts, or the values that are ticked."""


def typed_form(form: FormData) -> Typed:
    """What somebody sent, of the fields that the form has."""
    names = [name for field in _FIELDS for name in (field.name, field.beside) if name]
    return {name: tuple(str(text)[:MAX_PART] for text in form.getlist(name)) for name in names}


def typed_policy(policy: Policy) -> Typed:
    """What the form shows of a policy before anybody types."""
    full = in_full(policy)
    full |= {f"timing.{name}": value for name, value in policy.timing.model_dump().items()}
    full["timing.staging_seconds"] = policy.timing.staging_seconds
    found: Typed = {}
    for field in _FIELDS:
        found[field.name] = _shown(field, full[field.name], above=full.get(field.beside))
        if field.beside:
            found[field.beside] = (full[field.beside] or "",)
    if policy.mechanisms is None:
        found["mechanisms"] = ALL_MECHANISMS
    return found


def from_form(typed: Typed) -> Policy:
    """Raises InvalidRequest that names each wrong field."""
    content = {field.name: _read(field, typed[field.name]) for field in _FIELDS}
    for field in _FIELDS:
        if field.beside:
            content |= _threshold(field, typed)
    timing = {name.removeprefix("timing."): content.pop(name) for name in list(content) if "." in name}
    # the other mode's number is not asked for
    timing.pop("step_seconds" if timing["mode"] == "padded" else "staging_seconds")
    if set(content["mechanisms"]) == set(ALL_MECHANISMS):
        content.pop("mechanisms")
    given = {name: value for name, value in content.items() if value != "" or name not in _MAY_BE_EMPTY}
    return parse(Policy, {**given, "timing": {name: value for name, value in timing.items() if value != ""}})


def from_yaml(text: str) -> Policy:
    """Raises InvalidRequest that names each wrong field, or the line that is no YAML."""
    if len(text) > MAX_YAML:
        raise InvalidRequest("yaml", f"has more than {MAX_YAML:,} characters.", "Send less.")
    return parse(Policy, read_yaml(text, field="yaml"))


def as_yaml(policy: Policy) -> str:
    """What `from_yaml` reads back as the same policy."""
    return write_yaml(policy.model_dump(mode="json"))


def _shown(field: Field, value: Any, *, above: str | None) -> tuple[str, ...]:
    if field.beside:
        return (ALL if value else ABOVE if above is not None else NOBODY,)
    if field.kind in ("names", "lines"):
        return ("\n".join(value),)
    if field.kind == "ticks":
        return tuple(map(str, value or ()))
    if field.kind == "tick":
        return ("yes",) if value else ()
    return ("" if value is None else f"{value:.15g}" if isinstance(value, float) else str(value),)


def _read(field: Field, texts: tuple[str, ...]) -> Any:
    """The value of one field as the policy's check takes it; "" where nothing was typed."""
    text = texts[0].strip() if texts else ""
    if field.kind == "names":
        return [name for name in re.split(r"[\s,;]+", text) if name]
    if field.kind == "lines":
        return [line.strip() for line in text.splitlines() if line.strip()]
    if field.kind == "ticks":
        return list(texts)
    if field.kind == "tick":
        return bool(texts)
    if field.kind == "amount":
        return text
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else text


def _threshold(field: Field, typed: Typed) -> dict[str, Any]:
    """Whether all wait, or those above an amount. A choice that is none of ours is refused by the check."""
    chosen, above = _read(field, typed[field.name]), _first(typed[field.beside])
    if chosen == ABOVE:
        # an amount that is missing must not become no threshold at all
        return {field.name: False, field.beside: above or "-"}
    return {field.name: {ALL: True, NOBODY: False}.get(chosen, chosen), field.beside: ""}


def _first(texts: tuple[str, ...]) -> str:
    return texts[0].strip() if texts else ""
