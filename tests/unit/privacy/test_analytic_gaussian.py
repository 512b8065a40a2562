import math
from decimal import Context, Decimal, localcontext

import mpmath
import numpy as np
import pytest

from privacy.analytic_gaussian import AnalyticGaussian, delta_at_most, tail_bounds
from privacy.cost import ATTO
from privacy.gaussian_tail import upper_tail


def tail_by_sum(first, variance):
    """P(Z >= first) of a discrete Gaussian, term by term."""
    reach = 40 * math.isqrt(variance) + 40
    weights = [math.exp(-k * k / (2 * variance)) for k in range(-reach, reach + 1)]
    return math.fsum(weights[first + reach :]) / math.fsum(weights)


def test_tail_bounds_hold(subtests):
    for variance in (12, 50, 1000):
        for deviations in (-2, -0.5, 0, 0.3, 0.9, 1.1, 2, 5):
            with subtests.test(variance=variance, deviations=deviations):
                first = round(deviations * variance**0.5)
                low, high = tail_bounds(first, variance)
                exact = tail_by_sum(first, variance)
                assert low <= exact * (1 + 1e-12)
                assert exact * (1 - 1e-12) <= high
                assert high - low < Decimal("0.25") / variance


@pytest.mark.parametrize("micro_epsilon", [1_000, 100_000, 1_000_000, 10_000_000])
@pytest.mark.parametrize("atto_delta", [ATTO // 100, ATTO // 10**5])
def test_delta_by_definition_on_a_small_grid(micro_epsilon, atto_delta):
    """Hockey stick of the discrete Gaussian against itself moved by the sensitivity, term by term."""
    noise = AnalyticGaussian(64, micro_epsilon, atto_delta)
    epsilon, delta = micro_epsilon / 1e6, atto_delta / ATTO
    reach = 12 * math.isqrt(noise.variance) + 200
    k = np.arange(-reach, reach + 1)
    law = np.exp(-(k**2) / (2 * noise.variance))
    for shift in (64, 33, 1):
        moved = np.exp(-((k + shift) ** 2) / (2 * noise.variance))
        assert np.maximum(0, law - math.exp(epsilon) * moved).sum() / law.sum() <= delta
    # and it is no wider than the grid's coarseness asks for
    assert delta_at_most(int(0.99 * noise.variance) - 1, sensitivity=64, micro_epsilon=micro_epsilon) > delta


def test_same_as_the_continuous_calibration_on_a_fine_grid(subtests):
    """Balle and Wang 2018, Theorem 8, evaluated in 60 digits."""
    for epsilon in (0.001, 0.1, 1, 10, 30):
        for delta in (1e-2, 1e-6, 1e-12):
            with subtests.test(epsilon=epsilon, delta=delta):
                noise = AnalyticGaussian(2**20, round(epsilon * 1e6), round(delta * ATTO))
                with mpmath.workdps(60):
                    s = mpmath.sqrt(noise.variance) / 2**20
                    e = mpmath.mpf(round(epsilon * 1e6)) / 10**6
                    cdf = mpmath.ncdf
                    found = cdf(-e * s + 1 / (2 * s)) - mpmath.exp(e) * cdf(-e * s - 1 / (2 * s))
                    assert 0.999 * delta < found <= delta * (1 + mpmath.mpf(10) ** -9)


PLACES_OF_TAILS = ("-20", "-3.5", "-0.001", "0", "0.5", "1", "7.25", "13.4", "20")


def test_upper_tail(subtests):
    for x in PLACES_OF_TAILS:
        for digits in (20, 60):
            with subtests.test(x=x, digits=digits):
                with localcontext(Context(prec=digits)):
                    found = upper_tail(Decimal(x))
                with mpmath.workdps(120):
                    exact = mpmath.erfc(mpmath.mpf(x) / mpmath.sqrt(2)) / 2
                    assert abs(mpmath.mpf(str(found)) / exact - 1) < mpmath.mpf(10) ** (3 - digits)


@pytest.mark.parametrize(("x", "digits"), [("20.1", 20), ("-21", 20), ("1", 65)])
def test_upper_tail_refuses_what_it_cannot_do(x, digits):
    with localcontext(Context(prec=digits)), pytest.raises(ValueError, match="20 standard"):
        upper_tail(Decimal(x))


PARAMETERS_ARE_REFUSED = (
    (63, 10**6, 10**9, "64 to"),
    (2**32 + 1, 10**6, 10**9, "64 to"),
    (100.0, 10**6, 10**9, "64 to"),
    (True, 10**6, 10**9, "64 to"),
    (100, 30_000_001, 10**9, "at most 30"),
    (100, 999, 10**9, "epsilon"),
    (100, 10**6, 0, "delta"),
    (100, 10**6, ATTO // 99, "at most 0.01"),
)


def test_parameters_are_refused(subtests):
    for sensitivity, micro_epsilon, atto_delta, reason in PARAMETERS_ARE_REFUSED:
        with (
            subtests.test(
                sensitivity=sensitivity, micro_epsilon=micro_epsilon, atto_delta=atto_delta, reason=reason
            ),
            pytest.raises(ValueError, match=reason),
        ):
            AnalyticGaussian(sensitivity, micro_epsilon, atto_delta)
