import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from privacy import fast_laplace
from privacy.cost import ATTO
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.perturbation import RecordPerturbation
from privacy.perturbation.snapping import Snapping


class Fixed(Keystream):
    """Serves these 64-bit words."""

    def __init__(self, words):
        self.served = np.asarray(words, np.uint64)

    def words(self, n, dtype):
        assert (n, dtype) == (self.served.size, np.uint64)
        return self.served.copy()


def test_a_word_becomes_the_stated_noise():
    """Positive where the sign bit is set; u = (magnitude, lowest bit set)/2^63."""
    words = [2**62, 2**64 - 2**62, 1, 2**63 - 1, 0, 2**40]
    drawn = fast_laplace.sample(Fraction(1000), len(words), keystream=Fixed(words))
    expected = [-math.log(2), math.log(2), -63 * math.log(2), 0, -63 * math.log(2), -23 * math.log(2)]
    assert drawn.tolist() == [round(1000 * value) for value in expected]


def test_the_logarithm_is_as_exact_as_the_proof_assumes():
    """numpy's log, which is chosen by the processor, is within 4 units in the last place."""
    words = np.concatenate(
        [np.arange(1, 2000), 2**62 - np.arange(1, 2000), np.random.default_rng(1).integers(1, 2**62, 4000)]
    )
    u = (2 * words.astype(object) + 1).astype(np.float64) * 2.0**-63
    with mpmath.workdps(40):
        for value, log in zip(u.tolist(), np.log(u).tolist(), strict=True):
            exact = mpmath.log(value)
            assert abs(log - exact) <= 4 * math.ulp(float(exact))


def test_price_adds_two_hundredths_and_the_stated_delta():
    micro_epsilon, atto_delta = fast_laplace.price(1_000_000, Fraction(27_034))
    assert micro_epsilon == 1_020_000
    exact = 210 * (1 + math.exp(1.02)) * 27_034 / 2**62
    assert exact < atto_delta / ATTO < exact * (1 + 1e-6)


def test_an_epsilon_without_a_price_is_refused():
    with pytest.raises(ValueError, match="exact variant"):
        fast_laplace.price(40_000_000, Fraction(2**20, 40))


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(2**32 + 1)])
def test_scales_beyond_the_proof_are_refused(scale):
    with pytest.raises(ValueError, match="exact variant"):
        fast_laplace.sample(scale, 1)
    with pytest.raises(ValueError, match="exact variant"):
        fast_laplace.price(1_000_000, scale)


class Repeating(Keystream):
    """The same words again for everybody who holds a new one."""

    def __init__(self):
        self.generator = np.random.default_rng(7)

    def words(self, n, dtype):
        return self.generator.integers(0, 2**64, n, dtype)


def test_whole_numbers_kept_as_floats_get_the_very_same_noise(subtests):
    for scale in (Fraction(27_034), Fraction(2**32)):
        for middle in (0, 2**52, -(2**52)):
            with subtests.test(scale=scale, middle=middle):
                units = np.arange(2**15 + 3) % 1000 + (middle - 999 if middle > 0 else middle)
                floats = units.astype(np.float64)
                fast_laplace.add_to(floats, scale, keystream=Repeating())
                units += fast_laplace.sample(scale, units.size, keystream=Repeating())
                assert floats.astype(np.int64).tolist() == units.tolist()


def test_noise_of_the_process_is_added_too():
    units = np.zeros(1000)
    fast_laplace.add_to(units, Fraction(10**6))
    assert np.count_nonzero(units) > 900
    assert (units == np.rint(units)).all()


@pytest.mark.parametrize("bounds", [("-13.1", "13.4"), ("1e6", "1000001"), (0.1, 0.3), (2**40, 2**40 + 1)])
def test_a_perturbed_array_is_the_same_by_either_route(bounds, monkeypatch):
    """By floats, and through integers as every other law."""
    grid = OutputGrid.build(*bounds)
    values = np.random.default_rng(3).uniform(float(grid.lower) - 1, float(grid.upper) + 1, 2**15 + 5)

    def released():
        perturbation = RecordPerturbation(grid, "laplace", micro_epsilon=1_000_000, fast=True)
        return perturbation.perturb(values, keystream=Repeating()).tolist()

    by_floats = released()
    monkeypatch.setattr(Snapping, "fits_floats", False)
    assert released() == by_floats
    assert min(by_floats) < grid.lower < grid.upper < max(by_floats)


def test_bounds_that_are_no_floats_are_kept_by_integers():
    grid = OutputGrid.build("1000000000.0001", "1000000000.0011")
    values = np.array([float(grid.lower) - 1, float(grid.upper) + 1])
    perturbation = RecordPerturbation(grid, "laplace", micro_epsilon=1_000_000, fast=True)
    released = perturbation.perturb(values, keystream=Repeating())
    noise = perturbation.noise.sample(2, keystream=Repeating()).tolist()
    expected = [grid.lower + grid.step * noise[0], grid.upper + grid.step * noise[1]]
    assert released.tolist() == [float(value) for value in expected]


def test_a_grid_that_floats_do_not_hold_goes_through_integers():
    assert Snapping(OutputGrid.build(-(2**30), 2**30)).fits_floats
    far = OutputGrid.build(2**40, 2**40 + 1)
    assert far.lower / far.step == 2**60
    assert not Snapping(far).fits_floats


@pytest.mark.parametrize("size", [0, 1, 2**15 + 1])
def test_sizes(size):
    drawn = fast_laplace.sample(Fraction(100), size)
    assert (drawn.shape, drawn.dtype) == ((size,), np.int64)
