"""The base of every domain model, and the one way from untrusted data to such a model."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence, Sized
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
)
from pydantic_core import ErrorDetails

from domain.errors import FieldProblem, InvalidRequest
from domain.refusals import fields

ModelT = TypeVar("ModelT", bound=BaseModel)


class Model(BaseModel):
    """Frozen, and refuses keys that it does not know: a typing error must not become a default."""

    # built at first use: a command that reads one kind of document does not wait for validators of all others
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


def build_models() -> None:
    """Build the validators of all models now, and of later ones where they are declared: for processes that
    serve, so that a wrong declaration ends their start and nobody waits for it later."""
    found: list[type[BaseModel]] = [Model]
    for model in found:  # it grows: in the order of their declaration, so that what others hold comes first
        found += model.__subclasses__()
        model.model_config["defer_build"] = False
        model.model_rebuild()


def is_none(value: object) -> bool:
    """For `exclude_if`: a field that says nothing stays out of what is stored, sent and digested."""
    return value is None


def is_empty(value: Sized) -> bool:
    """The same of a field that holds several."""
    return not value


def _only_a_number(value: Any) -> Any:
    # pydantic would take "12" and True for a number; a bound that someone mistyped must not slip through
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("must be a number")
    return value


def _only_a_whole_number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be a whole number")
    return value


def _inside(path: str) -> str:
    parts = path.split("/")
    if path.startswith("/") or "\\" in path or "\0" in path:
        raise ValueError("must be a relative path with forward slashes")
    if any(part in ("", ".", "..") for part in parts):
        raise ValueError("must stay inside its folder: no '..', '.' or empty part")
    return path


Number = Annotated[float, BeforeValidator(_only_a_number), Field(allow_inf_nan=False)]
Whole = Annotated[int, BeforeValidator(_only_a_whole_number)]
SLUG = r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"
Slug = Annotated[str, StringConstraints(pattern=SLUG)]
InsidePath = Annotated[str, StringConstraints(min_length=1, max_length=240), AfterValidator(_inside)]
Words = Annotated[str, StringConstraints(max_length=2000)]

MOST_PROBLEMS = 2000
"""Looked at of one body: a hostile one has many more."""

# fields whose value is one of several models: pydantic puts the member's name behind the field's
UNIONS = {"mechanism", "query"}
# the same for the items of a list
LISTS_OF_UNIONS = {"files", "data_users"}
# the same for a whole body
KINDS_OF_REQUEST = {"pipeline_request", "query_request", "training_request", "twin_request"}

# what people call a member of a union, by what it is called here
MEANT: Mapping[str, str] = {
    "average": "mean", "avg": "mean", "n": "count", "number": "count", "total": "sum",
    "median": "quantile", "percentile": "quantile", "quartile": "quantile", "iqr": "quantile",
    "sd": "variance", "std": "variance", "stdev": "variance", "var": "variance",
    "correlation": "covariance", "cor": "covariance", "corr": "covariance",
    "linear": "regression", "lm": "regression", "ols": "regression",
}  # fmt: skip
SAID: Mapping[str, str] = {"median": ", which gives the median where no probabilities are named"}

# kinds of findings whose words are our own, with the fix where the words leave it open
OWN_WORDS: Mapping[str, str] = {
    "value_error": "",
    "image_reference": "Write the name of an approved image, as `dpgate image list` shows it.",
}


def parse(model: type[ModelT], data: object, *, within: str = "") -> ModelT:
    """Untrusted data to a frozen model, once, at the edge. Raises InvalidRequest naming each wrong field."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise invalid(error.errors(), within=within) from None


def invalid(details: list[ErrorDetails] | list[Any], *, within: str = "") -> InvalidRequest:
    """The same words for pydantic's findings wherever they arise, the first of very many."""
    details = details[:MOST_PROBLEMS]
    above = {detail["loc"][:length] for detail in details for length in range(len(detail["loc"]))}
    # pydantic calls a list too short when its only item is wrong; the item's own problem says it all
    told = [detail for detail in details if detail["type"] != "too_short" or detail["loc"] not in above]
    # a default that follows from other fields, which are wrong and named themselves
    told = [detail for detail in told if detail["type"] != "default_factory_not_called"]
    # `*` in place of a name: what is wrong with the name says it all
    told = [detail for detail in told if detail.get("ctx", {}).get("expected") != "'*'"]
    first, *more = [_problem(detail, within) for detail in told]
    return InvalidRequest(first.field, first.problem, first.fix, more=tuple(more), code=first.code)


