"""The base of every domain model, and the one way from untrusted data to such a model."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
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

ModelT = TypeVar("ModelT", bound=BaseModel)


class Model(BaseModel):
    """Frozen, and refuses keys that it does not know: a typing error must not become a default."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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

FIXES: Mapping[str, str] = {
    "extra_forbidden": "Remove it, or check its spelling.",
    "missing": "Add it.",
    "string_pattern_mismatch": "Keep to the pattern.",
    "finite_number": "Give a finite number.",
    "enum": "Choose one of the values named.",
    "literal_error": "Choose one of the values named.",
    "image_reference": "Write the name of an approved image, as `dpgate image list` shows it.",
    "greater_than_equal": "Use {ge} or more.",
    "greater_than": "Use more than {gt}.",
    "less_than_equal": "Use {le} or less.",
    "less_than": "Use less than {lt}.",
}


def parse(model: type[ModelT], data: object, *, within: str = "") -> ModelT:
    """Untrusted data to a frozen model, once, at the edge. Raises InvalidRequest naming each wrong field."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise invalid(error.errors(), within=within) from None


def invalid(details: list[ErrorDetails] | list[Any], *, within: str = "") -> InvalidRequest:
    """The same words for pydantic's findings wherever they arise."""
    first, *more = [_problem(detail, within) for detail in details if not _is_echo(detail, details)]
    return InvalidRequest(first.field, first.problem, first.fix, more=tuple(more))


def _is_echo(detail: Any, details: list[Any]) -> bool:
    # pydantic calls a list too short when its only item is wrong; the item's own problem says it all
    length = len(detail["loc"])
    return detail["type"] == "too_short" and any(
        other["loc"][:length] == detail["loc"] and len(other["loc"]) > length for other in details
    )


def _problem(detail: Any, within: str) -> FieldProblem:
    where = [within] if within else []
    where += [str(part) for part in detail["loc"] if part != "body"]
    message = re.sub(r"^Value error, ", "", str(detail["msg"]))
    problem = {"extra_forbidden": "is not a known field.", "missing": "is missing."}.get(
        detail["type"], message[:1].lower() + message[1:] + ("" if message.endswith(".") else ".")
    )
    fix = FIXES.get(detail["type"], "").format_map(detail.get("ctx", {}))
    if detail.get("ctx", {}).get("pattern") == SLUG:
        fix = "Use small letters, digits and hyphens."
    return FieldProblem(".".join(where) or "body", problem, fix)


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
