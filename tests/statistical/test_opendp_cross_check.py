"""Our noise against that of OpenDP, an independent implementation of the same laws, by chi-square.

OpenDP takes scales as floats and makes of them exact rationals; ours are given the same rationals.
"""

from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from checks import check_same_distribution

from privacy import discrete_gaussian, discrete_laplace, gaussian_digits
from privacy.exponential import Segment, choose
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.sample_aggregate import SampleAggregate

SIZE = 20_000
# OpenDP's integers end at 2^31, where its results stay
LAPLACE_SCALES = [0.25, 1.0, 3.7, 100.0, 27_034.0, 3e7]
DEVIATIONS = [0.5, 1.0, 3.7, 1000.0, 123_456.0]
# gaussian_digits takes whole variances from 12 on
WIDE_DEVIATIONS = [4.0, 25.0, 1000.0, 123_456.0]

dp.enable_features("contrib")


def whole_vectors():
    return dp.vector_domain(dp.atom_domain(T=int))


def opendp_laplace(scale):
    return dp.m.make_laplace(whole_vectors(), dp.l1_distance(T=int), scale=scale)


def opendp_gaussian(deviation):
    return dp.m.make_gaussian(whole_vectors(), dp.l2_distance(T=int), scale=deviation)


def draws(mechanism, size=SIZE):
    return np.array(mechanism([0] * size), np.int64)


@pytest.mark.parametrize("scale", LAPLACE_SCALES)
def test_discrete_laplace(scale):
    check_same_distribution(discrete_laplace.sample(Fraction(scale), SIZE), draws(opendp_laplace(scale)))


@pytest.mark.parametrize("deviation", DEVIATIONS)
def test_discrete_gaussian(deviation):
    ours = discrete_gaussian.sample(Fraction(deviation) ** 2, SIZE)
    check_same_distribution(ours, draws(opendp_gaussian(deviation)))


@pytest.mark.parametrize("deviation", WIDE_DEVIATIONS)
def test_discrete_gaussian_of_whole_variance(deviation):
    ours = gaussian_digits.sample(int(deviation) ** 2, SIZE)
    check_same_distribution(ours, draws(opendp_gaussian(deviation)))


def test_exponential_mechanism():
    """Gumbel noise of scale b = 2 sensitivity/epsilon makes score v the largest with P(v) ~ exp(v/b)."""
    distances, epsilon, sensitivity = [3, 1, 0, 2, 7], Fraction(3, 2), 2
    scores = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=len(distances))
    noisy_max = dp.m.make_noisy_max(
        scores,
        dp.linf_distance(T=float),
        dp.zero_concentrated_divergence(),
        scale=float(2 * sensitivity / epsilon),
    )
    theirs = [noisy_max([-float(distance) for distance in distances]) for _ in range(SIZE)]
    segments = [Segment(point, 1, distance) for point, distance in enumerate(distances)]
    stream = Keystream()
    ours = [choose(segments, epsilon=epsilon, sensitivity=sensitivity, keystream=stream) for _ in range(SIZE)]
    check_same_distribution(np.array(ours), np.array(theirs))


@pytest.mark.parametrize("micro_epsilon", [100_000, 1_000_000, 3_000_000])
def test_opendp_charges_the_epsilon_that_we_charge(micro_epsilon):
    """Its privacy map at the sensitivity of one block, for the noise that a release of ours carries."""
    grid = OutputGrid.build(-3, 7)
    aggregate = SampleAggregate((grid,), blocks=20, micro_epsilon=micro_epsilon)
    charged = opendp_laplace(float(aggregate.noise_scale(0))).map(grid.cells)
    assert np.isclose(charged, micro_epsilon / 1e6, rtol=1e-12)


@pytest.mark.parametrize("micro_epsilon", [100_000, 1_000_000, 3_000_000])
def test_opendp_charges_the_rho_that_we_charge(micro_epsilon):
    grid = OutputGrid.build(-3, 7)
    aggregate = SampleAggregate(
        (grid,), blocks=20, micro_epsilon=micro_epsilon, noise="gaussian", atto_delta=10**12
    )
    deviation = float(aggregate.noises[0].variance) ** 0.5
    assert np.isclose(opendp_gaussian(deviation).map(grid.cells), aggregate.pico_rho / 1e12, rtol=1e-9)


@pytest.mark.parametrize("ratio", [0.8, 1.25])
def test_another_scale_is_noticed(ratio):
    """The test of the test: a quarter more noise, or a fifth less, is not the same law."""
    with pytest.raises(AssertionError, match="two samples differ"):
        check_same_distribution(
            discrete_laplace.sample(Fraction(100), SIZE), draws(opendp_laplace(100 * ratio))
        )
    with pytest.raises(AssertionError, match="two samples differ"):
        check_same_distribution(
            discrete_gaussian.sample(Fraction(100) ** 2, SIZE), draws(opendp_gaussian(100 * ratio))
        )
