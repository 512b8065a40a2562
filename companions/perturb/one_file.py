"""File to file: perturb one array and write the result, its sidecar and, for the holder, its summary."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from companions.perturb.method import UNSAFE, Request
from companions.perturb.summary import Summary
from companions.perturb.threads import Step, perturb_array
from companions.perturb.writing import digest, new_array, write_json
from dpgate.errors import DpgateError
from privacy.cost import Currency, format_amount
from privacy.loss import format_epsilon
from privacy.perturbation import RecordPerturbation

MAX_REFERENCE_VALUES = 5_000_000
"""Most values that a reference mechanism takes: above, it would run for a minute and more."""


@dataclass(frozen=True)
class Perturbed:
    """Where the result lies, its certificate, and what only the holder may see of it."""

    path: Path
    certificate: dict[str, Any]
    summary: dict[str, float | None]


def sidecar_path(path: Path) -> Path:
    return path.with_suffix(".json")


def perturb_to_file(
    request: Request,
    values: np.ndarray[Any, Any],
    *,
    out: Path,
    values_per_person: int,
    summary_path: Path | None = None,
    threads: int | None = None,
    step: Step | None = None,
) -> Perturbed:
    """Perturb `values` into the new .npy file `out`. The sidecar is written last: where it is, all is.

    `summary_path` is where the holder's summary goes, if it is to be kept.

    Raises DpgateError, and leaves nothing behind, when the values are not what the request allows.
    """
    if out.suffix != ".npy":
        raise DpgateError(f"{out}: the result is an .npy file; give it that ending")
    if request.is_reference and values.size > MAX_REFERENCE_VALUES:
        raise DpgateError(f"a reference mechanism takes at most {MAX_REFERENCE_VALUES} values; use a part")
    sidecar_path(out).unlink(missing_ok=True)
    summary = Summary(float(request.grid.lower), float(request.grid.upper))
    # an array stored by columns is gone through by columns: the other way it would be copied as a whole
    by_columns = values.flags.f_contiguous and not values.flags.c_contiguous
    with new_array(out, values.shape, by_columns=by_columns) as target:
        source, result = (values.T, target.T) if by_columns else (values, target)
        try:
            perturb_array(request.method, source, out=result, threads=threads, summary=summary, step=step)
        except ValueError as error:
            raise DpgateError(str(error)) from None
    certificate = sidecar(
        request, shape=values.shape, values_per_person=values_per_person, sha256=digest(out)
    )
    facts = summary.facts()
    if summary_path is not None:
        write_json(summary_path, dict(facts))
    write_json(sidecar_path(out), certificate)
    return Perturbed(out, certificate, facts)


# What lies beside a perturbed array: which promise was made, from public parameters alone.

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
