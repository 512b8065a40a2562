import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.bounded_noise import BoundedNoise, least_length
from privacy.cost import ATTO


def hockey_stick(law, shift, epsilon):
    """The least delta at this epsilon between a law on {-A..A} and itself moved by `shift`."""
    padded = np.pad(law, (0, shift))
    moved = np.pad(law, (shift, 0))
    return np.maximum(0, padded - math.exp(epsilon) * moved).sum()


def truncated(scale, bound):
    weights = np.exp(-np.abs(np.arange(-bound, bound + 1)) / scale)
    return weights / weights.sum()


def test_delta_is_what_the_hockey_stick_gives_and_one_less_is_too_little(subtests):
    """Computed from the definition of (epsilon, delta), for every shift up to the sensitivity."""
    for sensitivity in (1, 7, 30):
        for micro_epsilon in (30_000, 300_000, 1_000_000, 5_000_000):
            for atto_delta in (ATTO // 100, ATTO // 10**4, ATTO // 10**9):
                with subtests.test(
                    sensitivity=sensitivity, micro_epsilon=micro_epsilon, atto_delta=atto_delta
                ):
                    noise = BoundedNoise(sensitivity, micro_epsilon, atto_delta)
                    epsilon, delta = micro_epsilon / 1e6, atto_delta / ATTO
                    bound = least_length(noise.scale, sensitivity, atto_delta) - 1
                    assert bound <= noise.bound <= 1.001 * (bound + 1)
                    shifts = {1, sensitivity // 2 + 1, sensitivity}
                    worst = max(
                        hockey_stick(truncated(float(noise.scale), bound), d, epsilon) for d in shifts
                    )
                    assert worst <= delta * (1 + 1e-6)
                    if bound > sensitivity:
                        narrower = hockey_stick(
                            truncated(float(noise.scale), bound - 1), sensitivity, epsilon
                        )
                        assert narrower > delta * (1 - 1e-6)


def test_the_bound_is_the_one_of_the_paper():
    """Geng and others 2018: A = (D/epsilon) ln(1 + (e^epsilon - 1)/(2 delta)), for fine grids."""
    noise = BoundedNoise(2**20, 1_000_000, ATTO // 10**6)
    continuous = 2**20 * math.log(1 + (math.e - 1) / 2e-6)
    assert 1 <= (noise.bound + 1) / continuous < 1.001


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 2**24), st.integers(1_000, 30_000_000), st.integers(1, ATTO // 100))
def test_one_value_cannot_leave_the_other_ones_reach(sensitivity, micro_epsilon, atto_delta):
    """The proof's A >= D, and a length that the digits can take."""
    noise = BoundedNoise(sensitivity, micro_epsilon, atto_delta)
    assert noise.bound >= sensitivity
    drawn = noise.sample(200)
    assert abs(drawn).max() <= noise.bound


def test_every_value_up_to_the_bound_occurs_with_its_probability():
    noise = BoundedNoise(3, 1_000_000, ATTO // 100)
    law, size = truncated(3.0, noise.bound), 300_000
    drawn = noise.sample(size).tolist()
    for z, probability in zip(range(-noise.bound, noise.bound + 1), law, strict=True):
        expected = size * probability
        assert abs(drawn.count(z) - expected) < 6 * expected**0.5


PARAMETERS_ARE_REFUSED = (
    (0, 10**6, 10**9, "sensitivity"),
    (1.0, 10**6, 10**9, "sensitivity"),
    (True, 10**6, 10**9, "sensitivity"),
    (1, 0, 10**9, "epsilon"),
    (1, 10**6, 0, "delta"),
    (1, 10**6, -1, "delta"),
    (1, 10**6, ATTO // 100 + 1, "at most 0.01"),
    (1, 10**6, 1e-9, "delta"),
    (1, 10**6, True, "delta"),
    (2**49, 10**6, 10**9, "2.48 units"),
)


def test_parameters_are_refused(subtests):
    for sensitivity, micro_epsilon, atto_delta, reason in PARAMETERS_ARE_REFUSED:
        with (
            subtests.test(
                sensitivity=sensitivity, micro_epsilon=micro_epsilon, atto_delta=atto_delta, reason=reason
            ),
            pytest.raises(ValueError, match=reason),
        ):
            BoundedNoise(sensitivity, micro_epsilon, atto_delta)
