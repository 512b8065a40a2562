"""Checks what the platform hands to a mechanism: one entry per run, every entry a point of the grids."""

from __future__ import annotations

from collections.abc import Sequence

from privacy.grid import OutputGrid
from privacy.mechanism import MAX_OUTPUTS, RunOutput


def check_grids(grids: Sequence[OutputGrid]) -> None:
    """Raise ValueError unless there are 1 to 20 output numbers."""
    if not 1 <= len(grids) <= MAX_OUTPUTS:
        raise ValueError(f"declare 1 to {MAX_OUTPUTS} output numbers; every one of them costs accuracy.")


def check_run_outputs(outputs: Sequence[RunOutput], *, grids: Sequence[OutputGrid], runs: int) -> None:
    """Raise ValueError, without quoting a number, unless `outputs` is what `runs` runs can have given.

    A failure here is a bug of the platform, never the pipeline's doing.
    """
    if len(outputs) != runs:
        raise ValueError("platform bug: the number of run outputs is not the number of runs of the plan.")
    if not all(output is None or _is_on_grid(output, grids) for output in outputs):
        raise ValueError("platform bug: a run output is not a point of the declared grids.")


def middle(grids: Sequence[OutputGrid]) -> tuple[int, ...]:
    """Grid units that stand for a failed run: the middle of every declared range, whatever the data."""
    return tuple(grid.middle for grid in grids)


def _is_on_grid(output: tuple[int, ...], grids: Sequence[OutputGrid]) -> bool:
    # type() rather than isinstance: a bool, or a numpy integer that wraps around, must not be counted with
    return len(output) == len(grids) and all(
        type(units) is int and 0 <= units <= grid.cells for units, grid in zip(output, grids, strict=True)
    )
