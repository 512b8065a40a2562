"""How far off a release is: mean, median and standard deviation of a column, by every mechanism.

Values are held inside the bounds first, as a sane pipeline would, so that a mistyped entry is not taken for
an error of the mechanism. An error is the root mean square distance to the same statistic of everybody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from companions.lab.contenders.blocks import Statistic, block_size_for, draw_partition
from companions.lab.contenders.whole import leave_one_out_runs, trusted_totals
from companions.lab.contenders.worlds import draw_worlds, released, snapped
from companions.lab.simulation import Generator
from companions.lab.subjects import Subjects
from privacy.grid import OutputGrid
from privacy.loss import micro_epsilon
from privacy.mechanism import NoisedOutput, RunOutput
from privacy.pac import Pac
from privacy.sample_aggregate import SampleAggregate
from privacy.stability import StabilityCalibrated
from privacy.trusted import Mean, Quantile, TrustedQuery, Variance

Values = NDArray[np.float64]

PARTITIONS = 20
"""Partitions that the trials go round: the luck of the partition is part of the error."""


@dataclass(frozen=True)
class Estimate:
    """One statistic of one column, and what a release of it needs to know."""

    name: str
    statistic: Statistic
    smallest_block: int
    trusted: Callable[[OutputGrid, int], TrustedQuery]
    released: Callable[[float], float] = float
    half_range: bool = False

    def grid(self, subjects: Subjects) -> OutputGrid:
        """Of the statistic: a standard deviation is at most half the range."""
        width = subjects.upper - subjects.lower
        if self.half_range:
            return OutputGrid.build(0, width / 2)
        return OutputGrid.build(subjects.lower, subjects.upper)


def _median_query(grid: OutputGrid, micro: int) -> TrustedQuery:
    return Quantile(grid, (Fraction(1, 2),), micro)


ESTIMATES = (
    Estimate("mean", lambda part: float(part.mean()), 3, lambda grid, micro: Mean(grid, micro)),
    Estimate("median", lambda part: float(np.median(part)), 5, _median_query),
    Estimate(
        "standard deviation",
        lambda part: float(part.std(ddof=1)) if len(part) > 1 else math.nan,
        5,
        lambda grid, micro: Variance(grid, micro),
        released=lambda variance: math.sqrt(max(variance, 0.0)),
        half_range=True,
    ),
)

Aggregator = Literal["clipped_mean", "median"]
Draws = Callable[[float, int], Values]
"""(epsilon, trials) -> released values."""


def by_blocks(
    subjects: Subjects, estimate: Estimate, generator: Generator, *, aggregator: Aggregator
) -> Draws:
    values, grid = subjects.clamped(), estimate.grid(subjects)
    size = block_size_for(subjects.count, smallest=estimate.smallest_block)
    partitions = [
        draw_partition(subjects.names, block_size=size, generator=generator) for _ in range(PARTITIONS)
    ]
    runs = [partition.outputs(values, estimate.statistic, grid) for partition in partitions]

    def draw(epsilon: float, trials: int) -> Values:
        micro, blocks = micro_epsilon(epsilon), partitions[0].blocks
        mechanism = SampleAggregate((grid,), blocks, micro, aggregator=aggregator)
        return np.array([_first(mechanism.release(runs[trial % PARTITIONS])) for trial in range(trials)])

    return draw


def by_trusted_query(subjects: Subjects, estimate: Estimate) -> Draws:
    grid = OutputGrid.build(subjects.lower, subjects.upper)
    totals = trusted_totals(estimate.trusted(grid, micro_epsilon(1)), subjects.values)

    def draw(epsilon: float, trials: int) -> Values:
        query = estimate.trusted(grid, micro_epsilon(epsilon))
        return np.array([estimate.released(_first(query.release(totals))) for _ in range(trials)])

    return draw


def by_worlds(subjects: Subjects, estimate: Estimate, generator: Generator) -> Draws:
    """In place of epsilon the number is the mutual information in nats."""
    grid = estimate.grid(subjects)
    worlds = [draw_worlds(subjects.names, generator) for _ in range(3)]
    outputs = [snapped(one.outputs(subjects.clamped(), estimate.statistic), grid) for one in worlds]

    def draw(nats: float, trials: int) -> Values:
        mechanism = Pac((grid,), round(nats * 10**6))
        parts = [released(mechanism, runs, -(-trials // len(outputs)))[0] for runs in outputs]
        return np.concatenate(parts)[:trials]

    return draw


def by_stability(subjects: Subjects, estimate: Estimate) -> Draws:
    """In place of epsilon the number is the noise dial."""
    values, grid = subjects.clamped(), estimate.grid(subjects)
    without = np.array([estimate.statistic(np.delete(values, person)) for person in range(len(values))])
    runs: list[RunOutput] = leave_one_out_runs(estimate.statistic(values), without, grid)

    def draw(dial: float, trials: int) -> Values:
        mechanism = StabilityCalibrated((grid,), subjects.count, micro_epsilon(dial))
        return np.array([_first(mechanism.release(runs)) for _ in range(trials)])

    return draw


def error_of(draws: Draws, dial: float, trials: int, truth: float) -> float:
    return float(np.sqrt(np.mean((draws(dial, trials) - truth) ** 2)))


def sampling_error(subjects: Subjects, estimate: Estimate, generator: Generator, *, resamples: int) -> float:
    """The statistic's own standard error, by the bootstrap: no release needs to be nearer than this."""
    values = subjects.clamped()
    drawn = generator.integers(0, len(values), (resamples, len(values)))
    return float(np.std([estimate.statistic(values[row]) for row in drawn]))


def all_draws(subjects: Subjects, estimate: Estimate, generator: Generator) -> dict[str, Draws]:
    """Mechanisms whose dial is an epsilon."""
    blocks = partial(by_blocks, subjects, estimate, generator)
    return {
        "sample_aggregate, clipped mean": blocks(aggregator="clipped_mean"),
        "sample_aggregate, median": blocks(aggregator="median"),
        "trusted query": by_trusted_query(subjects, estimate),
    }


def _first(released: Sequence[NoisedOutput]) -> float:
    return float(released[0].value)
