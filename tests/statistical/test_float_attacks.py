"""T6 of the privacy design: the low bits of a release do not tell data sets apart."""

import numpy as np
import pytest
from checks import check_no_fine_bits, check_on_grid, release_values, share_of_fine_bits

from privacy.grid import OutputGrid
from privacy.reference import laplace_unsafe
from privacy.sample_aggregate import SampleAggregate

BLOCKS = 3


def aggregate_around_zero() -> SampleAggregate:
    return SampleAggregate((OutputGrid.build(-1, 2),), blocks=BLOCKS, micro_epsilon=1_000_000)


def blocks_that_say(aggregate, value):
    return [tuple(grid.snap(value) for grid in aggregate.grids)] * BLOCKS


@pytest.mark.parametrize("value", [0.0, 1.0, 1 / 3, 1e6])
def test_releases_are_on_the_grid_whatever_the_value(value):
    aggregate = SampleAggregate(
        (OutputGrid.build(-0.1, "1000000.1"),), blocks=BLOCKS, micro_epsilon=1_000_000
    )
    check_on_grid(aggregate, blocks_that_say(aggregate, value))


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_fine_bits_never_occur_in_our_releases(value):
    aggregate = aggregate_around_zero()
    assert aggregate.release([None] * BLOCKS)[0].noise_scale == 1
    check_no_fine_bits(lambda n: release_values(aggregate, blocks_that_say(aggregate, value), n))


def test_the_attack_works_on_numpy():
    noise = np.random.default_rng().laplace(0.0, 1.0, 10_000)
    assert share_of_fine_bits(0.0 + noise) > 0.2
    assert share_of_fine_bits(1.0 + noise) == 0


def test_the_attack_works_on_diffprivlib():
    noise = laplace_unsafe(10_000, epsilon=1.0, sensitivity=1.0)
    assert share_of_fine_bits(noise) > 0.1
