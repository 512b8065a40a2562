"""Closed forms of the error of a release, from public parameters and, where said, from a twin's spread.

They stand beside the replays as a check that needs no random number. Floats are fine: nothing is released.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction

from privacy.block_rules import median_min_blocks
from privacy.grid import OutputGrid
from privacy.joint_noise import JointMarginal
from privacy.loss import MAX_MICRO_EPSILON, MIN_MICRO_EPSILON
from privacy.noise import LaplaceNoise, Noise
from privacy.sample_aggregate import SampleAggregate

_FINEST = 20


@dataclass(frozen=True)
class NoiseError:
    """Error that the noise alone adds to one mean over blocks, in the output's own units."""

    mean_absolute: float
    standard_deviation: float
    half_width_95: float


def noise_error(mechanism: SampleAggregate, index: int) -> NoiseError:
    """Error of output `index`, which must be a mean: a median's noise depends on the data.

    Laplace: moments of the discrete law with a = exp(-1/t), E|Z| = 2a/(1 - a^2), Var Z = 2a/(1 - a)^2; they
    approach t and 2 t^2, t being R/(l epsilon_k) in the output's own units. Gaussian: sigma sqrt(2/pi),
    sigma; the discrete law differs from the continuous one by less than any float shows at these widths.
    Joint: w (p + 1)/(2 rate), from E T = (p + 1)/rate and E|U| = 1/2, and the stated deviation.
    """
    grid, noise, runs = mechanism.grids[index], mechanism.noises[index], mechanism.plan.runs
    if noise is None:
        raise ValueError("the noise of a median has no closed form; look at the replays.")
    unit = float(grid.step / runs)
    mean_absolute, deviation = _moments(noise)
    return NoiseError(
        mean_absolute=unit * mean_absolute,
        standard_deviation=unit * deviation,
        half_width_95=float(noise.half_width(Fraction(1, 20)) * grid.step / runs + grid.step / 2),
    )


def _moments(noise: Noise) -> tuple[float, float]:
    if not isinstance(noise, LaplaceNoise):
        deviation = math.sqrt(noise.variance)
        if isinstance(noise, JointMarginal):
            joint = noise.joint
            width = joint.widths[noise.index]
            return float(width * (len(joint.widths) + 1) / (2 * joint.rate)), deviation
        return deviation * math.sqrt(2 / math.pi), deviation
    rate = float(1 / noise.scale)
    a = math.exp(-rate)
    return -2 * a / math.expm1(-2 * rate), -math.sqrt(2 * a) / math.expm1(-rate)


def epsilon_for_noise(mechanism: SampleAggregate, index: int, *, half_width_95: float) -> int:
    """Smallest micro-epsilon whose noise stays within `half_width_95` 95 times in 100, for a mean.

    The epsilon of `mechanism` plays no part. Raises ValueError if not even the largest epsilon achieves it.
    """

    def is_enough(micro_epsilon: int) -> bool:
        asked = replace(mechanism, micro_epsilon=micro_epsilon)
        return noise_error(asked, index).half_width_95 <= half_width_95

    candidates = range(MIN_MICRO_EPSILON, MAX_MICRO_EPSILON + 1)
    # the quantile grows with the scale, so once an epsilon is enough every larger one is (of joint noise to a
    # thousandth, where the number of shells doubles)
    position = bisect_left(candidates, True, key=is_enough)
    if position == len(candidates):
        raise ValueError("no epsilon reaches this error; accept a larger one or declare narrower bounds.")
    return candidates[position]


def root_mean_square_error(
    mechanism: SampleAggregate, index: int, *, bias: float, spread: float
) -> float | None:
    """sqrt(bias^2 + s^2/l + noise variance); for a median, sqrt(bias^2 + s^2 (pi/(2 l) + 16 pi/(l e)^2)).

    `spread` is the standard deviation s over blocks, e what the value is bought with; the median's two terms
    are those of `block_rules.prefers_median`. None where no closed form holds: a median of too few blocks
    wanders over the whole range.
    """
    blocks = mechanism.blocks
    if mechanism.noises[index] is not None:
        deviation = noise_error(mechanism, index).standard_deviation
        return math.hypot(bias, spread / math.sqrt(blocks), deviation)
    if blocks < fewest_blocks_for_median(mechanism, index, spread=spread):
        return None
    loss = float(mechanism.value_epsilon(index)) * blocks
    return math.hypot(bias, spread * math.sqrt(math.pi / 2 / blocks + 16 * math.pi / loss**2))


def fewest_blocks_for_median(mechanism: SampleAggregate, index: int, *, spread: float) -> int:
    """The rule of `block_rules.median_min_blocks` for what the value of this output is bought with."""
    ratio = spread_ratio(mechanism.grids[index], spread)
    return median_min_blocks(ratio, epsilon=mechanism.value_epsilon(index))


def spread_ratio(grid: OutputGrid, spread: float) -> Fraction:
    """Declared range over a spread from a twin, as a public number: a power of two, rounded up.

    Rounding up asks for more blocks before a median is preferred. A twin whose blocks all agree gives 2^20,
    the finest that a grid can tell.
    """
    width = float(grid.upper - grid.lower)
    if spread <= width * 2**-_FINEST:
        return Fraction(2**_FINEST)
    return Fraction(2 ** max(0, math.ceil(math.log2(width / spread))))
