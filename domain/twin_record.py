"""What a pipeline's runs on the twin gave, as far as its job is judged by that before it is charged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from domain.model import Model, Number, Whole
from domain.output_value import OutputValue

Block = Sequence[float | None] | None
"""The numbers of one block of the twin; None for a run that failed."""
Count = Annotated[Whole, Field(ge=0)]


def _is_no(value: bool) -> bool:
    return not value


def are_alike(blocks: Sequence[Block]) -> bool:
    """Whether several runs gave numbers, none is missing, and each run gave the same ones."""
    ran = [tuple(block) for block in blocks if block is not None]
    return len(ran) > 1 and None not in ran[0] and len(set(ran)) == 1


class BlocksSeen(Model):
    """How the twin's blocks fared: how many ran, how many failed, and of the others, for each output, how
    many gave a number outside its bounds and how many none, and the mean of their numbers."""

    blocks: Count
    """That ran on the twin."""
    failed: Count
    """Of these."""
    outside: tuple[Count, ...]
    """For each output: blocks whose number was outside its bounds."""
    missing: tuple[Count, ...]
    """For each output: blocks that gave no number."""
    means: tuple[Number | None, ...] = ()
    """For each output: of the numbers of the blocks; null where none gave one. Empty where nobody took it."""
    alike: Annotated[bool, Field(exclude_if=_is_no)] = False
    """Whether several blocks gave numbers, and each of them the same ones."""

    @classmethod
    def of(cls, values: Sequence[OutputValue], blocks: Sequence[Block]) -> BlocksSeen:
        ran = [block for block in blocks if block is not None]
        columns = [[block[index] for block in ran] for index in range(len(values))]
        pairs = list(zip(values, columns, strict=True))
        return cls(
            blocks=len(blocks),
            failed=len(blocks) - len(ran),
            outside=tuple(sum(is_outside(value, number) for number in found) for value, found in pairs),
            missing=tuple(found.count(None) for found in columns),
            means=tuple(_mean(found) for found in columns),
            alike=are_alike(blocks),
        )


def _mean(column: Sequence[float | None]) -> float | None:
    numbers = [number for number in column if number is not None]
    return sum(number / len(numbers) for number in numbers) if numbers else None


class TwinRecord(Model):
    """Which pipeline ran, its numbers on the whole twin, and how blocks of the job's size fared if they ran.

    Whoever sends it vouches for it, to be told of a job that is hardly of use: no protection rests on it."""

    pipeline: str
    """Its digest."""
    whole: tuple[Number, ...]
    """What it gave on the whole twin, for each output."""
    block_size: Annotated[Whole, Field(ge=1)] | None = None
    """People per block, of the blocks that are told here."""
    seen: BlocksSeen | None = None
    """How the blocks fared."""

    def check_fits(self, pipeline: str, values: int) -> None:
        """Raises ValueError for the record of another pipeline, or of another number of values."""
        if self.pipeline != pipeline:
            raise ValueError("on_twin is of another pipeline: run this one on the twin")
        lengths = {len(self.whole)}
        if (seen := self.seen) is not None:
            lengths |= {len(each) for each in (seen.outside, seen.missing, seen.means or self.whole)}
        if lengths != {values}:
            raise ValueError(f"on_twin must hold {values} numbers, one for each value")


def is_outside(value: OutputValue, number: float | None) -> bool:
    return number is not None and not value.lower <= number <= value.upper
