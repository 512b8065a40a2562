"""How far the certified bounds lie from what they bound, and where the search for the variance ends."""

from decimal import Context, Decimal, localcontext

import mpmath
import pytest

from privacy import analytic_gaussian
from privacy.analytic_gaussian import AnalyticGaussian, delta_at_most, tail_bounds
from privacy.cost import ATTO

V_FOR_ROUNDING = 10**60
"""So wide that the midpoint rule is off by less than the last digits are."""


def half_gap(first, variance):
    low, high = tail_bounds(first, variance)
    with localcontext(Context(prec=120)):
        return (high - low) / 2, (high + low) / 2


def test_bounds_are_as_far_apart_as_the_midpoint_rule_may_err(subtests):
    for variance in (12, 1000, 2**46):
        for deviations in ("-3", "0.2", "0.9", "1.1", "1.7", "4"):
            with subtests.test(variance=variance, deviations=deviations):
                first = int(Decimal(deviations) * Decimal(variance).sqrt())
                found, tail = half_gap(first, variance)
                with mpmath.workdps(80):
                    s = mpmath.sqrt(variance)
                    x = (first - mpmath.mpf("0.5")) / s
                    rise = x * mpmath.exp(-x * x / 2) if x >= 1 else 4 * mpmath.exp(mpmath.mpf("-0.5"))
                    expected = rise / s / (20 * s)
                    assert abs(mpmath.mpf(str(found)) / expected - 1) < mpmath.mpf(10) ** -20
                    middle = mpmath.erfc(x / mpmath.sqrt(2)) / 2
                    assert abs(mpmath.mpf(str(tail)) / middle - 1) < mpmath.mpf(10) ** -50


@pytest.mark.parametrize("deviations", [0, 1, 5])
def test_the_last_digits_are_covered_by_a_slack_of_their_own(deviations):
    found, tail = half_gap(deviations * 10**30, V_FOR_ROUNDING)
    assert abs(found / (tail * Decimal(10) ** -45) - 1) < Decimal(10) ** -9


def test_bounds_have_sixty_digits():
    """In a caller's context of any length."""
    for digits in (20, 90):
        with localcontext(Context(prec=digits)):
            bounds = tail_bounds(40, 1000)
            delta = delta_at_most(10_000, sensitivity=64, micro_epsilon=500_000)
        assert [len(bound.as_tuple().digits) for bound in bounds] == [60, 60]
        # of a difference one may cancel out
        assert len(delta.as_tuple().digits) >= 58


@pytest.fixture
def search(monkeypatch):
    """The search, with a delta that is `enough` from a variance on and 1 below; which variances it tried."""
    tried = []

    def search_with(threshold, *, enough=Decimal(0), sensitivity=64, atto_delta=10**12):
        tried.clear()
        analytic_gaussian._least_variance.cache_clear()

        def delta(variance, **_):
            tried.append(variance)
            if variance < threshold:
                return Decimal(1)
            return enough(variance) if callable(enough) else enough

        monkeypatch.setattr(analytic_gaussian, "delta_at_most", delta)
        return AnalyticGaussian(sensitivity, 1_000_000, atto_delta).variance, tried

    yield search_with
    analytic_gaussian._least_variance.cache_clear()


def test_a_small_variance_is_found_exactly(search):
    for threshold in range(65, 600):
        assert search(threshold)[0] == threshold


@pytest.mark.parametrize("threshold", [10**9 + 7, 2**40 + 1, 3**30])
def test_a_large_one_is_found_to_a_millionth(search, threshold):
    found, _ = search(threshold)
    assert threshold <= found <= threshold + found // 2**20


def test_the_search_begins_at_an_eighth_of_the_sensitivity_and_halves(search):
    found, tried = search(2**36)
    assert found == 2**36
    assert tried[:31] == [64 * 2**k for k in range(31)]
    # from 2^35..2^36 to a gap of 2^16
    assert len(tried) == 31 + 19
    assert search(1, sensitivity=100)[1][0] == 100**2 // 64
    assert search(1, sensitivity=2**32)[1][0] == 2**58


def test_delta_is_met_with_a_slack_of_two_to_the_minus_hundred(search):
    """Just enough is enough, and a last digit more is not."""
    slack = Decimal(2) ** -100  # to 28 digits
    with localcontext(Context(prec=60)):
        target = Decimal(10**12) / ATTO - slack
    assert search(1, enough=target)[0] < 64
    more = target.next_plus(Context(prec=60))
    assert search(1, enough=lambda variance: more if variance < 100 else target)[0] == 100
