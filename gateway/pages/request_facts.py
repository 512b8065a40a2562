"""What a job asked, in plain words: the choices of its mechanism, its outputs, its question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from domain.job import AnyRequest, JobRequest
from domain.shape.selection import name_values
from gateway.pages.layout import number

_CHOICES = {
    "aggregator": "How blocks become one value",
    "average": "Mean of the weights of the last half of the steps",
    "batch": "Expected people of a step",
    "clip": "Length to which a person's gradient is clipped",
    "features": "Features",
    "hidden": "Hidden layers",
    "learning_rate": "Learning rate",
    "momentum": "Momentum",
    "steps": "Steps",
    "target": "Target",
    "bins": "Bins",
    "block_size": "People per block",
    "by": "In groups of",
    "column": "Column",
    "columns": "Columns",
    "contribution": "What one person's rows become",
    "count_failures": "Number of failed runs released too",
    "delta": "Delta",
    "edges": "Inner edges of the bins",
    "epsilon": "Epsilon",
    "interval": "Interval for",
    "kind": "What is computed",
    "nats": "Nats",
    "noise": "Noise",
    "noise_multiplier": "Noise multiplier",
    "outcome": "Outcome",
    "probabilities": "Quantiles",
    "repeats": "Repeats of the partition",
    "rows": "Most rows of one person that count",
    "clip_norm": "Clip norm of a block's vector, in half-ranges",
    "spread_ratio": "Declared range over spread of blocks",
    "table": "Table",
    "tables": "Tables, and the level of each",
    "weights": "Weights of the values",
    "where": "Rows with",
}
_AUTO = {
    "aggregator": "median or mean, in one step or two, by declared spread",
    "noise": "the narrowest: Laplace for one mean, joint for several; Gaussian where a delta pays for it",
}
_VALUES = {
    "clipped_mean": "mean, clipped to the bounds",
    "gaussian": "Gaussian",
    "joint": "joint, one draw for all means",
    "laplace": "Laplace",
    "noise": "the noise alone",
    "two_step": "mean in two steps: the first narrows the bounds",
    "sampling": "the noise, and the population that was sampled",
}


@dataclass(frozen=True)
class OutputFact:
    """One declared number of a pipeline."""

    name: str
    file: str
    lower: float
    upper: float


def choices(chosen: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What was chosen of the mechanism, as pairs of a label and a text. What says nothing is left out."""
    pairs = [
        (
            _CHOICES.get(name, name.replace("_", " ").capitalize()),
            _AUTO[name] if value == "auto" and name in _AUTO else _text(value),
        )
        for name, value in chosen.items()
    ]
    return [(label, text) for label, text in pairs if text]


def outputs(request: AnyRequest) -> list[OutputFact]:
    """The numbers that a pipeline may release, with their bounds; of a trusted query none."""
    if not isinstance(request, JobRequest):
        return []
    return [
        OutputFact(value.name, file.file, value.lower, value.upper)
        for output, file in zip(request.pipeline.manifest.outputs, request.shape.files, strict=True)
        for value in name_values(output, file)
    ]


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, int | float):
        return number(value)
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, list | tuple):
        return ", ".join(_text(each) for each in value)
    return _VALUES.get(str(value), str(value))


def _mapping(value: Mapping[str, Any]) -> str:
    if {"column", "operator", "value"} <= value.keys():
        return f"{value['column']} {value['operator']} {_text(value['value'])}"
    if "name" in value:
        lower, upper = value.get("lower"), value.get("upper")
        bounds = f" ({_text(lower)} to {_text(upper)})" if lower is not None and upper is not None else ""
        return f"{value['name']}{bounds}"
    return ", ".join(f"{key} {_text(each)}" for key, each in value.items() if each is not None)
