"""What a pipeline said about a twin: the only numbers that a preview may look at."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from privacy.grid import OutputGrid
from privacy.mechanism import RunOutput

MIN_TWIN_BLOCKS = 2


@dataclass(frozen=True)
class BlockAnswers:
    """One entry per block of the twin, in grid units; `extrapolated_from` is the block size that really ran,
    or None when it is this one."""

    block_size: int
    outputs: tuple[RunOutput, ...]
    extrapolated_from: int | None = None

    def __post_init__(self) -> None:
        if len(self.outputs) < MIN_TWIN_BLOCKS:
            raise ValueError("the spread between blocks needs at least two of the twin's blocks.")

    @property
    def failed_share(self) -> float:
        return sum(output is None for output in self.outputs) / len(self.outputs)

    def valid(self, index: int) -> list[int]:
        """Output `index` of the blocks that gave one."""
        return [output[index] for output in self.outputs if output is not None]

    def clamped_share(self, index: int, grid: OutputGrid) -> float:
        """Share of the valid blocks that ended on a bound: bias that no epsilon removes."""
        valid = self.valid(index)
        return sum(units in (0, grid.cells) for units in valid) / len(valid) if valid else 0.0

    def without_luck(self, numbers: Sequence[float], grids: Sequence[OutputGrid]) -> BlockAnswers:
        """Of a part of the twin's blocks: moved so that they agree on average with the whole twin, where they
        are within two standard errors of it. So few people cannot tell bias from the luck of who they are,
        and without this the more blocks there are to run, the worse each size would look."""
        moves = [
            self._luck(k, number, grid) for k, (number, grid) in enumerate(zip(numbers, grids, strict=True))
        ]
        moved = (
            None
            if output is None
            else tuple(
                _clamped(units + move, grid) for units, move, grid in zip(output, moves, grids, strict=True)
            )
            for output in self.outputs
        )
        return BlockAnswers(self.block_size, tuple(moved), self.extrapolated_from)

    def _luck(self, index: int, number: float, grid: OutputGrid) -> float:
        valid = self.valid(index)
        if len(valid) < MIN_TWIN_BLOCKS:
            return 0.0
        away = (number - float(grid.lower)) / float(grid.step) - fmean(valid)
        return away if abs(away) <= 2 * stdev(valid) / math.sqrt(len(valid)) else 0.0

    def spread(self, index: int, grid: OutputGrid) -> float:
        """Standard deviation over blocks in the output's own units, failed blocks at their default."""
        filled = [grid.middle if output is None else output[index] for output in self.outputs]
        return stdev(filled) * float(grid.step)


@dataclass(frozen=True)
class TwinAnswers:
    """The pipeline's numbers on the whole twin, and on its blocks by block size (people per block)."""

    numbers: tuple[float, ...]
    blocks: Mapping[int, tuple[RunOutput, ...]]

    def __post_init__(self) -> None:
        if not self.blocks:
            raise ValueError("a preview needs the twin's blocks at one block size at least.")

    def at(self, block_size: int, grids: Sequence[OutputGrid]) -> BlockAnswers:
        """The answers at this block size: as they were, or extrapolated from the nearest size that ran."""
        if block_size in self.blocks:
            return BlockAnswers(block_size, self.blocks[block_size])
        # nearest as a ratio; the smaller of two, whose blocks are more
        near = min(sorted(self.blocks), key=lambda size: abs(math.log(size / block_size)))
        return _extrapolate(BlockAnswers(near, self.blocks[near]), block_size, grids, self.numbers)


def _extrapolate(
    ran: BlockAnswers, block_size: int, grids: Sequence[OutputGrid], numbers: Sequence[float]
) -> BlockAnswers:
    """As a smooth statistic would behave: spread as 1/sqrt(size), distance from the whole as 1/size.

    For asymptotically linear statistics both hold to first order (delta method). Failures are taken as they
    were, which is too kind to smaller blocks. So this is a hint; running on the twin is the answer.
    """
    shrink = ran.block_size / block_size
    centres = [fmean(ran.valid(index) or [grid.middle]) for index, grid in enumerate(grids)]
    wholes = [
        (number - float(grid.lower)) / float(grid.step) for number, grid in zip(numbers, grids, strict=True)
    ]

    def moved(output: RunOutput) -> RunOutput:
        if output is None:
            return None
        return tuple(
            _clamped(whole + (centre - whole) * shrink + (units - centre) * math.sqrt(shrink), grid)
            for units, centre, whole, grid in zip(output, centres, wholes, grids, strict=True)
        )

    return BlockAnswers(block_size, tuple(map(moved, ran.outputs)), extrapolated_from=ran.block_size)


def _clamped(units: float, grid: OutputGrid) -> int:
    return min(max(round(units), 0), grid.cells)
