"""The error to expect of a release, and simulated releases, from what a rehearsal's runs gave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from domain.dataset import Dataset
from domain.forecast import in_units
from domain.loss import format_epsilon
from domain.mechanism import SampleAggregateRequest
from domain.output_value import grids_of
from domain.pipeline import OutputValue
from domain.rehearsal import Draws, Preview, QuietMean, Rung, TwinRuns, UnitNoise
from privacy.block_rules import block_sizes_around
from privacy.grid import OutputGrid
from privacy.keystream import Keystream, process_keystream
from privacy.mechanism import MAX_OUTPUTS
from privacy.partition import block_count
from privacy.preview import (
    AGGREGATORS,
    Choice,
    Forecast,
    TwinAnswers,
    forecast,
    unit_laplace,
    unit_normal,
)
from privacy.preview.bootstrap import draw
from privacy.preview.replay import Resamples, replay
from privacy.sample_aggregate import SampleAggregate
from privacy.sample_parameters import MAX_BLOCKS

EPSILONS = (50_000, 100_000, 200_000, 500_000, 1_000_000, 2_000_000, 5_000_000, 10_000_000)
"""Micro-epsilon of the rungs, as far as the policy allows; its own limit comes on top."""
REPLAYS = 400
"""A 95 % quantile of so many is uncertain by about 8 %: enough for a choice."""
DRAWS = 40
MOST_SIZES = 5
QUANTILES = 51
"""Of a mean before noise: their mixture with noise is what the whole law gives, to a few percent."""


def preview(
    runs: TwinRuns,
    values: Sequence[OutputValue],
    *,
    dataset: Dataset,
    block_size: int,
    is_settled: bool = False,
) -> Preview:
    """Rungs for a few block sizes around the one that ran, both aggregators and the noise of `auto`; and the
    means before noise, for Gaussian noise. With `is_settled` the size that ran is the only one.

    Nothing here is a release: all numbers come from the twin. Where no ladder is possible the answer says
    why.
    """
    declaration = dataset.declaration
    grids, size = grids_of(values), declaration.nominal_size
    highest = declaration.policy.max_micro_epsilon_per_job
    sizes = (
        (block_size,)
        if is_settled
        else block_sizes(block_size, least=declaration.policy.min_block_size, nominal_size=size)
    )
    stream = process_keystream()
    found = Preview(noise=unit_noise(stream))
    try:
        twin = TwinAnswers(numbers=runs.numbers, blocks={block_size: in_units(runs.blocks, grids)})
        found = found.model_copy(update={"means": quiet_means(twin, grids, sizes, size, stream)})
        request = SampleAggregateRequest(
            name="sample_aggregate", epsilon=format_epsilon(highest), block_size=block_size
        )
        request.check_outputs([value.name for value in values])
        asked = request.in_one_step(values, nominal_size=size, accounting=declaration.accounting)
        rows = forecast(
            asked,
            twin=twin,
            nominal_size=size,
            block_sizes=sizes,
            epsilons=epsilons(highest),
            aggregators=AGGREGATORS,
            replays=REPLAYS,
        )
        draws = simulate(asked, twin, block_size=block_size, epsilons=epsilons(highest))
    except ValueError as error:
        return found.model_copy(update={"unable": str(error)})
    kind = asked.resolved_noise
    return found.model_copy(update={"rungs": tuple(map(_rung, rows)), "draws": draws, "noise_kind": kind})


def unit_noise(stream: Keystream) -> UnitNoise:
    normal, laplace = unit_normal(DRAWS, keystream=stream), unit_laplace(DRAWS, keystream=stream)
    return UnitNoise(normal=tuple(map(_short, normal)), laplace=tuple(map(_short, laplace)))


def quiet_means(
    twin: TwinAnswers, grids: Sequence[OutputGrid], sizes: Sequence[int], nominal_size: int, stream: Keystream
) -> tuple[QuietMean, ...]:
    """For the first outputs, as many as a ladder shows, at every block size."""
    found = []
    shares = (np.arange(QUANTILES) + 0.5) / QUANTILES
    for size in sizes:
        answers = twin.at(size, grids)
        blocks = block_count(nominal_size, size)
        sample = draw(answers.outputs, blocks=blocks, replays=REPLAYS, keystream=stream)
        for index, grid in enumerate(grids[:MAX_OUTPUTS]):
            resamples = Resamples(sample, index, grid)
            away = resamples.own_units(resamples.sums / blocks) - twin.numbers[index]
            offsets = tuple(_short(float(at)) for at in np.quantile(away, shares))
            found.append(QuietMean(output=index, block_size=size, offsets=offsets))
    return tuple(found)


def epsilons(highest: int) -> tuple[int, ...]:
    """Those of EPSILONS below the policy's limit, and the limit."""
    return (*(micro for micro in EPSILONS if micro < highest), highest)


def block_sizes(ran: int, *, least: int, nominal_size: int) -> tuple[int, ...]:
    """The size that ran and those nearest to it that `dpgate preview` would try, as far as the policy and the
    data set allow."""
    fewest = max(least, -(-nominal_size // MAX_BLOCKS))
    return block_sizes_around(ran, nominal_size=nominal_size, least=fewest, most=MOST_SIZES)


def simulate(
    asked: SampleAggregate, twin: TwinAnswers, *, block_size: int, epsilons: Sequence[int]
) -> tuple[Draws, ...]:
    """What releases would say if the twin were the data: resampled people, and fresh noise each time."""
    stream = process_keystream()
    answers = twin.at(block_size, asked.grids)
    sample = draw(answers.outputs, blocks=asked.blocks, replays=DRAWS, keystream=stream)
    found = []
    for index in range(len(asked.grids)):
        resamples = Resamples.of(asked, sample, index)
        for aggregator in AGGREGATORS:
            for micro in epsilons:
                mechanism = Choice(micro, block_size, aggregator).apply(asked)
                values = replay(mechanism, resamples, keystream=stream)
                found.append(
                    Draws(
                        output=index,
                        aggregator=aggregator,
                        micro_epsilon=micro,
                        values=tuple(_short(value) for value in values),
                    )
                )
    return tuple(found)


def _rung(row: Forecast) -> Rung:
    return Rung(
        output=row.output,
        block_size=row.choice.block_size,
        aggregator=row.choice.aggregator,
        micro_epsilon=row.choice.micro_epsilon,
        typical=_short(row.error.typical),
        within_95=_short(row.error.within_95),
        without_noise_95=_short(row.without_noise_95),
        noise_95=None if row.noise is None else _short(row.noise.half_width_95),
    )


def _short(value: float) -> float:
    """Six digits: nobody reads more of an estimate."""
    return float(f"{value:.6g}")
