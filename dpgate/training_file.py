"""A model to be trained, on the researcher's disk: one, or several that are tried on a twin."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from domain.errors import InvalidRequest
from domain.model import parse
from domain.training import TrainingRequest
from dpgate.query_file import load_query

SWEPT = ("steps", "batch", "clip", "learning_rate", "momentum", "hidden")
"""Fields that may name several values, for a trial on a twin."""

MOST_TRIED = 16


@dataclass(frozen=True)
class Choice:
    """One of the models that a file names; `name` says where it differs from the others."""

    name: str
    request: TrainingRequest


def build_training_request(
    text: str, *, dataset: str, epsilon: str, delta: str, project: str | None = None
) -> dict[str, Any]:
    """The body of a request, its form checked here first. Raises InvalidRequest naming a wrong field.

    Several values are refused: each training on the original costs its whole epsilon and delta.
    """
    model = load_query(text)
    if several := _several(model):
        times = prod(len(values) for values in several.values())
        raise InvalidRequest(
            f"model.{next(iter(several))}",
            f"it names several values, and the trainings of all {times} choices would add up: each costs "
            f"epsilon {epsilon} and delta {delta}.",
            "Try them on the twin with `dpgate train try MODEL`, and keep one.",
        )
    request = {"dataset": dataset, "model": model, "epsilon": epsilon, "delta": delta}
    request |= {"project": project} if project else {}
    parse(TrainingRequest, request)
    return request


def read_choices(text: str, *, dataset: str, epsilon: str, delta: str) -> tuple[Choice, ...]:
    """Each combination of the values that a file names. Raises InvalidRequest naming a wrong field."""
    model = load_query(text)
    several = _several(model)
    times = prod(len(values) for values in several.values())
    if times > MOST_TRIED:
        raise InvalidRequest(
            f"model.{next(iter(several))}", f"{times} choices are over {MOST_TRIED}.", "Name fewer values."
        )
    return tuple(_choices(model, several, {"dataset": dataset, "epsilon": epsilon, "delta": delta}))


def _choices(model: dict[str, Any], several: dict[str, list[Any]], asked: dict[str, str]) -> Iterator[Choice]:
    for values in product(*several.values()):
        chosen = dict(zip(several, values, strict=True))
        name = ", ".join(f"{field} {value}" for field, value in chosen.items())
        yield Choice(name, parse(TrainingRequest, asked | {"model": model | chosen}))


def _several(model: dict[str, Any]) -> dict[str, list[Any]]:
    """`hidden` is a list itself: it names several where its entries are lists."""
    return {
        field: values
        for field in SWEPT
        if isinstance(values := model.get(field), list)
        and values
        and (field != "hidden" or all(isinstance(value, list) for value in values))
    }
