from fractions import Fraction

import pytest

from privacy import discrete_laplace
from privacy.noise import GaussianNoise, LaplaceNoise

TWENTIETH = Fraction(1, 20)


def test_laplace():
    noise = LaplaceNoise(Fraction(50))
    assert noise.variance == 5_000
    assert noise.half_width(TWENTIETH) == discrete_laplace.quantile(TWENTIETH, Fraction(50))
    assert abs(noise.draw(1_000).mean()) < 6 * 71 / 1_000**0.5


def test_gaussian():
    noise = GaussianNoise(Fraction(2_500))
    assert noise.scale == 50
    assert noise.half_width(TWENTIETH) == 98
    assert abs(noise.draw(1_000).mean()) < 6 * 50 / 1_000**0.5


def test_an_irrational_standard_deviation_is_stated_no_smaller():
    scale = GaussianNoise(Fraction(2)).scale
    assert scale**2 >= 2 > (scale - Fraction(1, 1024)) ** 2


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(2**49), 1.5])
def test_scales_that_cannot_be_drawn_are_refused_at_once(scale):
    with pytest.raises(ValueError, match="scale"):
        LaplaceNoise(scale)


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(2**91), 1.5])
def test_variances_that_cannot_be_drawn_are_refused_at_once(variance):
    with pytest.raises(ValueError, match="variance"):
        GaussianNoise(variance)


def test_a_standard_deviation_is_stated_to_a_thousandth_and_rounded_up():
    assert GaussianNoise(Fraction(2)).scale == Fraction(1449, 1024)
