"""Low bits give a float away, and nothing about a release of ours."""

import math

import numpy as np
import pytest

from companions.lab.attacks.floating_point import has_fine_bits, is_reachable, lowest_bits, reachable_share
from companions.lab.chapters.floating_point import (
    BLOCKS,
    diffprivlib_pair,
    fine_bits,
    mironov_on_numpy,
    numpy_pair,
    our_pair,
)
from companions.lab.simulation import seeded
from privacy.grid import OutputGrid


@pytest.mark.parametrize("epsilon", [1.0, 0.1])
def test_mironov_on_numpy(epsilon):
    """Every output is reachable from its own value, hardly a fifth from the other: 80 % are identified."""
    generator = seeded(1, "mironov")
    zero, one = numpy_pair(epsilon, 2_000, generator)
    assert reachable_share(zero, location=0.0, scale=1 / epsilon) == 1
    assert reachable_share(one, location=1.0, scale=1 / epsilon) == 1
    hits = mironov_on_numpy(epsilon, 2_000, generator)
    # 5 standard errors of a share of 0.8 among 2,000 are 0.045
    assert 0.75 < hits.of_zero < 0.87
    assert 0.75 < hits.of_one < 0.87


def test_outputs_beyond_all_noise_are_unreachable():
    assert not is_reachable(60.0, location=0.0, scale=1.0)
    assert not is_reachable(-60.0, location=0.0, scale=1.0)
    assert is_reachable(math.log(0.5), location=0.0, scale=1.0)


@pytest.mark.parametrize(("epsilon", "share"), [(1.0, 0.2076), (0.3, 0.0857)])
def test_fine_bits_of_diffprivlib(epsilon, share):
    pair = diffprivlib_pair(epsilon, 20_000)
    assert fine_bits(pair).of_zero == pytest.approx(share, abs=5 * math.sqrt(share / 20_000))
    assert not has_fine_bits(pair[1]).any()


def test_fine_bits_of_numpy():
    assert fine_bits(numpy_pair(1.0, 5_000, seeded(1, "fine"))).worst > 0.2


@pytest.mark.parametrize("epsilon", [1.0, 0.1])
def test_no_release_of_ours_is_told_apart_by_its_bits(epsilon):
    """All releases of both values are whole multiples of one public step: any can come from either."""
    zero, one = our_pair(epsilon, 2_000)
    step = float(OutputGrid.build(-1, 2).step)
    assert fine_bits((zero, one)).worst == 0
    for values in (zero, one):
        assert np.array_equal(values / step, np.round(values / step))
        assert lowest_bits(values[values != 0]).min() >= math.log2(step)
    assert BLOCKS == 3


def test_fine_bits_tell_nothing_where_both_values_have_them():
    fine = np.array([2.0**-60])
    assert fine_bits((fine, fine)).worst == 0


def test_lowest_bits_are_exact():
    values = np.array([1.0, 3.0, 0.75, 2.0**-60, -(2.0**-53), 6.0])
    assert lowest_bits(values).tolist() == [0, 0, -2, -60, -53, 1]
    assert has_fine_bits(values).tolist() == [False, False, False, True, False, False]
