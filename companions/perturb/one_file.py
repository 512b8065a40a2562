"""File to file: perturb one array and write the result, its sidecar and, for the holder, its summary."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from companions.perturb.method import Request
from companions.perturb.sidecar import sidecar
from companions.perturb.summary import Summary
from companions.perturb.threads import Step, perturb_array
from companions.perturb.writing import digest, new_array, write_json
from dpgate.errors import DpgateError

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
