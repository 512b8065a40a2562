"""What lies beside a perturbed array: which promise was made, from public parameters alone."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from companions.perturb.method import UNSAFE, Request
from privacy.cost import Currency, format_amount
from privacy.loss import format_epsilon
from privacy.perturbation import RecordPerturbation

FORMAT = "dpgate-perturbation-1"
PROMISE = {
    "pure_dp": "whatever one value was changes the probability of any result by at most a factor e^epsilon",
    "approx_dp": "the factor e^epsilon holds for every value except with probability delta",
}


def sidecar(
    request: Request, *, shape: tuple[int, ...], values_per_person: int, sha256: str
) -> dict[str, Any]:
    """The certificate of one perturbed array. Nothing in it depends on the values."""
    return {
        "format": FORMAT,
        "mechanism": RecordPerturbation.mechanism,
        **losses(request, values_per_person=values_per_person),
        "parameters": _parameters(request),
        "unit": {"value": RecordPerturbation.relation, "person": f"all of {values_per_person} values"},
        "noise_source": _source(request),
        "array": {"shape": list(shape), "dtype": "float64", "sha256": sha256},
        "software": f"dpgate {version('dpgate')}",
    }


def losses(request: Request, *, values_per_person: int) -> dict[str, Any]:
    """The class, and epsilon and delta as exact text, of one value and of one person."""
    if request.exact is None:
        return {"guarantee": None, "warning": UNSAFE, "per_value": None, "per_person": None}
    cost = request.exact.cost
    person = request.exact.person_loss(values_per_person)
    guarantee = str(request.exact.guarantee)
    return {
        "guarantee": guarantee,
        "promise": PROMISE[guarantee],
        "per_value": {
            "epsilon": format_epsilon(cost[Currency.EPSILON]),
            "delta": format_amount(Currency.DELTA, cost[Currency.DELTA]),
        },
        "per_person": {
            "values": person.values,
            "epsilon": person.epsilon,
            "delta": person.delta,
            "how": "plain sum over a person's values",
            "protects": person.means_something,
        },
    }


def _parameters(request: Request) -> dict[str, Any]:
    if request.exact is not None:
        return dict(request.exact.parameters())
    delta = None if request.atto_delta is None else format_amount(Currency.DELTA, request.atto_delta)
    return {
        "law": request.mechanism,
        "lower": str(request.grid.lower),
        "upper": str(request.grid.upper),
        "claimed_epsilon": format_epsilon(request.micro_epsilon),
        "claimed_delta": delta,
        "missing": request.missing,
    }


def _source(request: Request) -> str:
    if request.is_reference:
        return "diffprivlib, floating point: UNSAFE"
    return "AES-256-CTR under keys from the operating system, integers only; there is no seed"
