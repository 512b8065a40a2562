"""Tables of the fields of models: name, type, default, and the meaning, which stands beside the field in its
model; field_meanings may add to it."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
import types
import typing
from collections.abc import Iterator
from enum import Enum
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from field_meanings import ADDED, TITLES
from page_parts import code, table
from pydantic import BaseModel, SecretStr, WithJsonSchema
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from domain.permissions import Role
from domain.step_up import StepUp

# what a table of names holds
_VALUES: dict[object, str] = {str: "texts", float: "numbers", Role: "roles", StepUp: "rules"}


def models(model: type[BaseModel]) -> Iterator[str]:
    """The model's own table, then one for each model that a field holds."""
    pending, seen = [model], {model}
    while pending:
        current = pending.pop(0)
        yield f"## {TITLES[current.__name__]}\n\n{table_of(current)}\n"
        for field in current.model_fields.values():
            for inner in _inner_models(field.annotation):
                if inner not in seen:
                    seen.add(inner)
                    pending.append(inner)


def table_of(model: type[BaseModel], *, only: list[str] | None = None) -> str:
    rows = [
        (code(name), type_of(field), default_of(field), meaning_of(model, name))
        for name, field in model.model_fields.items()
        if only is None or name in only
    ]
    return table(("field", "type", "default", "meaning"), rows)


def meaning_of(model: type[BaseModel], name: str) -> str:
    """What is said beside the field, and what the page adds. Raises KeyError where nothing is said."""
    said = " ".join(_said_beside(model)[name].split())
    # a star by itself would begin emphasis
    said = "`".join(part if k % 2 else part.replace("*", "`*`") for k, part in enumerate(said.split("`")))
    return f"{said} {ADDED.get(model.__name__, {}).get(name, '')}".strip()


@cache
def _said_beside(model: type[BaseModel]) -> dict[str, str]:
    """The text under each field of the class, and of those that it comes from. pydantic would read it where
    the model is made (`use_attribute_docstrings`), for all models in a sixth of a second of each command."""
    found: dict[str, str] = {}
    for each in reversed(model.__mro__[: model.__mro__.index(BaseModel)]):
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        for field, text in pairwise(getattr(body, "body")):  # noqa: B009
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                    found[name] = said
    return found


def _inner_models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _inner_models(part)


def type_of(field: FieldInfo) -> str:
    limits = {}
    for item in field.metadata:
        for name in ("ge", "gt", "le", "lt", "min_length", "max_length"):
            value = getattr(item, name, None)
            if value is not None:
                limits[name] = value
    for schema in _own_schemas(field):
        return f"{schema['title']}, a decimal"  # only amounts of loss have a schema of their own
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    bounds = [f"{signs[name]} {value}" for name, value in limits.items() if name in signs]
    return ", ".join([_kind(field.annotation), *bounds])


def _own_schemas(field: FieldInfo) -> Iterator[dict[str, Any]]:
    """Of the field itself, or of what it holds when it may also be missing."""
    inside = [
        item for part in typing.get_args(field.annotation) for item in getattr(part, "__metadata__", ())
    ]
    for item in (*field.metadata, *inside):
        if isinstance(item, WithJsonSchema) and "title" in (item.json_schema or {}):
            yield item.json_schema or {}


def _kind(annotation: Any) -> str:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _kind(arguments[0])
    if origin is Literal:
        return " or ".join(code(value).replace("|", "\\|") for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_kind(part) for part in arguments if part is not type(None)))
    if origin is dict:
        held = arguments[1].__origin__ if typing.get_origin(arguments[1]) is Annotated else arguments[1]
        return f"names and {_VALUES.get(held, 'whole numbers')}"
    if origin is tuple:
        return f"list of {_kind(arguments[0])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{TITLES[annotation.__name__]}](#{_anchor(TITLES[annotation.__name__])})"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " or ".join(code(member.value) for member in annotation)
    words = {int: "whole number", float: "number", bool: "yes or no", Path: "path"}
    return ({str: "text", SecretStr: "text"} | words)[annotation]


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-").replace("'", "")


def default_of(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default_factory_takes_validated_data:
        return "`exclusive` with padded timing, else `shared`"
    if field.default_factory is not None:
        return "none" if field.default_factory is dict else "all cores"
    value = field.default
    if value is PydanticUndefined or value is None or value in ("", ()):
        return ""
    if isinstance(value, BaseModel):
        return "its defaults"
    if isinstance(value, Enum):
        return code(value.value)
    if isinstance(value, bool):
        return code("true" if value else "false")
    if isinstance(value, tuple):
        return code(json.dumps([str(item) for item in value]))
    return code(f"{value:g}" if isinstance(value, float) else value)
