"""From noised weights to the released file: the model and what is needed to use it, in plain JSON."""

from __future__ import annotations

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
FORM = "dpgate model, 1"


def draw_model(request: TrainingRequest, declaration: Declaration, packed: bytes) -> Drawn:
    """The release of weights that were noised step by step. Raises PlatformError where they are too few."""
    trainer, weights = request.trainer(declaration), unpack_weights(packed)
    if len(weights) != trainer.network.size:
        raise PlatformError("the weights are not those of the model that was asked for")
    return Drawn(
        mechanism=MECHANISM,
        guarantee=request.guarantee,
        relation=RELATION,
        parameters=_parameters(trainer),
        limit=request.limit(declaration),
        # thousands of weights that nobody reads one by one: the file holds them
        values=(),
        files={FILE: canonical(_document(request, declaration, trainer, weights)) + b"\n"},
    )


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
    }


def _document(
    request: TrainingRequest, declaration: Declaration, trainer: Trainer, weights: list[int]
) -> dict[str, object]:
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
        "guarantee": {"class": request.guarantee.value, "epsilon": request.epsilon, "delta": request.delta},
    }


def _column(column: Feature | Target) -> dict[str, object]:
    if column.grid is None:
        return {"name": column.name, "categories": list(column.categories)}
    return {"name": column.name, "lower": float(column.grid.lower), "upper": float(column.grid.upper)}
