"""The error to expect at one choice, from a rehearsal's runs, for what is known in closed form.

Gaussian noise, PAC and stability-calibrated noise; the ladder with Laplace or joint noise is replayed by a
worker and is part of the preview. All of it is about the twin: nothing has seen original data, and nothing is
drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from domain.loss import format_epsilon, units
from domain.mechanism import PacRequest, SampleAggregateRequest, StabilityRequest
from domain.output_value import grids_of
from domain.pipeline import OutputValue
from domain.rehearsal import Numbers, Preview, QuietMean, TwinRuns
from privacy.cost import Currency, format_amount
from privacy.grid import OutputGrid
from privacy.mechanism import RunOutput
from privacy.posterior_bound import LADDER as NATS_LADDER
from privacy.preview import forecast_pac, forecast_stability, mixture_quantile
from privacy.run_outputs import middle

GAUSSIAN_LADDER = (100_000, 250_000, 500_000, 1_000_000, 2_000_000, 4_000_000)
MULTIPLIERS = (0.5, 1.0, 2.0, 4.0)
SHOWN_DIGITS = 6
_STEPS = (19, 23, 1)


@dataclass(frozen=True)
class Expected:
    """The error of one output at one amount, in its own units, measured from the whole twin's number.

    `amount` is epsilon, nats or a noise multiplier, as a text; `noise_95` what the noise alone adds, None
    where that cannot be told apart (medians)."""

    amount: str
    typical: float
    within_95: float
    noise_95: float | None


@dataclass(frozen=True)
class Simulated:
    """Releases of one output if the twin were the data, and the 95 % quantile of their error."""

    values: tuple[float, ...]
    within_95: float


def gaussian_ladder(
    asked: SampleAggregateRequest,
    values: Sequence[OutputValue],
    *,
    nominal_size: int,
    mean: QuietMean,
    most: int,
) -> list[Expected]:
    """Rungs up to `most` micro-epsilon, with the epsilon that was asked for among them."""
    ladder = sorted({micro for micro in GAUSSIAN_LADDER if micro <= most} | {asked.micro_epsilon})
    found = []
    for micro in ladder:
        request = asked.model_copy(update={"epsilon": format_epsilon(micro)})
        deviation = gaussian_deviation(request, values, nominal_size=nominal_size, index=mean.output)
        found.append(_with_normal_noise(request.epsilon, mean.offsets, deviation))
    return found


def gaussian_deviation(
    asked: SampleAggregateRequest, values: Sequence[OutputValue], *, nominal_size: int, index: int
) -> float:
    """The deviation of the noise of one mean over blocks, in the output's own units. Raises ValueError for
    what cannot be built, such as too many values."""
    bounds = tuple((value.lower, value.upper) for value in values)
    chosen = (asked.epsilon, asked.delta or "", asked.block_size, asked.clip_norm)
    return _deviations(*chosen, bounds, nominal_size)[index]


def clipping_moves(
    asked: SampleAggregateRequest,
    values: Sequence[OutputValue],
    blocks: Sequence[Sequence[float | None] | None],
    *,
    nominal_size: int,
) -> list[float]:
    """By how much the clip norm moves the mean of each output over these blocks, in its own units. A block
    without all of its numbers counts as the middle, which no norm moves."""
    mechanism = asked.in_one_step(values, nominal_size=nominal_size)
    grids, clip = mechanism.grids, mechanism.clip
    moved = [0.0] * len(grids)
    for block in blocks:
        if clip is None or block is None or any(number is None for number in block):
            continue
        units = tuple(grid.snap(number or 0.0) for grid, number in zip(grids, block, strict=True))
        pairs = zip(clip.clip(units), units, grids, strict=True)
        moved = [
            so_far + (after - before) * float(grid.step)
            for so_far, (after, before, grid) in zip(moved, pairs, strict=True)
        ]
    return [so_far / len(blocks) for so_far in moved]


@lru_cache(maxsize=1024)
def _deviations(
    epsilon: str,
    delta: str,
    block_size: int,
    clip_norm: float | None,
    bounds: tuple[tuple[float, float], ...],
    nominal_size: int,
) -> tuple[float, ...]:
    # an exact search of some 50 ms, which a page asks for again with every letter that is typed
    values = [
        OutputValue(name=f"output_{index}", lower=lower, upper=upper)
        for index, (lower, upper) in enumerate(bounds)
    ]
    mechanism = SampleAggregateRequest(
        name="sample_aggregate",
        epsilon=epsilon,
        delta=delta,
        noise="gaussian",
        block_size=block_size,
        clip_norm=clip_norm,
    ).in_one_step(values, nominal_size=nominal_size)
    return tuple(
        math.sqrt(noise.variance) * float(grid.step) / mechanism.plan.runs
        for grid, noise in zip(mechanism.grids, mechanism.noises, strict=True)
        if noise is not None
    )


def simulate_gaussian(mean: QuietMean, preview: Preview, *, whole: float, deviation: float) -> Simulated:
    noise = preview.noise.normal
    # quantiles come in order; taken in big steps, no five neighbours are alike
    step = next(step for step in _STEPS if math.gcd(step, len(mean.offsets)) == 1)
    means = [whole + mean.offsets[at * step % len(mean.offsets)] for at in range(len(noise))]
    return Simulated(_plus(means, noise, deviation), mixture_quantile(0.95, mean.offsets, deviation))


def pac_ladder(
    asked: PacRequest, values: Sequence[OutputValue], runs: TwinRuns, *, index: int
) -> list[Expected]:
    """Rungs for a first release of a cohort, with the amount that was asked for among them."""
    chosen = units(Currency.NATS, asked.nats)
    # the variance of a first release is inversely proportional to its nats (privacy/pac.py)
    at_one = _pac_deviation(asked, values, runs, index) * math.sqrt(chosen)
    offsets = [world - runs.numbers[index] for world in _worlds(values, runs, index)]
    return [
        _with_normal_noise(format_amount(Currency.NATS, micro), offsets, at_one / math.sqrt(micro))
        for micro in sorted({*NATS_LADDER, chosen})
    ]


def simulate_pac(
    asked: PacRequest, values: Sequence[OutputValue], runs: TwinRuns, preview: Preview, *, index: int
) -> Simulated:
    worlds, deviation = _worlds(values, runs, index), _pac_deviation(asked, values, runs, index)
    whole = runs.numbers[index]
    within = mixture_quantile(0.95, [world - whole for world in worlds], deviation)
    return Simulated(_plus(worlds, preview.noise.normal, deviation), within)


def stability_ladder(
    asked: StabilityRequest, values: Sequence[OutputValue], runs: TwinRuns, *, nominal_size: int, index: int
) -> list[Expected]:
    """Rungs with the multiplier that was asked for among them; it falls in steps, as the scale is a power of
    two."""
    found = []
    outputs = in_units(runs.leave_one_out, grids_of(values))
    for multiplier in sorted({*MULTIPLIERS, asked.noise_multiplier}):
        request = StabilityRequest(name="stability_calibrated", noise_multiplier=multiplier)
        row = forecast_stability(request.build(values, nominal_size=nominal_size), outputs)[index]
        found.append(Expected(f"{multiplier:g}", row.typical, row.within_95, row.within_95))
    return found


def simulate_stability(expected: Expected, runs: TwinRuns, preview: Preview, *, index: int) -> Simulated:
    scale = expected.within_95 / math.log(20)
    whole = (runs.numbers[index],) * len(preview.noise.laplace)
    return Simulated(_plus(whole, preview.noise.laplace, scale), expected.within_95)


def in_units(runs: Sequence[Numbers], grids: Sequence[OutputGrid]) -> tuple[RunOutput, ...]:
    """The runs' numbers on the grids of the declared bounds, as a job would read them."""
    default = middle(grids)
    return tuple(
        None
        if run is None
        else tuple(
            filled if number is None else grid.snap(number)
            for grid, filled, number in zip(grids, default, run, strict=True)
        )
        for run in runs
    )


