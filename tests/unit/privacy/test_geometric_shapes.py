"""How many digits a magnitude has, how many bits each probability, and where it no longer fits."""

import math
from fractions import Fraction
from types import SimpleNamespace

import mpmath
import numpy as np
import pytest

from privacy.geometric_digits import Digit, GeometricDigits, _precision, below, exp_fraction, unbounded
from privacy.keystream import Keystream

DIGITS_REACH_45_SCALES_IN_AS_FEW_DIGITS_AS_11_BITS_ALLOW = (
    (Fraction(1, 1024), 1),
    (Fraction(1, 45), 1),
    (Fraction(2, 45), 2),
    (Fraction(2047, 45), 11),
    (Fraction(2048, 45), 12),
    (Fraction(2**22 - 1, 45), 22),
    (Fraction(2**22, 45), 23),
    (Fraction(2**48), 54),
)


def test_digits_reach_45_scales_in_as_few_digits_as_11_bits_allow(subtests):
    for scale, bits in DIGITS_REACH_45_SCALES_IN_AS_FEW_DIGITS_AS_11_BITS_ALLOW:
        with subtests.test(scale=scale, bits=bits):
            digits = unbounded(scale).digits
            count = math.ceil(bits / 11)
            assert [digit.shift for digit in digits] == [index * bits // count for index in range(count)]
            assert len(digits[-1].law.thresholds) == 2 ** (bits - digits[-1].shift)


BITS_OF_A_PROBABILITY = (
    (0, 192),
    (30, 192),
    (Fraction(92, 3), 192),
    (Fraction(94, 3), 256),
    (32, 256),
    (73, 256),
    (74, 320),
)


def test_bits_of_a_probability(subtests):
    """64 for each begun 64 of 18 + 3/2 span, and 128 on top."""
    for span, bits in BITS_OF_A_PROBABILITY:
        with subtests.test(span=span, bits=bits):
            assert _precision(Fraction(span)) == bits


def test_every_digit_has_the_bits_of_its_magnitude():
    assert {digit.law.bits for digit in unbounded(Fraction(27_034)).digits} == {
        _precision(Fraction(2**21, 27_034))
    }
    assert {digit.law.bits for digit in below(Fraction(100), 5, 13).digits} == {
        _precision(Fraction(5 * 2**13, 100))
    }


def drawing(*digits):
    """A last digit of 4 values, open-ended, that is drawn as these."""
    script = list(digits)
    law = SimpleNamespace(
        thresholds=(1, 1, 1), draw=lambda n, *, stream: np.full(n, script.pop(0), np.uint16)
    )
    return GeometricDigits((Digit(law, 60),), unbounded=True)


def test_one_of_several_that_does_not_fit_is_an_error():
    with pytest.raises(OverflowError, match="64 bits"):
        drawing(3, np.array([0, 1, 0])).draw(3, stream=Keystream())


def test_a_magnitude_below_two_to_the_62_fits():
    assert drawing(3, 0).draw(1, stream=Keystream()).tolist() == [3]


@pytest.mark.parametrize("rest", [1, 2])
def test_one_of_two_to_the_62_does_not(rest):
    with pytest.raises(OverflowError, match="64 bits"):
        drawing(3, rest).draw(1, stream=Keystream())


@pytest.mark.parametrize("exponent", [Fraction(-(10**4)), Fraction(-1, 3), Fraction(2), Fraction(10**4)])
@pytest.mark.parametrize("bits", [64, 1000])
def test_an_exponential_is_right_to_the_last_bit(exponent, bits):
    with mpmath.workprec(17_000):
        exact = mpmath.floor(mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator) * 2**bits)
        assert exp_fraction(exponent, bits=bits) - int(exact) in (0, 1)
