"""Error to expect of a stability-calibrated release, from a twin's runs on everybody and without each one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.loss import MICRO
from privacy.mechanism import NoisedOutput, RunOutput
from privacy.stability import StabilityCalibrated, next_power_of_two


@dataclass(frozen=True)
class StabilityForecast:
    """One output at one noise dial, in the output's own units.

    `scale` is the noise scale that the twin's people would get, `floor` the smallest that anybody's data get,
    known before any run. `within_95` covers the noise. `sampling` is the jackknife's standard error of the
    number itself, None where a run failed.
    """

    micro_epsilon_prime: int
    output: int
    floor: float
    scale: float
    within_95: float
    sampling: float | None


def forecast_stability(
    asked: StabilityCalibrated, runs: Sequence[RunOutput], *, keystream: Keystream | None = None
) -> tuple[StabilityForecast, ...]:
    """Every output. The scale is asked of the mechanism itself: what it would state with such a release.

    Another register's scale may differ by a factor of 2 or more: it is a power of two, and it follows the
    person who moves the result most.
    """
    released = asked.release(runs, keystream=keystream)
    return tuple(_row(asked, index, output, runs) for index, output in enumerate(released))


def _row(
    asked: StabilityCalibrated, index: int, output: NoisedOutput, runs: Sequence[RunOutput]
) -> StabilityForecast:
    return StabilityForecast(
        micro_epsilon_prime=asked.micro_epsilon_prime,
        output=index,
        floor=float(_floor(asked, asked.grids[index])),
        scale=float(output.noise_scale or 0),
        within_95=float(output.half_width_95 or 0),
        sampling=_jackknife(runs, index, asked.grids[index]),
    )


def _floor(asked: StabilityCalibrated, grid: OutputGrid) -> Fraction:
    share = Fraction(grid.cells * MICRO, asked.people * asked.micro_epsilon_prime)
    return next_power_of_two(share) * grid.step


def _jackknife(runs: Sequence[RunOutput], index: int, grid: OutputGrid) -> float | None:
    """sqrt((n-1)/n sum_i (theta^(-i) - mean)^2) (Efron and Stein 1981)."""
    without_one = [run[index] for run in runs[1:] if run is not None]
    if len(without_one) < len(runs) - 1:
        return None
    centre = fmean(without_one)
    people = len(without_one)
    return float(grid.step) * math.sqrt(
        (people - 1) / people * sum((units - centre) ** 2 for units in without_one)
    )
