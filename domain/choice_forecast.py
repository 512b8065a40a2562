"""The error to expect of one output at one choice of a mechanism, whichever it is, from a rehearsal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from domain.dataset import Declaration
from domain.forecast import (
    Expected,
    Simulated,
    clipping_moves,
    gaussian_deviation,
    gaussian_ladder,
    pac_ladder,
    simulate_gaussian,
    simulate_pac,
    simulate_stability,
    stability_ladder,
)
from domain.loss import format_epsilon
from domain.mechanism import PacRequest, SampleAggregateRequest, StabilityRequest
from domain.mechanisms import own_runs
from domain.pipeline import OutputValue
from domain.rehearsal import Preview, QuietMean, Rehearsal, TwinRuns
from privacy.mean_noise import NoiseKind
from privacy.mechanism import MAX_OUTPUTS

Asked = SampleAggregateRequest | PacRequest | StabilityRequest
MOST_FORECAST = MAX_OUTPUTS
"""Outputs of one rehearsal that have a forecast: the first ones."""
NOT_KNOWN = (
    "There is no forecast for this output at this block size: a rehearsal makes one for the first "
    f"{MOST_FORECAST} outputs, and anew when it runs again."
)
# what a rehearsal replays: one partition, equal shares of the loss, nothing but the values
_LEFT_OUT = ("repeats", "weights", "count_failures", "interval")


class NoForecast(ValueError):
    """The rehearsal cannot say it; `is_to_run` where more runs on the twin would let it."""

    def __init__(self, said: str, *, is_to_run: bool = False) -> None:
        super().__init__(said)
        self.is_to_run = is_to_run


@dataclass(frozen=True)
class Forecast:
    """One output, in its own units. `amount` is what was asked for, as one of the rungs has it, of `unit`:
    epsilon, nats or noise multiplier; `simulated` are releases at it."""

    output: str
    unit: str
    amount: str
    rungs: tuple[Expected, ...]
    simulated: Simulated

    noise_kind: NoiseKind | None = None

    @property
    def chosen(self) -> Expected:
        return next(rung for rung in self.rungs if rung.amount == self.amount)


@dataclass(frozen=True)
class _Twin:
    values: Sequence[OutputValue]
    runs: TwinRuns
    preview: Preview
    index: int
    nominal_size: int
    rehearsed_size: int


def forecast_of(asked: Asked, rehearsal: Rehearsal, declaration: Declaration, *, index: int) -> Forecast:
    """For the output at this index; the policy's cap ends the ladder. Raises NoForecast where the rehearsal
    has not run what it takes, ValueError for a choice that cannot be built."""
    if rehearsal.runs is None or rehearsal.preview is None:
        raise NoForecast("The rehearsal is not done.")
    twin = _Twin(
        rehearsal.values,
        rehearsal.runs,
        rehearsal.preview,
        index,
        declaration.nominal_size,
        rehearsal.request.block_size,
    )
    asked.check_outputs([value.name for value in twin.values])
    if isinstance(asked, SampleAggregateRequest):
        check_replayed(asked)
        kind = asked.build(
            twin.values, nominal_size=twin.nominal_size, accounting=declaration.accounting
        ).resolved_noise
        if kind == "gaussian":
            return _gaussian(asked, twin, declaration.policy.max_micro_epsilon_per_job)
        return _replayed(asked, twin, kind)
    _check_sampled(asked, twin)
    return _pac(asked, twin) if isinstance(asked, PacRequest) else _stability(asked, twin)


def check_replayed(asked: SampleAggregateRequest) -> None:
    """Raises NoForecast for a choice that no rehearsal replays."""
    if asked.aggregator == "two_step":
        raise NoForecast("There is no forecast of a mean in two steps, which a rehearsal does not replay.")
    plain = SampleAggregateRequest(name="sample_aggregate", epsilon=asked.epsilon)
    if left_out := [name for name in _LEFT_OUT if getattr(asked, name) != getattr(plain, name)]:
        raise NoForecast(
            f"There is no forecast with {' and '.join(left_out)}, which a rehearsal does not replay; "
            "dpgate preview does."
        )


def _check_sampled(asked: PacRequest | StabilityRequest, twin: _Twin) -> None:
    """Without its own runs a mechanism has no honest forecast: blocks say nothing about halves."""
    if twin.runs.of_plan(asked.name):
        return
    if twin.preview.unable_sampled:
        raise NoForecast(f"There is no forecast: {twin.preview.unable_sampled}")
    raise NoForecast(
        f"The error of this mechanism follows from {own_runs()[asked.name].about}, which the rehearsal has "
        "not made. On the twin they cost nothing.",
        is_to_run=True,
    )


def check_noise(kind: NoiseKind, aggregator: str, preview: Preview) -> None:
    """Raises NoForecast for noise of means that the worker has not replayed."""
    if aggregator != "median" and kind != preview.noise_kind:
        raise NoForecast(
            f"There is no forecast with {kind} noise: the rehearsal has replayed {preview.noise_kind} noise, "
            "which auto takes. dpgate preview has both."
        )


def _replayed(asked: SampleAggregateRequest, twin: _Twin, kind: NoiseKind) -> Forecast:
    """What a worker has replayed: its own rungs, without one for every epsilon."""
    aggregator = asked.aggregator
    if aggregator == "auto":
        raise NoForecast("Aggregator auto is one of two: ask for clipped_mean, and for median.")
    if twin.preview.rungs:
        check_noise(kind, aggregator, twin.preview)
    rungs = twin.preview.ladder(output=twin.index, block_size=asked.block_size, aggregator=aggregator)
    if not rungs:
        raise NoForecast(twin.preview.unable or NOT_KNOWN)
    within = [rung for rung in rungs if rung.micro_epsilon <= asked.micro_epsilon] or [rungs[0]]
    draws = twin.preview.simulated(output=twin.index, aggregator=aggregator, epsilon=asked.epsilon)
    return Forecast(
        output=twin.values[twin.index].name,
        unit="epsilon",
        amount=format_epsilon(within[-1].micro_epsilon),
        rungs=tuple(
            Expected(format_epsilon(rung.micro_epsilon), rung.typical, rung.within_95, rung.noise_95)
            for rung in rungs
        ),
        simulated=Simulated(draws.values if draws else (), within[-1].within_95),
        noise_kind=kind,
    )


def _gaussian(asked: SampleAggregateRequest, twin: _Twin, most: int) -> Forecast:
    mean = twin.preview.mean(output=twin.index, block_size=asked.block_size)
    if mean is None:
        raise NoForecast(NOT_KNOWN)
    size = twin.nominal_size
    if asked.clip_norm is not None:
        mean = _clipped(mean, asked, twin)
    return Forecast(
        output=twin.values[twin.index].name,
        unit="epsilon",
        amount=asked.epsilon,
        rungs=tuple(gaussian_ladder(asked, twin.values, nominal_size=size, mean=mean, most=most)),
        simulated=simulate_gaussian(
            mean,
            twin.preview,
            whole=twin.runs.numbers[twin.index],
            deviation=gaussian_deviation(asked, twin.values, nominal_size=size, index=twin.index),
        ),
        noise_kind="gaussian",
    )


def _clipped(mean: QuietMean, asked: SampleAggregateRequest, twin: _Twin) -> QuietMean:
    """Moved by what the clip norm does to the mean of the twin's own blocks. Clipped blocks also differ less
    from each other, which is left out: that errs on the safe side."""
    if asked.block_size != twin.rehearsed_size:
        raise NoForecast(
            f"With a clip norm there is a forecast for blocks of {twin.rehearsed_size}, which have run: what "
            "clipping does to others is not known. dpgate preview runs them."
        )
    moved = clipping_moves(asked, twin.values, twin.runs.blocks, nominal_size=twin.nominal_size)[twin.index]
    return mean.model_copy(update={"offsets": tuple(offset + moved for offset in mean.offsets)})


def _pac(asked: PacRequest, twin: _Twin) -> Forecast:
    return Forecast(
        output=twin.values[twin.index].name,
        unit="nats",
        amount=asked.nats,
        rungs=tuple(pac_ladder(asked, twin.values, twin.runs, index=twin.index)),
        simulated=simulate_pac(asked, twin.values, twin.runs, twin.preview, index=twin.index),
    )


def _stability(asked: StabilityRequest, twin: _Twin) -> Forecast:
    rungs = stability_ladder(asked, twin.values, twin.runs, nominal_size=twin.nominal_size, index=twin.index)
    amount = f"{asked.noise_multiplier:g}"
    chosen = next(rung for rung in rungs if rung.amount == amount)
    return Forecast(
        output=twin.values[twin.index].name,
        unit="noise multiplier",
        amount=amount,
        rungs=tuple(rungs),
        simulated=simulate_stability(chosen, twin.runs, twin.preview, index=twin.index),
    )
