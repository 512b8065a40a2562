"""Error to expect of a PAC release, from what a pipeline said about 64 half-samples of a twin.

The noise of a PAC release depends on the register and is never shown; a twin's may be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from privacy.half_samples import WORLDS
from privacy.mechanism import RunOutput
from privacy.pac import Pac
from privacy.pac_state import PacState
from privacy.preview.mixture import mixture_quantile


@dataclass(frozen=True)
class PacForecast:
    """One output at one bound on the information, in the output's own units.

    `noise` is the deviation of the noise, `half_sample` that of the 64 worlds' outputs. `typical` and
    `within_95` are the 50 % and the 95 % quantile of |release - the whole twin's number|.
    """

    micro_nats: int
    output: int
    noise: float
    half_sample: float
    typical: float
    within_95: float


def forecast_pac(
    asked: Pac, worlds: Sequence[RunOutput], *, numbers: Sequence[float]
) -> tuple[PacForecast, ...]:
    """Every output of a cohort's first release. Later ones have less noise: the worlds are told apart then.

    Exact, with no replay: the release is a mixture of 64 normal laws, one for each world that may be the
    secret one, and its quantiles are found by halving (the discrete law differs from it by far less than a
    grid step).
    """
    # any secret will do: under the uniform posterior of a first release the noise does not depend on it
    variances = asked.noise_variances(worlds, state=PacState(secret=0, logs=(0,) * WORLDS))
    return tuple(
        _row(asked, index, worlds, number, deviation=math.sqrt(variance))
        for index, (number, variance) in enumerate(zip(numbers, variances, strict=True))
    )


def _row(
    asked: Pac, index: int, worlds: Sequence[RunOutput], number: float, *, deviation: float
) -> PacForecast:
    grid = asked.grids[index]
    step = float(grid.step)
    units = [grid.middle if world is None else world[index] for world in worlds]
    centre = sum(units) / len(units)
    offsets = [float(grid.lower) + step * unit - number for unit in units]
    noise = step * deviation
    return PacForecast(
        micro_nats=asked.micro_nats,
        output=index,
        noise=noise,
        half_sample=step * math.sqrt(sum((unit - centre) ** 2 for unit in units) / len(units)),
        typical=mixture_quantile(0.5, offsets, noise),
        within_95=mixture_quantile(0.95, offsets, noise),
    )
