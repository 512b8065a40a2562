"""`sample_aggregate`, with the pipeline computed here instead of in a sandbox."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companions.lab.contenders import Contender, laplace_log_density
from companions.lab.simulation import Generator
from companions.lab.subjects import Subjects
from privacy.grid import OutputGrid
from privacy.loss import micro_epsilon
from privacy.mechanism import RunOutput
from privacy.partition import assign_blocks, block_count
from privacy.sample_aggregate import SampleAggregate

Values = NDArray[np.float64]
Statistic = Callable[[Values], float]

SMALL = 3
LARGE = 500
"""From this many people on blocks of 10 are used: the default of the platform."""


@dataclass(frozen=True)
class Partition:
    """Which block each person is in, under one key. Blocks may be empty."""

    blocks: int
    block_of: NDArray[np.intp]

    def members(self, block: int) -> NDArray[np.intp]:
        return np.flatnonzero(self.block_of == block)

    def outputs(self, values: Values, statistic: Statistic, grid: OutputGrid) -> list[RunOutput]:
        """What the pipeline says about each block, in grid units; None for a block that it fails on."""
        order = np.argsort(self.block_of, kind="stable")
        parts = np.split(values[order], np.searchsorted(self.block_of[order], np.arange(1, self.blocks)))
        return [_snapped(part, statistic, grid) for part in parts]


def draw_partition(names: tuple[str, ...], *, block_size: int, generator: Generator) -> Partition:
    """A partition as the platform makes it, with a slot for each of these people. On invented data its key
    may come from a seed."""
    blocks, people = block_count(len(names), block_size), len(names)
    dealt = assign_blocks(names, key=generator.bytes(32), blocks=blocks, people=people)
    return Partition(blocks, np.array(dealt, np.intp))


def block_size_for(people: int, *, smallest: int = SMALL) -> int:
    """The smallest block at which the pipeline is sane; ten where there are people enough."""
    return 10 if people >= LARGE else smallest


def released(mechanism: SampleAggregate, outputs: list[RunOutput], trials: int) -> Values:
    """That many releases of the same runs, through the platform's own release path."""
    return np.array([float(mechanism.release(outputs)[0].value) for _ in range(trials)])


def sample_aggregate(subjects: Subjects, epsilon: float, generator: Generator) -> Contender:
    """The mean of block means. The attacker has the partition key as well: where one person's data are the
    secret, and not whether they are there, the bound holds for each key."""
    size = block_size_for(subjects.count)
    partition = draw_partition(subjects.names, block_size=size, generator=generator)
    grid = OutputGrid.build(subjects.lower, subjects.upper)
    mechanism = SampleAggregate((grid,), blocks=partition.blocks, micro_epsilon=micro_epsilon(epsilon))
    outputs = partition.outputs(subjects.values, mean, grid)
    filled = [mechanism.default(run) if output is None else output for run, output in enumerate(outputs)]
    units = np.array([output[0] for output in filled], np.float64)
    scale = float(mechanism.release(outputs)[0].noise_scale or 0)

    def log_likelihood(releases: Values, person: int, candidates: Values) -> Values:
        block = partition.block_of[person]
        others = partition.members(block)
        rest = subjects.values[others].sum() - subjects.values[person]
        block_means = np.clip((rest + candidates) / len(others), subjects.lower, subjects.upper)
        known = float(grid.lower) * (partition.blocks - 1) + float(grid.step) * (units.sum() - units[block])
        return laplace_log_density(releases[:, np.newaxis] - (known + block_means) / partition.blocks, scale)

    return Contender(
        "sample_aggregate",
        f"pure_dp, epsilon {epsilon:g}",
        lambda trials: released(mechanism, outputs, trials),
        log_likelihood,
        limit=math.exp(epsilon),
    )


def mean(values: Values) -> float:
    return float(values.mean())


def _snapped(part: Values, statistic: Statistic, grid: OutputGrid) -> RunOutput:
    if not len(part):
        return None
    value = statistic(part)
    return (grid.snap(value),) if math.isfinite(value) else None
