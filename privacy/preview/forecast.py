"""Error to expect of a release at each choice of epsilon, block size and aggregator, from a twin's run alone.

The error is measured from what the pipeline says about the whole twin. So it holds everything that a release
will suffer: noise, the luck of who is in the data, the bias of small blocks, clamping and failed blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from privacy.block_rules import Aggregator
from privacy.keystream import Keystream, process_keystream
from privacy.partition import block_count
from privacy.preview.bootstrap import Bootstrap, draw
from privacy.preview.formulas import NoiseError, noise_error, root_mean_square_error
from privacy.preview.replay import Resamples, Values, noise_of_many, replay, without_noise
from privacy.preview.twin import BlockAnswers, TwinAnswers
from privacy.sample_aggregate import SampleAggregate

LADDER = (100_000, 250_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000)
"""Micro-epsilon of the rows that a preview shows."""

REPLAYS = 1000
"""A 95 % quantile of so many replays is itself uncertain by about 5 %."""

AGGREGATORS: tuple[Aggregator, ...] = ("clipped_mean", "median")


@dataclass(frozen=True)
class Choice:
    """What the person who asks may choose."""

    micro_epsilon: int
    block_size: int
    aggregator: Aggregator

    def apply(self, mechanism: SampleAggregate) -> SampleAggregate:
        """The same mechanism at this epsilon and aggregator; its blocks stay."""
        return replace(
            mechanism, micro_epsilon=self.micro_epsilon, aggregator=self.aggregator, spread_ratios=None
        )


@dataclass(frozen=True)
class Errors:
    """Quantiles of |release - the whole twin's number| and its moments, in the output's own units."""

    typical: float
    within_95: float
    within_99: float
    bias: float
    root_mean_square: float


@dataclass(frozen=True)
class Forecast:
    """One output at one choice.

    `without_noise_95` is the 95 % quantile that no epsilon can lower. `noise` and `formula` are closed forms,
    None where there is none. The shares are those of the twin's blocks that failed, and that ended on a bound
    among those that did not; and of those whose vector a clip norm shortened. `extrapolated_from` is the
    block size that really ran on the twin, if another.
    """

    choice: Choice
    output: int
    error: Errors
    without_noise_95: float
    noise: NoiseError | None
    formula: float | None
    failed_share: float
    clamped_share: float
    extrapolated_from: int | None
    clipped_share: float = 0.0


def standard_ladder(maximum: int) -> tuple[int, ...]:
    """The rows of LADDER that a policy with this largest micro-epsilon allows, or that largest one alone."""
    return tuple(micro for micro in LADDER if micro <= maximum) or (maximum,)


def forecast(
    asked: SampleAggregate,
    *,
    twin: TwinAnswers,
    nominal_size: int,
    block_sizes: Sequence[int],
    epsilons: Sequence[int] = LADDER,
    aggregators: Sequence[Aggregator] = AGGREGATORS,
    replays: int = REPLAYS,
    keystream: Keystream | None = None,
) -> tuple[Forecast, ...]:
    """Every output at every choice, by block size, then output, aggregator and epsilon.

    `asked` is the mechanism of the job, whose epsilon, blocks and aggregator are replaced; all else about it
    (weights, repeats, kind of noise, what else it releases) stays. The same resamples serve all rows of one
    block size.
    """
    stream = keystream if keystream is not None else process_keystream()
    rows: list[Forecast] = []
    for size in block_sizes:
        answers = twin.at(size, asked.grids)
        sized = replace(asked, blocks=block_count(nominal_size, size))
        if answers.extrapolated_from is None and len(answers.outputs) < sized.blocks:
            answers = answers.without_luck(twin.numbers, asked.grids)
        sample = draw(answers.outputs, blocks=sized.blocks, replays=replays, keystream=stream)
        choices = [Choice(micro, size, aggregator) for aggregator, micro in product(aggregators, epsilons)]
        chosen = [_Chosen.of(choice, sized, replays, stream) for choice in choices]
        clipped, share = _clipped(sample, sized)
        for index, number in enumerate(twin.numbers):
            within = Resamples.of(asked, clipped, index)
            output = _Output(answers, Resamples.of(asked, sample, index), within, share, number)
            rows += [_row(each, output, stream) for each in chosen]
    return tuple(rows)


def _clipped(sample: Bootstrap, sized: SampleAggregate) -> tuple[Bootstrap, float]:
    """The same resamples with the blocks' vectors clipped, and the share of those that clipping changes."""
    clip = sized.means.clip
    valid = [output for output in sample.answers if output is not None]
    if clip is None or not valid:
        return sample, 0.0
    answers = tuple(None if output is None else clip.clip(output) for output in sample.answers)
    return replace(sample, answers=answers), sum(map(clip.clips, valid)) / len(valid)


@dataclass(frozen=True)
class _Chosen:
    """A choice, the mechanism that it makes, and the noise of its means where that is drawn for all."""

    choice: Choice
    mechanism: SampleAggregate
    noise: Values | None

    @classmethod
    def of(cls, choice: Choice, sized: SampleAggregate, replays: int, keystream: Keystream) -> _Chosen:
        mechanism = choice.apply(sized)
        return cls(choice, mechanism, noise_of_many(mechanism, replays, keystream=keystream))

    def noise_of(self, index: int) -> Values | None:
        return None if self.noise is None else self.noise[:, index]


@dataclass(frozen=True)
class _Output:
    """What the twin says of one output, whatever is chosen."""

    answers: BlockAnswers
    resamples: Resamples
    clipped: Resamples
    clipped_share: float
    number: float

    @cached_property
    def spread(self) -> float:
        return self.answers.spread(self.resamples.index, self.resamples.grid)

    @cached_property
    def clamped_share(self) -> float:
        return self.answers.clamped_share(self.resamples.index, self.resamples.grid)


def _row(chosen: _Chosen, output: _Output, keystream: Keystream) -> Forecast:
    mechanism, index = chosen.mechanism, output.resamples.index
    is_clipped = mechanism.clip is not None
    resamples = output.clipped if is_clipped else output.resamples
    quiet = without_noise(mechanism, resamples) - output.number
    released = replay(mechanism, resamples, keystream=keystream, drawn=chosen.noise_of(index))
    return Forecast(
        choice=chosen.choice,
        output=index,
        error=errors(released - output.number),
        without_noise_95=float(np.quantile(np.abs(quiet), 0.95)),
        noise=noise_error(mechanism, index) if mechanism.noises[index] else None,
        formula=root_mean_square_error(mechanism, index, bias=float(quiet.mean()), spread=output.spread),
        failed_share=output.answers.failed_share,
        clamped_share=output.clamped_share,
        extrapolated_from=output.answers.extrapolated_from,
        clipped_share=output.clipped_share if is_clipped else 0.0,
    )


def errors(difference: Values) -> Errors:
    typical, within_95, within_99 = np.quantile(np.abs(difference), [0.5, 0.95, 0.99])
    return Errors(
        typical=float(typical),
        within_95=float(within_95),
        within_99=float(within_99),
        bias=float(difference.mean()),
        root_mean_square=float(np.sqrt((difference**2).mean())),
    )
