"""From the hostile bytes of a run to bounded integers. Nothing else of a run is ever read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from domain.mechanism import BlackBox
from domain.shape import Shape
from privacy.grid import OutputGrid
from privacy.run_outputs import middle
from privacy.sample_aggregate import SampleAggregate
from privacy.two_step import TwoStepMean


def collect(
    outputs: Mapping[str, bytes] | None,
    *,
    shape: Shape,
    grids: Sequence[OutputGrid],
    default: Sequence[int],
) -> tuple[int, ...] | None:
    """One grid integer per declared value, or None for a failed run.

    A cell without a number takes the value's default, which no data decides. A missing file or another shape
    than the twin's is a failed run.
    """
    if outputs is None:
        return None
    try:
        numbers = shape.read_run(outputs)
    except Exception:  # readers raise PipelineError; a mistake in one of them must not show either
        return None
    return tuple(
        units if number is None else grid.snap(number)
        for grid, units, number in zip(grids, default, numbers, strict=True)
    )


def default_of(mechanism: BlackBox, run: int) -> tuple[int, ...]:
    """What stands for the cells without a number of one run."""
    return (
        mechanism.default(run)
        if isinstance(mechanism, SampleAggregate | TwoStepMean)
        else middle(mechanism.grids)
    )


def pack(units: tuple[int, ...] | None, *, width: int) -> bytes:
    """A fixed-length form, so that a sealed output has the same length whatever the run did."""
    numbers = units if units is not None else (0,) * width
    return bytes([units is not None]) + b"".join(number.to_bytes(8, "big") for number in numbers)


def unpack(content: bytes) -> tuple[int, ...] | None:
    """The inverse of `pack`."""
    if content[0] == 0:
        return None
    return tuple(int.from_bytes(content[start : start + 8], "big") for start in range(1, len(content), 8))


def output_context(job_id: str, run: int) -> str:
    """Binds a sealed output to its place: it opens nowhere else."""
    # "block" is older than runs that are no block: what is sealed under it must still open
    return f"job {job_id} block {run}"
