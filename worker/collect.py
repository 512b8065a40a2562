"""From the hostile bytes of a run to bounded integers. Nothing else of a run is ever read."""

from __future__ import annotations

from collections.abc import Mapping

from domain.errors import PipelineError
from domain.shape import Shape
from privacy.sample_aggregate import SampleAggregate


def collect(
    outputs: Mapping[str, bytes] | None, *, shape: Shape, mechanism: SampleAggregate
) -> tuple[int, ...] | None:
    """One grid integer per declared value, or None for a failed run.

    A cell without a number takes the value's default, which no data decides. A missing file or another shape
    than the twin's is a failed run.
    """
    if outputs is None:
        return None
    try:
        numbers = [number for file in shape.files for number in file.read(outputs.get(file.file, b""))]
    except PipelineError:
        return None
    return tuple(
        grid.middle if number is None else grid.snap(number)
        for grid, number in zip(mechanism.grids, numbers, strict=True)
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


def output_context(job_id: str, block: int) -> str:
    """Binds a sealed output to its place: it opens nowhere else."""
    return f"job {job_id} block {block}"
