"""Error to expect of a stability-calibrated release, from a twin's runs on everybody and without each one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import fmean

from privacy.discrete_laplace import quantile
from privacy.grid import OutputGrid
from privacy.loss import MICRO
from privacy.mechanism import RunOutput
from privacy.stability import StabilityCalibrated, next_power_of_two


@dataclass(frozen=True)
class StabilityForecast:
    """One output at one noise dial, in the output's own units.

    `scale` is the noise scale that the twin's people would get, `floor` the smallest that anybody's data get,
    known before any run. `typical` and `within_95` are the 50 % and the 95 % quantile of the noise.
    `sampling` is the jackknife's standard error of the number itself, None where a run failed.
    """

    micro_epsilon_prime: int
    output: int
    floor: float
    scale: float
    typical: float
    within_95: float
    sampling: float | None


def forecast_stability(
    asked: StabilityCalibrated, runs: Sequence[RunOutput]
) -> tuple[StabilityForecast, ...]:
    """Every output. The scale is asked of the mechanism itself: what it would state with such a release.

    Another register's scale may differ by a factor of 2 or more: it is a power of two, and it follows the
    person who moves the result most.
    """
    return tuple(_row(asked, index, scale, runs) for index, scale in enumerate(asked.scales(runs)))


def _row(
    asked: StabilityCalibrated, index: int, scale: Fraction, runs: Sequence[RunOutput]
) -> StabilityForecast:
    step = asked.grids[index].step
    return StabilityForecast(
        micro_epsilon_prime=asked.micro_epsilon_prime,
        output=index,
        floor=float(_floor(asked, asked.grids[index])),
        scale=float(scale * step),
        typical=float(quantile(Fraction(1, 2), scale) * step),
        within_95=float(quantile(Fraction(1, 20), scale) * step),
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
