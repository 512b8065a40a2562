"""From noised weights to the released files: the model and what it takes to use it, as JSON and arrays."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from domain.dataset import Declaration
from domain.errors import PlatformError
from domain.model import canonical
from domain.training import Feature, Target, TrainingRequest
from domain.training.request import MECHANISM
from privacy.training import Trainer
from privacy.training.fixed_point import GRADIENT_BITS
from privacy.trusted.query import RELATION
from worker.drawn import Drawn
from worker.training.chunk import unpack_weights

FILE = "model.json"
ARRAYS = "model.npz"
FORM = "dpgate model, 1"


def draw_model(request: TrainingRequest, declaration: Declaration, packed: bytes) -> Drawn:
    """The release of weights that were noised step by step. Raises PlatformError where they are too few."""
    trainer, weights = request.trainer(declaration), unpack_weights(packed)
    if len(weights) != trainer.network.size:
        raise PlatformError("the weights are not those of the model that was asked for")
    document = _document(request, declaration, trainer, weights)
    return Drawn(
        mechanism=MECHANISM,
        guarantee=request.guarantee,
        relation=RELATION,
        parameters=_parameters(trainer),
        limit=request.limit(declaration),
        # thousands of weights that nobody reads one by one: the file holds them
        values=(),
        files={FILE: canonical(document) + b"\n", ARRAYS: _arrays(document)},
    )


def _arrays(document: dict[str, Any]) -> bytes:
    """The weights of each layer in own units, and the rest as the octets of its JSON: nothing to unpickle.

    Weights are whole units of 24 bits and a sign, which 32-bit floats hold exactly.
    """
    rest = document | {"layers": len(document["layers"]), "weight_unit": 1}
    layers = {
        f"layer_{position}": (np.array(layer, np.float64) * document["weight_unit"]).astype(np.float32)
        for position, layer in enumerate(document["layers"])
    }
    written = io.BytesIO()
    np.savez(written, allow_pickle=False, document=np.frombuffer(canonical(rest), np.uint8), **layers)
    return written.getvalue()


def _parameters(trainer: Trainer) -> dict[str, object]:
    """Lengths and noise in units of 2^-32 of a gradient."""
    sampled = trainer.sampled
    return {
        "noise": "discrete gaussian",
        "noise_variance": str(sampled.variance),
        "norm": str(sampled.norm),
        "unit": f"2^-{GRADIENT_BITS}",
        "rate_of_2_32": str(sampled.rate),
        "steps": sampled.steps,
        "weights": trainer.network.size,
        # what the older proof says of the same noise: it is not charged
        "epsilon_by_moments": trainer.epsilon_by_moments,
    }


def _document(
    request: TrainingRequest, declaration: Declaration, trainer: Trainer, weights: list[int]
) -> dict[str, Any]:
    layers, at = [], 0
    for inputs, outputs in trainer.network.shapes:
        layers.append(
            [weights[start : start + outputs] for start in range(at, at + inputs * outputs, outputs)]
        )
        at += inputs * outputs
    return {
        "form": FORM,
        "kind": request.model.kind.value,
        "features": [_column(feature) for feature in request.features(declaration)],
        "target": _column(request.target(declaration)),
        "activation": "tanh",
        "weight_unit": 2.0**-20,
        # of each layer a row for each input and one for the intercept, a column for each output
        "layers": layers,
        "card": _card(request, declaration),
        "guarantee": {"class": request.guarantee.value, "epsilon": request.epsilon, "delta": request.delta},
    }


def _card(request: TrainingRequest, declaration: Declaration) -> dict[str, object]:
    """What whoever uses the model should know of it; all of it public before data were read."""
    asked = request.model
    return {
        "dataset": request.dataset,
        "table": request.table(declaration).path,
        "people": declaration.nominal_size,
        "trained_with": {
            "steps": asked.steps,
            "batch": asked.batch,
            "clip": asked.clip,
            "learning_rate": asked.learning_rate,
            "momentum": asked.momentum,
            "average": asked.average,
            "rows": asked.rows,
        },
        "remarks": [
            "Whether one person took part changes the weights no more than the guarantee says.",
            "Rows that lack a value took no part, and values beyond their bounds counted as the bound.",
            "How often it is right was not measured on the original data: that would cost more.",
        ],
    }


def _column(column: Feature | Target) -> dict[str, object]:
    if column.grid is None:
        return {"name": column.name, "categories": list(column.categories)}
    return {"name": column.name, "lower": float(column.grid.lower), "upper": float(column.grid.upper)}
