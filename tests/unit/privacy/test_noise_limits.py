"""Where the noise samplers begin to refuse, and the shapes that their proofs rest on."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from privacy import discrete_gaussian, discrete_laplace, fast_laplace, gaussian_tail
from privacy.bounded_noise import BoundedNoise, least_length
from privacy.cost import ATTO
from privacy.finite_law import FiniteLaw
from privacy.keystream import REKEY_AFTER_BYTES, Keystream

MICRO = 10**6
TINY = Fraction(1, 10**9)


@pytest.mark.parametrize("scale", [Fraction(1, 1024), Fraction(2**48)])
def test_the_ends_of_discrete_laplace(scale):
    assert discrete_laplace.sample(scale, 3).shape == (3,)
    inwards = 1 + TINY if scale < 1 else 1 - TINY
    assert discrete_laplace.check_scale(scale * inwards) == scale * inwards
    with pytest.raises(ValueError, match="noise scale is"):
        discrete_laplace.check_scale(scale * (2 - inwards))


@pytest.mark.parametrize("variance", [Fraction(1, 1024), Fraction(2**90)])
def test_the_ends_of_discrete_gaussian(variance):
    assert discrete_gaussian.sample(variance, 3).shape == (3,)
    outwards = 1 - TINY if variance < 1 else 1 + TINY
    with pytest.raises(ValueError, match="the variance is"):
        discrete_gaussian.check_variance(variance * outwards)


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(2**32)])
def test_the_ends_of_the_fast_variant(scale):
    assert fast_laplace.sample(scale, 3).shape == (3,)
    outwards = 1 - TINY if scale == 1 else 1 + TINY
    with pytest.raises(ValueError, match="exact variant"):
        fast_laplace.sample(scale * outwards, 3)


def test_the_price_of_the_fast_variant_is_in_its_scale():
    one, half = (fast_laplace.price(MICRO, scale)[1] for scale in (Fraction(5), Fraction(5, 2)))
    assert one == pytest.approx(2 * half, abs=1)
    with pytest.raises(ValueError, match=r"above 0\.01"):
        fast_laplace.price(11 * MICRO, Fraction(2**32))
    # 210 (1 + e^10.82) 2^-30 = 0.0098
    assert fast_laplace.price(10_800_000, Fraction(2**32))[1] < ATTO // 100


def test_nothing_is_beyond_a_tail_of_probability_one():
    assert discrete_laplace.quantile(Fraction(1), Fraction(1_000)) == 0
    assert discrete_laplace.quantile(1, Fraction(1, 1024)) == 0


def test_a_key_is_used_for_a_gibibyte():
    """The figure in the bound on what AES output gives away: 2^26 blocks."""
    assert REKEY_AFTER_BYTES == 2**26 * 16


def test_bounded_noise_reaches_as_far_as_the_theorem_asks_and_hardly_further(subtests):
    """A + 1 = cells 2^shift with 2^11 cells at most, as `below` needs, and over 2^10 where it is rounded."""
    for sensitivity in (1, 3, 1_000, 2**20, 2**40):
        for micro_epsilon in (10_000, MICRO, 10 * MICRO):
            for atto_delta in (1, ATTO // 10**6, ATTO // 100):
                with subtests.test(
                    sensitivity=sensitivity, micro_epsilon=micro_epsilon, atto_delta=atto_delta
                ):
                    noise = BoundedNoise(sensitivity, micro_epsilon, atto_delta)
                    needed = max(2, least_length(noise.scale, sensitivity, atto_delta))
                    cells, shift = noise._shape
                    assert noise.bound + 1 == cells * 2**shift
                    assert (cells - 1) * 2**shift < needed <= cells * 2**shift
                    assert 2 <= cells <= 2**11
                    assert shift == 0 or cells > 2**10
                    assert noise.bound >= sensitivity


def test_the_narrowest_and_the_widest_bounded_noise():
    assert BoundedNoise(1, 10 * MICRO, ATTO // 100).bound == 1
    assert BoundedNoise(2**48, MICRO, ATTO // 100).scale == 2**48
    with pytest.raises(ValueError, match="noise scale"):
        BoundedNoise(2**48 + 1, MICRO, ATTO // 100)


def test_tails_are_computed_to_sixty_four_digits():
    with localcontext(Context(prec=64)):
        assert gaussian_tail.upper_tail(Decimal(0)) == Decimal("0.5")
    with localcontext(Context(prec=65)), pytest.raises(ValueError, match="to 64 digits"):
        gaussian_tail.upper_tail(Decimal(0))


def test_fast_noise_is_rounded_to_the_nearest_integer():
    """Over many words: +-t ln u, the magnitude to the nearest and never towards zero."""

    class Kept(Keystream):
        def words(self, n, dtype):
            self.kept = super().words(n, dtype)
            return self.kept.copy()

    stream = Kept()
    drawn = fast_laplace.sample(Fraction(7), 2_000, keystream=stream)
    signed = (stream.kept | np.uint64(1)).view(np.int64).astype(np.float64)
    exact = -7 * np.log(np.abs(signed) * 2.0**-63)
    assert np.abs(np.abs(drawn) - exact).max() <= 0.5 + 1e-9


def test_what_a_finite_law_is():
    """Thresholds ascend, equal ones stand for a value that never occurs; at least 128 bits."""
    assert FiniteLaw((3, 3, 9), 128).thresholds == (3, 3, 9)
    assert FiniteLaw((1,), 128).bits == 128
    for thresholds, bits in [
        ((5, 3, 9), 128),
        ((0, 3), 128),
        ((3, 2**128), 128),
        ((3,), 64),
        ((3,), 129),
        ((), 128),
    ]:
        with pytest.raises(ValueError, match=r"thresholds ascend|a law has"):
            FiniteLaw(thresholds, bits)
