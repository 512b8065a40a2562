import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_finite_law import exact_law

from privacy import gaussian_digits
from privacy.gaussian_digits import MAX_VARIANCE, MIN_VARIANCE, sample

BASE = 64


@given(st.integers(MIN_VARIANCE, MAX_VARIANCE))
def test_parts_add_up_to_the_variance_and_meet_the_theorem(variance):
    rest, lower = Fraction(variance), 0
    while rest > 2**17:
        rest, lower = (rest - 12 * BASE**2) / BASE**2, lower + 1
    parts = gaussian_digits._parts(variance)
    assert len(parts) == lower + 1 <= 9
    assert rest >= 12
    total = sum(12 * BASE**2 * BASE ** (2 * i) for i in range(lower)) + rest * BASE ** (2 * lower)
    assert total == variance
    assert parts[-1].reach ** 2 >= 18**2 * rest
    assert all(part.reach**2 >= 18**2 * 12 * BASE**2 for part in parts[:-1])


@pytest.mark.parametrize("variance", [Fraction(12), Fraction(12 * BASE**2), Fraction(100_003, 7)])
def test_a_part_has_the_stated_law(variance):
    part = gaussian_digits._part(variance)
    law = exact_law(part.law)
    assert len(law) == 2 * part.reach + 1
    for k in (1, 2, 3, part.reach // 2, part.reach):
        ratio = law[part.reach + k] / law[part.reach]
        with localcontext(Context(prec=80)):
            exponent = Fraction(-k * k) / (2 * variance)
            exact = (Decimal(exponent.numerator) / exponent.denominator).exp()
        assert abs(ratio / Fraction(exact) - 1) < Fraction(1, 2**150)
        assert abs(law[part.reach - k] / law[part.reach + k] - 1) < Fraction(1, 2**150)


def test_the_sum_of_two_parts_has_the_law_of_the_theorem():
    """Y + B W by exact convolution against exp(-x^2/2v), v = 12 B^2 + 20 B^2, where B = 8 keeps it small."""
    base, low, high = 8, 12 * 8**2, 20
    y = {k: math.exp(-k * k / (2 * low)) for k in range(-700, 701)}
    w = {k: math.exp(-k * k / (2 * high)) for k in range(-120, 121)}
    total = low + base**2 * high

    def weight(x):
        return math.fsum(w[k] * y[x - base * k] for k in w if x - base * k in y)

    for x in (1, 5, 8, 33, 100, 250):
        expected = math.exp(-x * x / (2 * total))
        assert math.isclose(weight(x) / weight(0), expected, rel_tol=1e-12)


@pytest.mark.parametrize("size", [0, 1, 63, 2**15 + 1])
def test_sizes(size):
    drawn = sample(2**40, size)
    assert (drawn.shape, drawn.dtype) == ((size,), np.int64)


def test_variances_are_refused(subtests):
    for variance in (11, 0, -5, 2**100 + 1, 100.0, True, Fraction(100)):
        with subtests.test(variance=variance), pytest.raises(ValueError, match="variance"):
            sample(variance, 1)
