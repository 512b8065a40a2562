"""What error a release will have, before anything is spent: closed forms from public parameters and a twin.

Must never be given original data. Floats are fine here: nothing on this page is a release.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import stdev

from privacy.grid import OutputGrid
from privacy.loss import MAX_MICRO_EPSILON, MIN_MICRO_EPSILON
from privacy.sample_aggregate import SampleAggregate, half_width

LADDER = (100_000, 250_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000)
"""Micro-epsilon of the rows that a preview shows."""


@dataclass(frozen=True)
class NoiseError:
    """Error that the noise alone adds to one output, in the output's own units."""

    mean_absolute: float
    standard_deviation: float
    half_width_95: float


@dataclass(frozen=True)
class LadderRow:
    """The error to expect of one output at one epsilon. The last four are None without a twin.

    `sampling_error` is the standard error of the mean over blocks, `total_error` combines it with the noise.
    `failed_share` and `clamped_share` are the shares of the twin's blocks that became the default, and that
    ended on a bound (among those that did not fail): both are bias that no epsilon removes.
    """

    micro_epsilon: int
    output: int
    noise: NoiseError
    sampling_error: float | None = None
    total_error: float | None = None
    failed_share: float | None = None
    clamped_share: float | None = None


@dataclass(frozen=True)
class _TwinBlocks:
    sampling_error: float
    failed_share: float
    clamped_share: float


def noise_error(grid: OutputGrid, *, outputs: int, blocks: int, micro_epsilon: int) -> NoiseError:
    """Error of one of `outputs` numbers that share micro_epsilon equally.

    Moments of the discrete Laplace with a = exp(-1/t): E|Z| = 2a/(1 - a^2), Var Z = 2a/(1 - a)^2; they
    approach t and 2 t^2, the scale being R p/(l epsilon) in the output's own units (privacy design, s. 4).
    """
    scale = _noise_scale(grid, outputs=outputs, blocks=blocks, micro_epsilon=micro_epsilon)
    unit = float(grid.step / blocks)
    rate = float(1 / scale)
    a = math.exp(-rate)
    return NoiseError(
        mean_absolute=unit * -2 * a / math.expm1(-2 * rate),
        standard_deviation=unit * -math.sqrt(2 * a) / math.expm1(-rate),
        half_width_95=float(_half_width_95(grid, scale, blocks=blocks)),
    )


def epsilon_for_error(grid: OutputGrid, *, outputs: int, blocks: int, half_width_95: float) -> int:
    """Smallest micro-epsilon whose release stays within half_width_95 of the mean of blocks 95 times in 100.

    Raises ValueError if not even the largest epsilon achieves it.
    """

    def is_enough(micro_epsilon: int) -> bool:
        scale = _noise_scale(grid, outputs=outputs, blocks=blocks, micro_epsilon=micro_epsilon)
        return _half_width_95(grid, scale, blocks=blocks) <= half_width_95

    candidates = range(MIN_MICRO_EPSILON, MAX_MICRO_EPSILON + 1)
    # The quantile grows with the scale, so once an epsilon is enough every larger one is.
    position = bisect_left(candidates, True, key=is_enough)
    if position == len(candidates):
        raise ValueError("no epsilon reaches this error; accept a larger one or declare narrower bounds.")
    return candidates[position]


def standard_ladder(maximum: int) -> tuple[int, ...]:
    """The rows of LADDER, in micro-epsilon, that a policy with this largest micro-epsilon allows."""
    return tuple(micro for micro in LADDER if micro <= maximum)


def ladder(
    grids: Sequence[OutputGrid],
    *,
    blocks: int,
    epsilons: Sequence[int],
    block_outputs: Sequence[tuple[int, ...] | None] | None = None,
) -> tuple[LadderRow, ...]:
    """Expected errors of every output at every epsilon (micro-epsilon), by epsilon first.

    `block_outputs` are what the same job gave on the twin's blocks, in grid units, None for a failed block;
    at least two. Their number need not be `blocks`.
    """
    twins = None if block_outputs is None else _describe(grids, block_outputs, blocks=blocks)
    return tuple(
        _row(grids, output, blocks=blocks, micro_epsilon=micro, twin=None if twins is None else twins[output])
        for micro in epsilons
        for output in range(len(grids))
    )


def _row(
    grids: Sequence[OutputGrid], output: int, *, blocks: int, micro_epsilon: int, twin: _TwinBlocks | None
) -> LadderRow:
    noise = noise_error(grids[output], outputs=len(grids), blocks=blocks, micro_epsilon=micro_epsilon)
    if twin is None:
        return LadderRow(micro_epsilon=micro_epsilon, output=output, noise=noise)
    return LadderRow(
        micro_epsilon=micro_epsilon,
        output=output,
        noise=noise,
        sampling_error=twin.sampling_error,
        total_error=math.hypot(twin.sampling_error, noise.standard_deviation),
        failed_share=twin.failed_share,
        clamped_share=twin.clamped_share,
    )


def _describe(
    grids: Sequence[OutputGrid], block_outputs: Sequence[tuple[int, ...] | None], *, blocks: int
) -> list[_TwinBlocks]:
    if len(block_outputs) < 2:
        raise ValueError("the spread between blocks needs at least two of the twin's blocks.")
    return [
        _describe_output(
            grid, [None if block is None else block[index] for block in block_outputs], blocks=blocks
        )
        for index, grid in enumerate(grids)
    ]


def _describe_output(grid: OutputGrid, units: Sequence[int | None], *, blocks: int) -> _TwinBlocks:
    valid = [unit for unit in units if unit is not None]
    # Failed blocks take part with their default, as they do in a release.
    spread = stdev([grid.middle if unit is None else unit for unit in units])
    clamped = sum(unit in (0, grid.cells) for unit in valid)
    return _TwinBlocks(
        sampling_error=spread * float(grid.step) / math.sqrt(blocks),
        failed_share=1 - len(valid) / len(units),
        clamped_share=clamped / len(valid) if valid else 0.0,
    )


def _noise_scale(grid: OutputGrid, *, outputs: int, blocks: int, micro_epsilon: int) -> Fraction:
    """Asked of the mechanism, which also checks the ranges: preview and release cannot disagree."""
    return SampleAggregate((grid,) * outputs, blocks=blocks, micro_epsilon=micro_epsilon).noise_scale(0)


def _half_width_95(grid: OutputGrid, scale: Fraction, *, blocks: int) -> Fraction:
    return half_width(grid, scale, blocks=blocks, alpha=Fraction(1, 20))