def _pac_deviation(asked: PacRequest, values: Sequence[OutputValue], runs: TwinRuns, index: int) -> float:
    worlds = in_units(runs.half_samples, grids_of(values))
    pac = asked.build(values, nominal_size=0)
    return forecast_pac(pac, worlds, numbers=runs.numbers)[index].noise


def _worlds(values: Sequence[OutputValue], runs: TwinRuns, index: int) -> list[float]:
    """What each half says of one output within its bounds; the middle for one that failed."""
    grids = grids_of(values)
    grid = grids[index]
    return [
        float(grid.value(grid.middle if world is None else world[index]))
        for world in in_units(runs.half_samples, grids)
    ]


def _with_normal_noise(amount: str, offsets: Sequence[float], deviation: float) -> Expected:
    return Expected(
        amount=amount,
        typical=mixture_quantile(0.5, offsets, deviation),
        within_95=mixture_quantile(0.95, offsets, deviation),
        noise_95=mixture_quantile(0.95, (0.0,), deviation),
    )


def _plus(aggregates: Sequence[float], noise: Sequence[float], scale: float) -> tuple[float, ...]:
    return tuple(
        float(f"{value + scale * unit:.{SHOWN_DIGITS}g}")
        for value, unit in zip(aggregates, noise, strict=False)
    )
