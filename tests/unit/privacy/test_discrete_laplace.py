import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privacy.discrete_laplace import (
    MAX_SCALE,
    MIN_SCALE,
    _thresholds,
    probability,
    quantile,
    sample,
    tail,
)
from privacy.keystream import Keystream

SCALES = [Fraction(1, 50), Fraction(1), Fraction(37, 10), Fraction(27_034), Fraction(3 * 10**9), MAX_SCALE]


class Scripted(Keystream):
    """Serves prepared words instead of random ones; every request must be the next one in the script."""

    def __init__(self, *script):
        self.script = list(script)

    def words(self, n, dtype):
        prepared = np.asarray(self.script.pop(0), dtype)
        assert prepared.size == n
        return prepared


def probabilities(scale):
    """The Bernoulli probabilities that the sampler works with, as exact fractions."""
    thresholds = _thresholds(scale)
    exact = []
    for leading, following in zip(thresholds.leading, thresholds.following, strict=True):
        units = int(leading[0])
        for word in following:
            units = units * 2**64 + int(word)
        exact.append(Fraction(units, 2 ** (16 + 64 * len(following))))
    return exact


@pytest.mark.parametrize("scale", [MIN_SCALE, *SCALES])
def test_thresholds_square_from_bit_to_bit(scale):
    """odds(p_i) = exp(-2^i/t): each is the square of the one before, and the overflow squares the last."""
    *bits, overflow = probabilities(scale)
    odds = [p / (1 - p) for p in bits] + [overflow]
    assert math.isclose(odds[0], math.exp(-1 / scale), rel_tol=1e-12, abs_tol=1e-300)
    for lower, higher in pairwise(odds):
        assert abs(higher / lower**2 - 1) < Fraction(1, 2**125)


@pytest.mark.parametrize("scale", [MIN_SCALE, *SCALES])
def test_overflow_is_rarer_than_2_to_the_minus_64_and_keeps_128_bits(scale):
    *_, overflow = probabilities(scale)
    precision = 16 + 64 * _thresholds(scale).following.shape[1]
    assert precision >= 272
    assert Fraction(2) ** (128 - precision) < overflow < Fraction(1, 2**64)


@pytest.mark.parametrize("scale", SCALES[:5])
def test_product_of_bit_probabilities_is_the_stated_probability(scale):
    *bits, overflow = probabilities(scale)

    def geometric(g):
        chance = 1 - overflow
        for i, p in enumerate(bits):
            chance *= p if g >> i & 1 else 1 - p
        return chance

    # both signs, without "minus zero": the accepted part of the draws is 1 - P(G = 0)/2
    for z in (0, 1, -1, 2, 5, 100, -1000):
        if abs(z) < 2 ** len(bits):
            expected = geometric(abs(z)) / 2 / (1 - geometric(0) / 2)
            assert math.isclose(probability(z, scale), expected, rel_tol=1e-12)


def test_a_tie_is_decided_by_the_following_words():
    thresholds = _thresholds(Fraction(1))
    rows = len(thresholds.leading)
    never = np.full(rows, 65_535)
    tied = never.copy()
    tied[1] = thresholds.leading[1, 0]
    second, third = int(thresholds.following[1, 0]), int(thresholds.following[1, 1])
    plus, scale = [0], Fraction(1)
    below = Scripted(tied, [second - 1], plus)
    above = Scripted(tied, [second + 1], plus)
    later = Scripted(tied, [second], [third - 1], plus)
    equal = Scripted(tied, *[[word] for word in thresholds.following[1]], plus)
    drawn = [sample(scale, 1, keystream=stream)[0] for stream in (below, above, later, equal)]
    assert drawn == [2, 0, 2, 0]
    assert not any(stream.script for stream in (below, above, later, equal))


def test_a_tie_belongs_to_the_lane_it_happened_in():
    thresholds = _thresholds(Fraction(1))
    n = 100  # enough for the path that assembles bytes
    words = np.full((len(thresholds.leading), n), 65_535)
    words[2, 70] = thresholds.leading[2, 0]
    words[0, 71] = 0
    stream = Scripted(words.ravel(), [0], np.zeros(13))
    drawn = sample(Fraction(1), n, keystream=stream)
    assert (drawn[70], drawn[71], np.count_nonzero(drawn)) == (4, 1, 2)


def test_overflow_counts_further_blocks():
    scale = Fraction(27_034)
    thresholds = _thresholds(scale)
    bits = len(thresholds.leading) - 1
    # exp(-2^21/t) = 2^-112: its first 16 + 64 bits are zero, so a success is two ties and then a smaller word
    assert (thresholds.leading[-1, 0], thresholds.following[-1, 0]) == (0, 0)
    tie, success, failure, minus = [0], [[0], [0]], [1], [255]
    words = np.full(bits + 1, 65_535)
    words[0], words[-1] = 0, 0
    stream = Scripted(words, *success, tie, *success, tie, *success, failure, minus)
    assert sample(scale, 1, keystream=stream)[0] == -(3 * 2**bits + 1)
    assert not stream.script


def test_minus_zero_is_drawn_again():
    rows = len(_thresholds(Fraction(1)).leading)
    zero = np.full(rows, 65_535)
    one = zero.copy()
    one[0] = 0
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


@pytest.mark.parametrize(
    ("scale", "reason"),
    [
        (Fraction(0), "above zero"),
        (Fraction(-1), "above zero"),
        (Fraction(1, 1025), "no noise"),
        (MAX_SCALE + 1, "64-bit"),
        (0.5, "exact fraction"),
    ],
)
@pytest.mark.parametrize("use", [lambda t: sample(t, 1), lambda t: tail(1, t), lambda t: quantile(0.05, t)])
def test_scales_without_meaning_are_refused(scale, reason, use):
    with pytest.raises(ValueError, match=reason):
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
