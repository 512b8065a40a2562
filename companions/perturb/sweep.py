"""A grid of perturbations, one cell after the other, that can be killed at any moment and taken up again.

A folder holds the manifest (what is being done, fixed by the first start), for each finished cell an array
and, written after it, its sidecar, and a table of all cells. A cell is finished when its sidecar is there:
its noise is then never drawn again. What a kill interrupts is one cell.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from companions.perturb.one_file import perturb_to_file, sidecar_path
from companions.perturb.signals import open_signal
from companions.perturb.sweep_config import Cell, SweepConfig
from companions.perturb.writing import PARTIAL, digest, write_json, write_text
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import load_json

MANIFEST = "sweep.json"
TABLE = "summary.tsv"
HOLDER = "holder"
"""The folder of what only the holder of the data may see."""

Watch = Callable[[int, int, Cell], None]


@dataclass(frozen=True)
class CellResult:
    """How a cell ended: what it promises and how useful it is, or why it was refused."""

    cell: Cell
    certificate: dict[str, Any]
    summary: dict[str, float | None]
    refusal: str = ""


def run_sweep(
    config: SweepConfig,
    *,
    config_path: Path,
    folder: Path,
    threads: int | None = None,
    watch: Watch | None = None,
) -> list[CellResult]:
    """Do every cell that is not done yet. Raises DpgateError if the folder belongs to another sweep."""
    cells = config.cells()
    source = config.input_path(config_path)
    values = open_signal(source, name=config.array)
    with _held(folder):
        _settle_manifest(folder, config, source=source)
        results = []
        for number, cell in enumerate(cells):
            if watch is not None:
                watch(number, len(cells), cell)
            results.append(_done(folder, cell) or _do(folder, config, cell, values, threads))
        write_text(folder / HOLDER / TABLE, _table(results))
    return results


def _do(
    folder: Path, config: SweepConfig, cell: Cell, values: np.ndarray[Any, Any], threads: int | None
) -> CellResult:
    """Draw one cell; a refusal is its result, and the other cells go on."""
    try:
        perturbed = perturb_to_file(
            config.request(cell),
            values,
            out=_array(folder, cell),
            values_per_person=config.values_per_person or values.size,
            summary_path=_holders_summary(folder, cell),
            threads=threads,
        )
    except DpgateError as error:
        return CellResult(cell, {}, {}, refusal=str(error))
    return CellResult(cell, perturbed.certificate, perturbed.summary)


def _done(folder: Path, cell: Cell) -> CellResult | None:
    certificate = sidecar_path(_array(folder, cell))
    if not certificate.exists():
        return None
    return CellResult(cell, load_json(certificate), load_json(_holders_summary(folder, cell)))


def _settle_manifest(folder: Path, config: SweepConfig, *, source: Path) -> None:
    """Write what this folder is for, or refuse to go on with anything else."""
    manifest = {"sweep": config.model_dump(mode="json"), "input_sha256": digest(source)}
    path = folder / MANIFEST
    if not path.exists():
        if any(folder.glob("*.npy")):
            raise DpgateError(f"{folder} holds arrays of something else; choose an empty folder")
        write_json(path, manifest)
    elif load_json(path) != manifest:
        raise DpgateError(
            f"{folder} belongs to a sweep with other parameters or another input; choose another folder, so "
            "that one folder never mixes two"
        )


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """The folder for this process alone, without what a killed one left unfinished."""
    (folder / HOLDER).mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DpgateError(f"another sweep is at work in {folder}; wait for it") from None
        for partial in [*folder.glob(f"*{PARTIAL}"), *(folder / HOLDER).glob(f"*{PARTIAL}")]:
            partial.unlink()
        yield


def _array(folder: Path, cell: Cell) -> Path:
    return folder / f"{cell.name}.npy"


def _holders_summary(folder: Path, cell: Cell) -> Path:
    return folder / HOLDER / f"{cell.name}.json"


def _table(results: list[CellResult]) -> str:
    columns = ("mechanism", "epsilon", "delta", "guarantee", "epsilon_per_person", "delta_per_person")
    facts = ("rmse", "clipped_share", "correlation")
    lines = ["\t".join((*columns, *facts, "refused"))]
    for result in results:
        cell, person = result.cell, result.certificate.get("per_person") or {}
        row = [cell.mechanism, cell.epsilon, cell.delta or "", result.certificate.get("guarantee") or "none"]
        row += [str(person.get(name, "")) for name in ("epsilon", "delta")]
        row += [_digits(result.summary.get(fact)) for fact in facts]
        lines.append("\t".join([*row, result.refusal]))
    return "\n".join(lines) + "\n"


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"
