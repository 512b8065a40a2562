"""What a sampling interval costs and how wide it will be, replayed on a twin's blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from privacy.keystream import Keystream, process_keystream
from privacy.partition import block_count
from privacy.preview.bootstrap import draw
from privacy.preview.forecast import REPLAYS, errors
from privacy.preview.replay import Resamples, Values, replay
from privacy.preview.twin import TwinAnswers
from privacy.sample_aggregate import SampleAggregate
from privacy.sampling_interval import QUARTILES

_NORMAL_95 = 1.96
_QUARTILE_DISTANCE = 1.349


@dataclass(frozen=True)
class IntervalForecast:
    """One output: the value's 95 % error with and without paying for the interval, and the interval's typical
    half width and share of replays in which it holds the whole twin's number."""

    output: int
    value_95: float
    value_95_without: float
    half_width: float
    coverage: float


def forecast_interval(
    asked: SampleAggregate,
    *,
    twin: TwinAnswers,
    nominal_size: int,
    block_size: int,
    replays: int = REPLAYS,
    keystream: Keystream | None = None,
) -> tuple[IntervalForecast, ...]:
    """Every output of `asked` at this block size, with its own epsilon and aggregator."""
    stream = keystream if keystream is not None else process_keystream()
    sized = replace(asked, blocks=block_count(nominal_size, block_size))
    answers = twin.at(block_size, asked.grids).outputs
    sample = draw(answers, blocks=sized.blocks, replays=replays, keystream=stream)
    return tuple(
        _row(sized, Resamples.of(sized, sample, index), number, stream)
        for index, number in enumerate(twin.numbers)
    )


def _row(
    mechanism: SampleAggregate, resamples: Resamples, number: float, keystream: Keystream
) -> IntervalForecast:
    kinds: tuple[Literal["noise", "sampling"], ...] = ("noise", "sampling")
    without, paying = (replace(mechanism, interval=kind) for kind in kinds)
    cheap = replay(without, resamples, keystream=keystream) - number
    values = replay(paying, resamples, keystream=keystream)
    half, dear = half_widths(paying, resamples, values, keystream=keystream), values - number
    return IntervalForecast(
        output=resamples.index,
        value_95=errors(dear).within_95,
        value_95_without=errors(cheap).within_95,
        half_width=float(np.median(half)),
        coverage=float(np.mean(np.abs(dear) <= half)),
    )


def half_widths(
    mechanism: SampleAggregate, resamples: Resamples, values: Values, *, keystream: Keystream
) -> Values:
    """1.96 sqrt(noise variance + s^2/l) of every replay with its value, s from two private quartiles: the
    formulas of `privacy.sampling_interval`, in the output's own units."""
    index, blocks = resamples.index, mechanism.blocks
    quartile_epsilon = mechanism.quartile_epsilon(index)
    assert quartile_epsilon is not None  # the caller asks for a sampling interval
    low, high = (
        resamples.ranks.choose(float(quartile), float(quartile_epsilon), keystream=keystream)
        for quartile in QUARTILES
    )
    spread = np.maximum(0, high - low) / _QUARTILE_DISTANCE
    noise, variance = mechanism.noises[index], np.zeros_like(spread)
    if noise is None:
        epsilon = float(mechanism.value_epsilon(index))
        known = np.where(spread > 0, spread, resamples.grid.cells)
        variance = known**2 * ((math.pi / 2 - 1) / blocks + 16 * math.pi / (blocks * epsilon) ** 2)
    else:
        of_noise = float(noise.variance) / mechanism.plan.runs**2
        cells, step = resamples.grid.cells, float(resamples.grid.step)
        at, reach = (values - float(resamples.grid.lower)) / step, _NORMAL_95 * math.sqrt(of_noise)
        mean = np.clip(np.clip(cells / 2, at - reach, at + reach), 0, cells)
        variance = of_noise + np.where(spread > 0, 0, mean * (cells - mean) / blocks)
    half: Values = float(resamples.grid.step) * _NORMAL_95 * np.sqrt(variance + spread**2 / blocks)
    return half
