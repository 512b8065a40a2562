import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from test_finite_law import Scripted, exact_law

from privacy.geometric_digits import below, exp_fraction, unbounded
from privacy.keystream import Keystream

SCALES = [
    Fraction(1, 1024),
    Fraction(1, 50),
    Fraction(1),
    Fraction(37, 10),
    Fraction(27_034),
    Fraction(3 * 10**9),
    Fraction(2**48),
]
TOP = 2**64 - 1


def ratio_of(scale, shift):
    """exp(-2^shift/scale), to 2^-4000."""
    return Fraction(exp_fraction(Fraction(-(2**shift)) / scale, bits=4000), 2**4000)


@pytest.mark.parametrize("scale", SCALES)
def test_digits_of_an_unbounded_magnitude_have_the_stated_laws(scale):
    """Neighbouring values of a digit have the ratio exp(-2^shift/t), to more than 120 bits."""
    digits = unbounded(scale).digits
    for digit in digits:
        law, ratio = exact_law(digit.law), ratio_of(scale, digit.shift)
        counted = law[:-1] if digit is digits[-1] else law
        for one, after in pairwise(counted):
            assert abs(after / (one * ratio) - 1) < Fraction(1, 2**120)
    overflow = exact_law(digits[-1].law)[-1]
    assert 0 < overflow <= Fraction(1, 2**64)
    exact = ratio_of(scale, digits[-1].shift) ** (len(digits[-1].law.thresholds))
    assert abs(overflow / exact - 1) < Fraction(1, 2**120)


def test_digits_cover_all_bits_once(subtests):
    for scale in SCALES:
        with subtests.test(scale=scale):
            digits = unbounded(scale).digits
            for one, after in pairwise(digits):
                assert len(one.law.thresholds) + 1 == 2 ** (after.shift - one.shift)
            assert digits[0].shift == 0
            assert all(len(digit.law.thresholds) <= 2**11 for digit in digits)


@pytest.mark.parametrize(
    ("scale", "cells", "shift"),
    [(Fraction(3), 5, 0), (Fraction(10**6), 1500, 12), (Fraction(10**12), 2048, 25), (Fraction(7), 1030, 3)],
)
def test_digits_of_a_bounded_magnitude(scale, cells, shift):
    magnitude = below(scale, cells, shift)
    *lower, last = magnitude.digits
    assert len(last.law.thresholds) + 1 == cells
    assert last.shift == shift
    assert math.prod(len(digit.law.thresholds) + 1 for digit in lower) == 2**shift
    for digit in magnitude.digits:
        law, ratio = exact_law(digit.law), ratio_of(scale, digit.shift)
        for one, after in pairwise(law):
            assert abs(after / (one * ratio) - 1) < Fraction(1, 2**120)
    drawn = magnitude.draw(10_000, stream=Keystream())
    assert 0 <= drawn.min() <= drawn.max() < cells << shift


@pytest.mark.parametrize("times", [1, 2, 5])
def test_more_than_the_last_digit_holds_goes_on_from_there(times):
    magnitude = unbounded(Fraction(27_034))
    *_, last = magnitude.digits
    # the least threshold, 2^-68, begins with 64 zeros: zeros tie with it, and the zeros that follow decide
    goes_on = [[0], [0] * (last.law.bits // 64 - 1)]
    stream = Scripted(*goes_on * times, [TOP], [TOP])
    assert magnitude.draw(1, stream=stream).tolist() == [times * len(last.law.thresholds) << last.shift]
    assert not stream.script


class Zeros(Keystream):
    def words(self, n, dtype):
        return np.zeros(n, dtype)


@pytest.mark.parametrize("n", [1, 100])
def test_a_draw_beyond_64_bits_is_an_error(n):
    with pytest.raises(OverflowError, match="64 bits"):
        unbounded(Fraction(2**48)).draw(n, stream=Zeros())


@pytest.mark.parametrize("exponent", [Fraction(-5, 7), Fraction(-700), Fraction(-1, 10**9)])
def test_exp_fraction(exponent):
    assert math.isclose(exp_fraction(exponent, bits=2000) / 2**2000, math.exp(exponent), rel_tol=1e-13)
