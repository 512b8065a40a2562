import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.discrete_gaussian import (
    MAX_VARIANCE,
    MIN_VARIANCE,
    bernoulli_exp,
    ceil_sqrt,
    half_width,
    sample,
)
from privacy.keystream import Keystream


@pytest.mark.parametrize("size", [0, 1, 50])
def test_sample_has_the_size_and_type_asked_for(size):
    drawn = sample(Fraction(7), size, keystream=Keystream())
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64


@pytest.mark.parametrize("variance", [MIN_VARIANCE, Fraction(22, 7), Fraction(2**68 + 1, 3), MAX_VARIANCE])
def test_spread_is_that_of_the_parameter(variance):
    drawn = sample(variance, 2_000) / math.sqrt(variance)
    # a Gaussian sample's mean square is within 6 standard errors; far below one unit nearly all draws are 0
    assert np.mean(drawn**2) < 1 + 6 * math.sqrt(2 / len(drawn))
    if variance >= 1:
        assert np.mean(drawn**2) > 1 - 6 * math.sqrt(2 / len(drawn))
        assert abs(np.mean(drawn)) < 6 / math.sqrt(len(drawn))


@pytest.mark.parametrize(
    ("variance", "reason"),
    [(1.5, "exact"), (0, "below"), (-1, "below"), (Fraction(1, 1025), "below"), (2**90 + 1, "beyond")],
)
def test_variances_are_refused(variance, reason):
    with pytest.raises(ValueError, match=reason):
        sample(variance, 1)


@given(st.fractions(min_value=MIN_VARIANCE, max_value=50, max_denominator=2000))
def test_half_widths_hold_and_are_not_a_unit_too_wide(variance):
    reach = np.arange(-400, 401)
    law = np.exp(-(reach.astype(float) ** 2) / (2 * float(variance)))
    law /= law.sum()
    for alpha in (Fraction(1, 20), Fraction(1, 100)):
        width = half_width(variance, alpha=alpha)
        assert law[np.abs(reach) > width].sum() <= float(alpha) * (1 + 1e-9)
        assert law[np.abs(reach) > width - 2].sum() > float(alpha) * (1 - 1e-9) or width < 2


def test_half_widths_are_known_at_two_levels():
    assert half_width(Fraction(10**12), alpha=Fraction(1, 20)) == 1_959_970
    assert half_width(Fraction(10**12), alpha=Fraction(1, 100)) == 2_575_830
    with pytest.raises(ValueError, match="1/20 or 1/100"):
        half_width(Fraction(1), alpha=Fraction(1, 10))


@given(st.fractions(min_value=0, max_value=10**30))
def test_ceil_sqrt(value):
    root = ceil_sqrt(value)
    assert root**2 >= value
    assert root == 0 or (root - 1) ** 2 < value


def test_certain_and_nearly_impossible_coins():
    stream = Keystream()
    assert all(bernoulli_exp(0, 1, stream=stream) for _ in range(100))
    assert not any(bernoulli_exp(60, 1, stream=stream) for _ in range(100))
