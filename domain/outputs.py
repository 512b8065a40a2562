"""The numbers that a pipeline may release: names and bounds for every numeric cell of the locked shape."""

from __future__ import annotations

from domain.mechanism import MechanismRequest, SampleAggregateRequest
from domain.pipeline import MAX_VALUES, Manifest, OutputValue
from domain.shape import Shape
from domain.shape.selection import name_values


def values_of(manifest: Manifest, shape: Shape) -> tuple[OutputValue, ...]:
    """All numbers of all files, in the order of every vector of a job.

    Raises ValueError when the shape does not fit, two values get one name, or there are too many.
    """
    values = tuple(
        value
        for output, file in zip(manifest.outputs, shape.files, strict=True)
        for value in name_values(output, file)
    )
    names = [value.name for value in values]
    if len(values) > MAX_VALUES:
        raise ValueError(f"at most {MAX_VALUES} values: each one shares the loss; there are {len(values)}")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"two values get the name {twice}; name one of their outputs otherwise")
    return values


def check_people(manifest: Manifest, mechanism: MechanismRequest) -> None:
    """Raises ValueError where each person's own number is wanted and the mechanism does not look at people
    one by one."""
    if isinstance(mechanism, SampleAggregateRequest):
        manifest.check_block_size(mechanism.block_size)
    elif manifest.needs_blocks_of_one:
        raise ValueError(
            f"{mechanism.name} runs on many people at once, and numbers over single people are wanted; "
            "choose the mechanism sample_aggregate with block_size 1"
        )
