"""The mean of bounded run outputs with integer noise: how wide the noise is, and what is released.

Un-noised sums must never leave `noised_mean`. `sample_aggregate` proves what the widths here are for.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.mechanism import NoisedOutput
from privacy.noise import GaussianNoise, LaplaceNoise, Noise


def laplace_noise(sensitivity: int, *, epsilon: Fraction) -> LaplaceNoise:
    """Scale t = sensitivity / epsilon: the loss of a shift by at most the sensitivity is at most epsilon."""
    return LaplaceNoise(sensitivity / epsilon)


def gaussian_noise(sensitivity: int, *, rho: Fraction) -> GaussianNoise:
    """Variance v = sensitivity^2 / (2 rho).

    Shifting the discrete Gaussian by an integer d costs exactly d^2/(2 v)-zCDP (Canonne, Kamath, Steinke
    2020, Proposition 5), which is at most rho.
    """
    return GaussianNoise(sensitivity**2 / (2 * rho))


def noise_of_sum(noise: Noise, *, keystream: Keystream | None = None) -> int:
    """One draw, for the sum of one mean's grid units."""
    return int(noise.draw(1, keystream=keystream)[0])


def noised_mean(units: Sequence[int], drawn: int, *, grid: OutputGrid, noise: Noise) -> NoisedOutput:
    """(sum of units + noise drawn) / number of runs, in the output's own units, rounded to the grid.

    `noise` is the law that `drawn` comes from.

    The divisor is how many runs were planned. How many of them succeeded or saw anybody is private.

    The result is deliberately not projected to the declared bounds: unprojected noise has mean zero, so that
    releases can be averaged without bias and the half widths hold everywhere. Projecting afterwards is free;
    a release names the nearest bound beside it.
    """
    runs = len(units)
    scale, half_width_95, half_width_99 = _stated(grid, noise, runs)
    return NoisedOutput(
        value=grid.nearest(grid.value(Fraction(sum(units) + drawn, runs))),
        noise_scale=scale,
        half_width_95=half_width_95,
        half_width_99=half_width_99,
    )


@lru_cache(maxsize=256)
def _stated(grid: OutputGrid, noise: Noise, runs: int) -> tuple[Fraction, Fraction, Fraction]:
    """Scale and half widths, which public parameters decide: the same for each release of one job's plan."""
    return (
        noise.scale * grid.step / runs,
        _half_width(grid, noise.half_width(Fraction(1, 20)), runs=runs),
        _half_width(grid, noise.half_width(Fraction(1, 100)), runs=runs),
    )


def _half_width(grid: OutputGrid, units: int, *, runs: int) -> Fraction:
    """In the output's own units; rounding to the grid may add half a step."""
    return units * grid.step / runs + grid.step / 2
