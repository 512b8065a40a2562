"""All noise of a release comes from the keystream that it was given, and changes with it.

A part that drew from elsewhere would repeat nothing here, whatever it repeats in the field.
"""

import hashlib
from fractions import Fraction

import numpy as np
import pytest

from privacy import discrete_gaussian, discrete_laplace, fast_laplace, gaussian_digits
from privacy.analytic_gaussian import AnalyticGaussian
from privacy.bounded_noise import BoundedNoise
from privacy.grid import OutputGrid
from privacy.half_samples import WORLDS
from privacy.joint_noise import joint_noise
from privacy.keystream import Keystream
from privacy.noise import GaussianNoise, LaplaceNoise
from privacy.pac import Pac
from privacy.pac_state import PacState
from privacy.perturbation import RecordPerturbation
from privacy.sample_aggregate import SampleAggregate
from privacy.stability import StabilityCalibrated
from privacy.trusted import (
    Count,
    Covariance,
    Groups,
    Histogram,
    LinearRegression,
    Mean,
    Quantile,
    Sum,
    Variance,
)
from privacy.twin import ColumnCounts, Patterns
from privacy.twin.selection import noisy_best
from privacy.two_step import TwoStepMean

MICRO, ATTO = 10**6, 10**18
GRID = OutputGrid.build(0, 1)
WIDE = OutputGrid.build(-5, 40)


class Replayable(Keystream):
    """The same words for the same seed, which no keystream outside a test may do."""

    def __init__(self, seed: int) -> None:
        self._seed, self._calls = seed, 0

    def words(self, n, dtype):
        self._calls += 1
        size = n * np.dtype(dtype).itemsize
        digest = hashlib.shake_256(f"{self._seed} {self._calls}".encode()).digest(size)
        return np.frombuffer(bytearray(digest), dtype)


def sample_aggregate(**parameters):
    aggregate = SampleAggregate((GRID, WIDE), blocks=30, micro_epsilon=MICRO, **parameters)
    outputs = [(block * 30_000, block * 20_000) for block in range(30)]
    return lambda stream: aggregate.release([None, *outputs[1:]], keystream=stream)


def two_step(stream):
    mechanism = TwoStepMean((GRID, WIDE), blocks=200, micro_epsilon=MICRO, spread_ratios=(100, 80))
    return mechanism.release([(block * 500, block * 400) for block in range(200)], keystream=stream)


def stability_calibrated(stream):
    mechanism = StabilityCalibrated((GRID, WIDE), people=20, micro_epsilon_prime=MICRO)
    return mechanism.release([(500 * run, 900 * run) for run in range(21)], keystream=stream)


def pac(stream):
    state = PacState.draw(keystream=stream)
    worlds = [(world * 1_000, world * 20_000) for world in range(WORLDS)]
    return Pac((GRID, WIDE), micro_nats=MICRO // 32).release(worlds, state=state, keystream=stream)


def trusted(query):
    totals = [1] * query.width
    return lambda stream: query.release(totals, keystream=stream)


def perturbed(**parameters):
    law = RecordPerturbation(GRID, micro_epsilon=MICRO, **parameters)
    return lambda stream: law.perturb(np.linspace(0, 1, 50), keystream=stream).tolist()


def drawn(sampler, parameter):
    return lambda stream: sampler(parameter, 50, keystream=stream).tolist()


def size_only(method):
    return lambda stream: method(50, keystream=stream).tolist()


AGGREGATE = SampleAggregate((GRID,), blocks=30, micro_epsilon=MICRO)
GAUSSIAN = {"noise": "gaussian", "atto_delta": ATTO // 10**6}
RELEASES = {
    "laplace means": sample_aggregate(),
    "gaussian means": sample_aggregate(**GAUSSIAN),
    "joint means": sample_aggregate(noise="joint"),
    "medians": sample_aggregate(aggregator="median"),
    "means in two steps": two_step,
    "failures": lambda stream: sample_aggregate(count_failures=True)(stream)[-1],
    "intervals": lambda stream: [
        output.sampling_95 for output in sample_aggregate(interval="sampling")(stream)
    ],
    "joint noise": size_only(
        lambda n, **stream: joint_noise((GRID.cells,) * 3, epsilon=Fraction(1)).draw(n, **stream)
    ),
    "noise of a preview": lambda stream: AGGREGATE.draw_noise(0, 50, keystream=stream).tolist(),
    "stability": stability_calibrated,
    "pac": pac,
    "count": trusted(Count(micro_epsilon=MICRO // 100)),
    "sum": trusted(Sum(WIDE, micro_epsilon=MICRO)),
    "mean": trusted(Mean(WIDE, micro_epsilon=MICRO)),
    "variance": trusted(Variance(WIDE, micro_epsilon=MICRO)),
    "histogram": trusted(Histogram(WIDE, edges=(1_000, 500_000), micro_epsilon=MICRO // 100)),
    "quantile": trusted(Quantile(WIDE, probabilities=(Fraction(1, 2),), micro_epsilon=MICRO // 10)),
    "covariance": trusted(Covariance((GRID, WIDE), micro_epsilon=MICRO)),
    "regression": trusted(LinearRegression((GRID, WIDE), micro_epsilon=MICRO)),
    "groups": trusted(Groups(Sum(WIDE, micro_epsilon=MICRO), groups=3)),
    "twin of column counts": trusted(ColumnCounts((9, 9), micro_epsilon=MICRO // 10)),
    "twin of patterns": trusted(Patterns((4, 4, 4), micro_epsilon=MICRO // 10, nominal_size=10**6)),
    "choice of pairs": lambda stream: [
        noisy_best([0] * 30, scale=Fraction(90), keystream=stream) for _ in range(3)
    ],
    "perturbed": perturbed(law="laplace"),
    "perturbed fast": perturbed(law="laplace", fast=True),
    "perturbed within bounds": perturbed(law="bounded", atto_delta=ATTO // 10**6),
    "perturbed by a normal law": perturbed(law="gaussian", atto_delta=ATTO // 10**6),
    "discrete laplace": drawn(discrete_laplace.sample, Fraction(1_000)),
    "discrete gaussian": drawn(discrete_gaussian.sample, Fraction(10**6)),
    "gaussian digits": drawn(gaussian_digits.sample, 10**6),
    "fast laplace": drawn(fast_laplace.sample, Fraction(1_000)),
    "laplace noise": size_only(LaplaceNoise(Fraction(1_000)).draw),
    "gaussian noise": size_only(GaussianNoise(Fraction(10**6)).draw),
    "bounded noise": size_only(BoundedNoise(1_000, MICRO, ATTO // 10**6).sample),
    "analytic gaussian": size_only(AnalyticGaussian(1_000, MICRO, ATTO // 10**6).sample),
}


def test_the_same_keystream_gives_the_same_release_and_another_another(subtests):
    for release in RELEASES.values():
        with subtests.test(release=release):
            first = release(Replayable(1))
            assert release(Replayable(1)) == first
            assert release(Replayable(2)) != first


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES.keys())
def test_without_a_keystream_releases_are_new(release):
    """The coarsest of them agree with probability 1/400; six times in a row, never."""
    assert [release(None) for _ in range(6)] != [release(None) for _ in range(6)]
