"""A released model as a card: what it is, and three lines that use it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from domain.release import Release
from gateway.pages.layout import number

FILE = "model.json"
_KINDS = {
    "logistic": "Tells two categories apart: logistic, one output, the log-odds of the second.",
    "softmax": "Tells categories apart: softmax, one output for each.",
    "linear": "Predicts a number within its bounds: linear.",
}
_MOST_IN_EXAMPLE = 6


@dataclass(frozen=True)
class ModelCard:
    """Of a model that was released; all but the weights was public before."""

    what: str
    target: str
    people: int
    layers: str
    weights: int
    by_moments: str
    features: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]
    example: str


def model_card(release: Release, parameters: dict[str, Any]) -> ModelCard:
    """Of the file that the certificate names, with the parameters that it signs."""
    document: dict[str, Any] = json.loads(release.files[FILE])
    layers, card = document["layers"], document["card"]
    sizes = [len(layers[0]) - 1, *(len(layer[0]) for layer in layers)]
    return ModelCard(
        what=_KINDS[document["kind"]],
        target=f"{document['target']['name']}: {_values(document['target'])}",
        people=card["people"],
        layers=" to ".join(f"{size:,}" for size in sizes),
        weights=sum(len(layer) * len(layer[0]) for layer in layers),
        by_moments=parameters.get("epsilon_by_moments", ""),
        features=tuple((feature["name"], _values(feature)) for feature in document["features"]),
        remarks=tuple(card["remarks"]),
        example=_example(document["features"]),
    )


def _values(column: dict[str, Any]) -> str:
    if "categories" in column:
        return ", ".join(column["categories"])
    return f"{number(column['lower'])} to {number(column['upper'])}"


def _example(features: list[dict[str, Any]]) -> str:
    """A row of the middles of all bounds, or a word for rows of many columns."""
    row = {
        feature["name"]: feature["categories"][0]
        if "categories" in feature
        else (feature["lower"] + feature["upper"]) / 2
        for feature in features
    }
    rows = repr([row]) if len(row) <= _MOST_IN_EXAMPLE else "rows"
    return (
        "from dpgate.trained_model import TrainedModel\n"
        'model = TrainedModel.read("model.npz")\n'
        f"model.predict({rows})" + ("" if rows != "rows" else "  # a dict for each, by names of columns")
    )