def _problem(detail: Any, within: str) -> FieldProblem:
    where = [within] if within else []
    where += _field(detail["loc"])
    kind, told = detail["type"], detail.get("ctx", {})
    if kind in _NO_MEMBER:
        return _unknown_member(detail, where)
    if kind == "invalid_key":
        # a name that is no text is no part of a path
        told = {"key": where.pop()}
    field = ".".join(where) or "body"
    if kind == "missing":
        return fields.MISSING.about(field)
    if kind == "extra_forbidden":
        near = fields.NEAR.get(where[-1] if where else "")
        return fields.NEARLY.about(field, near=near) if near else fields.UNKNOWN.about(field)
    if kind == "string_pattern_mismatch":
        # nobody who fills in a form reads regular expressions
        no, use = fields.form_of(str(told["pattern"]))
        return fields.FORM.about(field, no=no, use=use)
    if kind in fields.KINDS:
        of_kind = fields.KINDS[kind]
        example = fields.EXAMPLES.get((where[-1] if where else "", kind), of_kind)
        return fields.KIND.about(field, kind=of_kind, example=example)
    if kind in fields.CHOICES:
        return fields.VALUE.about(field, problem=f"must be {told['expected']}.".replace("'", ""), use="")
    if kind not in OWN_WORDS:
        problem, use = fields.size_of(kind, told)
        return fields.VALUE.about(field, problem=problem, use=use)
    message = re.sub(r"^Value error, ", "", str(detail["msg"]))
    message = message[:1].lower() + message[1:] + ("" if message.endswith(".") else ".")
    return fields.VALUE.about(field, problem=message, use=OWN_WORDS[kind])


_NO_MEMBER = {"union_tag_invalid", "union_tag_not_found"}


def _field(location: Sequence[Any]) -> list[str]:
    """The path of a field as a person writes it: without the names of union members that pydantic adds."""
    parts = [str(part) for part in location if part != "body" and part not in KINDS_OF_REQUEST]
    return [part for position, part in enumerate(parts) if not _names_a_member(parts[:position])]


def _names_a_member(before: Sequence[str]) -> bool:
    """Whether what stands behind these parts is a union member's name, not a field."""
    if before and before[-1] in UNIONS:
        return True
    return len(before) > 1 and before[-2] in LISTS_OF_UNIONS and before[-1].isdigit()


def _unknown_member(detail: Any, where: list[str]) -> FieldProblem:
    key = str(detail["ctx"]["discriminator"]).strip("'_()")
    known = str(detail["ctx"].get("expected_tags", "")).replace("'", "")
    if not known:
        return fields.MISSING.about(".".join([*where, key]))
    asked = str(detail["ctx"].get("tag", "")).lower()
    members = known.split(", ")
    near = [name for name in (MEANT.get(asked),) if name in members] or get_close_matches(asked, members, 1)
    meant = "".join(f"Do you mean {name}{SAID.get(asked, '')}? " for name in near)
    problem, use = "is none that is known.", f"{meant}There are {known}."
    return fields.VALUE.about(".".join([*where, key]), problem=problem, use=use)


def find_inside_another(paths: list[str]) -> str | None:
    """The first path that would need another one, a file, to be a folder."""
    files = set(paths)
    inside = (path for path in paths if any(str(folder) in files for folder in PurePosixPath(path).parents))
    return next(inside, None)


def canonical(value: object) -> bytes:
    """One byte string for one meaning: sorted keys, no spaces, UTF-8, no NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def digest(value: object) -> str:
    """`sha256:` and the hex digest of the canonical form. For public values only, never for data."""
    return "sha256:" + hashlib.sha256(canonical(value)).hexdigest()
