"""T1 and T3 of the privacy design: the noise has the stated distribution, and small noise is not avoided."""

from fractions import Fraction

import numpy as np
import pytest
from checks import (
    check_distribution,
    check_mean_magnitude,
    check_same_distribution,
    check_small_noise,
    check_standard_laplace,
)
from length import at_length
from release_paths import drawn_in_batches, release_noise

from privacy import discrete_laplace
from privacy.discrete_laplace import probability, sample
from privacy.grid import OutputGrid
from privacy.reference import geometric_unsafe, laplace_unsafe
from privacy.sample_aggregate import SampleAggregate

SCALES = [
    Fraction(1, 2),
    Fraction(1),
    Fraction(37, 10),
    Fraction(100),
    Fraction(27_034),
    Fraction(3 * 10**9),
]


@pytest.mark.parametrize("scale", SCALES)
def test_sample_follows_the_exact_law(scale):
    check_distribution(lambda n: sample(scale, n), scale=scale, size=50_000)


@pytest.mark.parametrize("scale", SCALES)
def test_mean_magnitude_of_a_sample(scale):
    check_mean_magnitude(lambda n: sample(scale, n), scale=scale)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(37, 10), Fraction(27_034)])
def test_single_draws_follow_the_same_law(scale):
    size = at_length(4_000)
    drawn = np.concatenate([sample(scale, 1) for _ in range(size)])
    check_distribution(lambda _: drawn, scale=scale, size=size)


def test_every_value_of_a_large_sample_at_a_small_scale():
    """Two million draws against the probabilities that the package states, value by value."""
    scale, size = Fraction(2), 2_000_000
    drawn = sample(scale, size)
    for z in range(-12, 13):
        expected = size * probability(z, scale)
        # 5.5 standard deviations: 25 values share 10^-6
        assert abs(np.count_nonzero(drawn == z) - expected) < 5.5 * expected**0.5


@pytest.mark.parametrize("scale", [Fraction(27_034), Fraction(3 * 10**9)])
def test_small_noise_is_not_avoided(scale):
    check_small_noise(lambda n: sample(scale, n), scale=float(scale))


@pytest.fixture
def aggregate() -> SampleAggregate:
    return SampleAggregate((OutputGrid.build(-3, 7),), blocks=20, micro_epsilon=500_000)


def test_release_carries_the_claimed_noise(aggregate):
    with drawn_in_batches(discrete_laplace):
        check_standard_laplace(lambda n: release_noise(aggregate, n)[:, 0])


def test_release_does_not_avoid_small_noise(aggregate):
    check_small_noise(lambda n: release_noise(aggregate, n)[:, 0], scale=1.0)


def test_release_of_many_outputs_carries_the_claimed_noise():
    grids = (OutputGrid.build(0, 1), OutputGrid.build(-100, 100), OutputGrid.build(0, "1e-9"))
    aggregate = SampleAggregate(grids, blocks=5, micro_epsilon=2_000_000)
    with drawn_in_batches(discrete_laplace):
        check_standard_laplace(lambda n: release_noise(aggregate, n // 3).ravel(), size=9_999)


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1.0, 1), (0.37, 3), (0.01, 271)])
def test_same_distribution_as_diffprivlib_geometric(epsilon, sensitivity):
    reference = geometric_unsafe(20_000, epsilon=epsilon, sensitivity=sensitivity)
    check_same_distribution(sample(sensitivity / Fraction(str(epsilon)), 20_000), reference)


def test_same_distribution_as_diffprivlib_laplace():
    """At a scale of 27,034 units the discrete law is the continuous one to nine digits."""
    reference = laplace_unsafe(20_000, epsilon=0.5, sensitivity=13_517.0)
    check_same_distribution(sample(Fraction(27_034), 20_000), reference)
