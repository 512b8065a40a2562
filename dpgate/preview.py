"""The error to expect of a job before anything is spent: from the lock that runs on the twin have written.

Nothing here talks to a platform, and nothing has seen original data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from domain.cautions import turn_s
from domain.mechanism import PacRequest, SampleAggregateRequest, StabilityRequest
from domain.mechanisms import own_runs
from domain.output_value import OutputValue, PersonValue
from domain.outputs import values_of
from domain.pipeline import Manifest
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import Lock, Outputs
from dpgate.preview_results import results_of
from privacy.block_rules import Aggregator
from privacy.cost import Currency, format_amount
from privacy.loss import GuaranteeClass
from privacy.mean_noise import NoiseKind
from privacy.mechanism import MAX_OUTPUTS
from privacy.partition import block_count
from privacy.posterior_bound import LADDER as NATS_LADDER
from privacy.preview import (
    AGGREGATORS,
    Forecast,
    IntervalForecast,
    KindForecast,
    PacForecast,
    Recommendation,
    StabilityForecast,
    Together,
    TwinAnswers,
    compare_kinds,
    epsilon_for_error,
    epsilon_for_noise,
    forecast,
    forecast_interval,
    forecast_pac,
    forecast_stability,
    proposed_norm,
    recommend,
    spread_ratio,
    standard_ladder,
    together,
)
from privacy.preview.results import ResultForecast
from privacy.sample_aggregate import SampleAggregate

MULTIPLIERS = (0.5, 1, 2, 4)
"""Noise over the largest leave-one-out change: the rows of a preview of `stability_calibrated`."""


@dataclass(frozen=True)
class Wanted:
    """What an error that somebody needs costs, in micro-epsilon; None where no epsilon is enough."""

    output: str
    error: float
    noise_alone: int
    together: int | None


@dataclass(frozen=True)
class BlocksPreview:
    """A preview of `sample_aggregate`: the ladder, what to take, and what a sampling interval would cost.

    `spread_ratios` are the outputs' declared ranges over the spread of blocks of the recommended size;
    `together` is what all values of the recommended choice tell jointly, where that is less than the charge;
    `costs` are by block size; `noise` and `guarantee` are what its means get;
    `kinds` are the errors of each kind of noise there, where a delta gives a choice, and `proposed_norm` is a
    clip norm for it.
    """

    forecasts: tuple[Forecast, ...]
    recommendation: Recommendation
    intervals: tuple[IntervalForecast, ...]
    spread_ratios: tuple[int, ...]
    wanted: tuple[Wanted, ...]
    together: Together | None
    costs: Mapping[int, RunCost]
    noise: NoiseKind
    guarantee: GuaranteeClass
    results: Mapping[str, ResultForecast] = field(default_factory=dict)
    kinds: tuple[KindForecast, ...] = ()
    proposed_norm: float | None = None


@dataclass(frozen=True)
class RunCost:
    """Runs of one release, and seconds of one: its turn on a padded grid, else as it was here on the twin,
    and None where nobody measured it."""

    runs: int
    run_s: float | None

    @property
    def seconds(self) -> float | None:
        return None if self.run_s is None else self.runs * self.run_s


def preview_blocks(
    request: SampleAggregateRequest,
    manifest: Manifest,
    lock: Lock,
    *,
    block_sizes: Sequence[int],
    aggregators: Sequence[Aggregator] = AGGREGATORS,
    wanted: Mapping[str, float] | None = None,
) -> BlocksPreview:
    """Replays on the twin's blocks for a ladder of epsilon, these block sizes and aggregators.

    Sizes that did not run on the twin are extrapolated. Raises DpgateError for a weight of no output, a block
    size that does not fit and an error that no epsilon reaches.
    """
    values = values_of(manifest, lock.shape)
    names = [value.name for value in values]
    errors = {names.index(name): error for name, error in (wanted or {}).items()}
    twin, nominal = twin_answers(lock), lock.nominal_size
    with _one_message():
        request.check_outputs(names)
        asked = request.in_one_step(values, nominal_size=nominal, accounting=lock.accounting)
        forecasts = forecast(
            asked,
            twin=twin,
            nominal_size=nominal,
            block_sizes=block_sizes,
            epsilons=standard_ladder(lock.max_micro_epsilon),
            aggregators=aggregators,
        )
        taken = recommend(forecasts, grids=asked.grids, names=names, wanted=errors)
        size, chosen = taken.choice.block_size, taken.choice.apply(asked)
        chosen = replace(chosen, blocks=block_count(nominal, size))
        answers = twin.at(size, asked.grids)
        return BlocksPreview(
            forecasts=forecasts,
            recommendation=taken,
            intervals=_intervals(chosen, twin, block_size=size, nominal_size=nominal),
            spread_ratios=tuple(
                int(spread_ratio(grid, answers.spread(index, grid))) for index, grid in enumerate(asked.grids)
            ),
            wanted=tuple(
                Wanted(
                    output=names[index],
                    error=error,
                    noise_alone=_noise_alone(chosen, index, error),
                    together=_together(chosen, index, error, twin, size, nominal),
                )
                for index, error in errors.items()
            ),
            together=together(chosen),
            costs={size: _cost(request, manifest, lock, size) for size in block_sizes},
            noise=chosen.resolved_noise,
            guarantee=chosen.guarantee,
            results=results_of(chosen, manifest, values, twin, nominal=nominal),
            kinds=compare_kinds(asked, taken.choice, twin=twin, nominal_size=nominal),
            proposed_norm=proposed_norm(answers, asked.grids) if len(names) > 1 else None,
        )


def _intervals(
    chosen: SampleAggregate, twin: TwinAnswers, *, block_size: int, nominal_size: int
) -> tuple[IntervalForecast, ...]:
    """What a sampling interval would cost. Quantiles and blocks that are clipped take none; of many values
    none is told."""
    has_quantile = any(part.quantile is not None for part in chosen.parts or ())
    if has_quantile or chosen.clip_norm is not None or len(chosen.grids) > MAX_OUTPUTS:
        return ()
    return forecast_interval(chosen, twin=twin, block_size=block_size, nominal_size=nominal_size)


def _cost(request: SampleAggregateRequest, manifest: Manifest, lock: Lock, size: int) -> RunCost:
    found = lock.runs_of("blocks", size)
    runs = block_count(lock.nominal_size, size) * request.repeats
    if lock.padded:  # however quick it is: a run takes its turn by the clock
        return RunCost(runs, turn_s(manifest))
    return RunCost(runs, found.seconds if found else None)


def aggregators_of(
    request: SampleAggregateRequest, asked: str | None, *, values: Sequence[OutputValue]
) -> tuple[Aggregator, ...]:
    """The one that was asked for, or all that go with the noise, and with so many outputs."""
    is_settled = all(isinstance(value, PersonValue) for value in values)
    are_means = request.noise == "gaussian" or len(values) > MAX_OUTPUTS or is_settled
    possible = AGGREGATORS[:1] if are_means else AGGREGATORS
    if asked is None:
        return possible
    found = tuple(aggregator for aggregator in possible if aggregator == asked)
    if not found:
        raise DpgateError(f"--aggregator is {' or '.join(possible)} here")
    return found


OwnRows = tuple[PacForecast | StabilityForecast, ...]


def preview_own_runs(mechanism: str, manifest: Manifest, lock: Lock) -> OwnRows:
    """A ladder of what the mechanism takes, from the runs of its own plan on the twin."""
    runs = lock.outputs_of(own_runs()[mechanism].kept)
    assert runs is not None  # the caller has made them
    values = values_of(manifest, lock.shape)
    requests, rows_of = _LADDERS[mechanism]
    with _one_message():
        requests[0].check_outputs([value.name for value in values])
    built = (request.build(values, nominal_size=lock.nominal_size) for request in requests)
    return tuple(row for each in built for row in rows_of(each, runs, lock))


_LADDERS: dict[
    str, tuple[Sequence[PacRequest | StabilityRequest], Callable[[Any, Outputs, Lock], OwnRows]]
] = {
    "pac": (
        [PacRequest(name="pac", nats=format_amount(Currency.NATS, micro)) for micro in NATS_LADDER],
        lambda asked, worlds, lock: forecast_pac(asked, worlds, numbers=lock.twin_numbers),
    ),
    "stability_calibrated": (
        [StabilityRequest(name="stability_calibrated", noise_multiplier=each) for each in MULTIPLIERS],
        lambda asked, runs, _lock: forecast_stability(asked, runs),
    ),
}


def twin_answers(lock: Lock) -> TwinAnswers:
    """The lock's numbers and blocks in the form of the mathematics."""
    blocks = {runs.block_size: runs.outputs for runs in lock.twin_runs if runs.block_size}
    return TwinAnswers(numbers=lock.twin_numbers, blocks=blocks)


def _noise_alone(chosen: SampleAggregate, index: int, error: float) -> int:
    """That of a mean: what a median does to an error cannot be said without the blocks."""
    mean = replace(chosen, aggregator="clipped_mean")
    return epsilon_for_noise(mean, index, half_width_95=error)


def _together(
    chosen: SampleAggregate, index: int, error: float, twin: TwinAnswers, block_size: int, nominal_size: int
) -> int | None:
    try:
        return epsilon_for_error(
            chosen, index, within_95=error, twin=twin, block_size=block_size, nominal_size=nominal_size
        )
    except ValueError:
        return None


@contextmanager
def _one_message() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise DpgateError(str(error)) from None
