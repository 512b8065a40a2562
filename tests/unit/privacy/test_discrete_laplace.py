import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_finite_law import Scripted, exact_law

from privacy.discrete_laplace import MAX_SCALE, probability, quantile, sample, tail
from privacy.geometric_digits import unbounded

SCALES = [Fraction(1, 50), Fraction(1), Fraction(37, 10), Fraction(27_034), Fraction(3 * 10**9), MAX_SCALE]


TOP = 2**64 - 1


def chance(scale, g):
    """P(G = g) by the exact laws of the digits that the sampler works with."""
    *lower, last = unbounded(scale).digits
    product = exact_law(last.law)[g >> last.shift]
    for digit in lower:
        product *= exact_law(digit.law)[(g >> digit.shift) % (len(digit.law.thresholds) + 1)]
    return product


@pytest.mark.parametrize("scale", SCALES[:5])
def test_product_of_digits_is_the_stated_probability(scale):
    # both signs, without "minus zero": the accepted part of the draws is 1 - P(G = 0)/2
    for z in (0, 1, -1, 2, 5, 100, -1000):
        if abs(z) < 60 * scale:
            expected = chance(scale, abs(z)) / 2 * (2 if z == 0 else 1)
            expected = (expected - (chance(scale, 0) / 2 if z == 0 else 0)) / (1 - chance(scale, 0) / 2)
            assert math.isclose(probability(z, scale), expected, rel_tol=1e-12)


def test_digits_and_sign_are_put_together():
    """Scale 27,034 has two digits; each takes the smallest word that gives 0 and the sign is 1 for minus."""
    low, high = unbounded(Fraction(27_034)).digits
    three = [low.law._leading[-4]]  # above it lie three thresholds
    five = [high.law._leading[-6]]
    for sign, factor in ((0, 1), (255, -1)):
        rest = [[0] * (digit.law.bits // 64 - 1) for digit in (high, low)]
        stream = Scripted(five, rest[0], three, rest[1], [sign])
        # a tie of 64 bits followed by zeros lies below the threshold itself: one more
        assert sample(Fraction(27_034), 1, keystream=stream)[0] == factor * (4 + (6 << high.shift))
        assert not stream.script


def test_minus_zero_is_drawn_again():
    zero, one = [TOP], [unbounded(Fraction(1)).digits[0].law._leading[-1] - np.uint64(1)]
    stream = Scripted(zero, [255], zero, [255], one, [255])
    assert sample(Fraction(1), 1, keystream=stream)[0] == -1
    assert not stream.script


@pytest.mark.parametrize("size", [0, 1, 63, 64, 2**15 + 1])
def test_sample_has_the_size_asked_for(size):
    drawn = sample(Fraction(27_034), size)
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64


def test_tiny_scale_is_all_zeros_and_large_scale_is_wide():
    assert not sample(Fraction(1, 50), 100_000).any()
    assert len(set(sample(Fraction(3 * 10**9), 1000).tolist())) >= 999


SCALES_WITHOUT_MEANING = (
    (Fraction(0), "above zero"),
    (Fraction(-1), "above zero"),
    (Fraction(1, 1025), "no noise"),
    (MAX_SCALE + 1, "64-bit"),
    (0.5, "exact fraction"),
)


USES_OF_A_SCALE = (
    lambda t: sample(t, 1),
    lambda t: tail(1, t),
    lambda t: quantile(0.05, t),
)


def test_scales_without_meaning_are_refused(subtests):
    for scale, reason in SCALES_WITHOUT_MEANING:
        for use in USES_OF_A_SCALE:
            with (
                subtests.test(scale=scale, reason=reason, use=use),
                pytest.raises(ValueError, match=reason),
            ):
                use(scale)


scales = st.fractions(Fraction(1, 50), Fraction(10**12), max_denominator=10**6)


@given(st.integers(0, 60), st.fractions(Fraction(1, 10), 10, max_denominator=100))
def test_tail_is_the_sum_of_probabilities(h, scale):
    inside = sum(probability(z, scale) for z in range(-h, h + 1))
    assert math.isclose(tail(h, scale), 1 - inside, rel_tol=1e-9, abs_tol=1e-14)


@given(st.integers(0, 10**18), scales)
def test_probability_is_symmetric_and_falls(z, scale):
    assert probability(z, scale) == probability(-z, scale) >= probability(z + 1, scale)


def test_tail_far_out_does_not_underflow_early():
    assert math.isclose(tail(700 * 27_034, Fraction(27_034)), math.exp(-700), rel_tol=1e-3)
    assert tail(-1, Fraction(1)) == 1.0
    assert tail(10**18, Fraction(1)) == probability(10**18, Fraction(1)) == 0.0


@settings(max_examples=200)
@given(st.fractions(Fraction(1, 10**9), 1, max_denominator=10**9), scales)
def test_quantile_is_the_smallest_that_is_enough(alpha, scale):
    h = quantile(alpha, scale)
    # floats decide unless the tail is within rounding of alpha
    assert tail(h, scale) <= alpha * (1 + Fraction(1, 10**12))
    assert h == 0 or tail(h - 1, scale) > alpha * (1 - Fraction(1, 10**12))


def test_quantile_is_close_to_the_continuous_one():
    assert math.isclose(quantile(0.05, Fraction(10**9)), 10**9 * math.log(20), rel_tol=1e-8)


@pytest.mark.parametrize("alpha", [0, -0.1, 1.1])
def test_quantile_refuses_other_levels(alpha):
    with pytest.raises(ValueError, match="alpha"):
        quantile(alpha, Fraction(1))
