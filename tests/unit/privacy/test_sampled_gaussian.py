"""What repeated noise on random people costs, against sums over the lattice and another accountant."""

from decimal import Decimal
from math import comb, exp, log

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.rdp import RdpAccountant

from privacy.sampled_gaussian import MAX_NORM, MAX_STEPS, ORDERS, RATE_BITS, SampledGaussian, least_variance

WHOLE = 2**RATE_BITS
DELTA = 10**13  # of 10^-18


def laws(rate, moved, variance, reach=70):
    """One step without and with a person whose vector in Z^2 is `moved`, by adding up the lattice."""
    line = np.arange(-reach, reach + 1)
    near = np.exp(-(line**2) / (2 * variance))
    without = np.outer(near, near) / near.sum() ** 2
    axes = [np.exp(-((line - step) ** 2) / (2 * variance)) / near.sum() for step in moved]
    share = rate / WHOLE
    return without.ravel(), ((1 - share) * without + share * np.outer(*axes)).ravel()


def moment(above, below, order):
    kept = below > 0
    return float(np.sum((above[kept] / below[kept]) ** order * below[kept]))


@pytest.mark.parametrize("share", [0.01, 0.3, 1])
def test_the_moments_are_those_of_the_lattice_in_both_directions(share):
    rate = int(share * WHOLE)
    for moved, variance in (((3, 4), 30), ((5, 0), 30), ((1, 2), 12)):
        norm = int(np.hypot(*moved) + 0.999999)
        sampled = SampledGaussian(rate=rate, norm=norm, variance=variance, steps=1)
        without, present = laws(rate, moved, variance)
        for order in (2, 3, 5):
            said = exp(sampled.log_moment(order))
            found = moment(present, without, order)
            assert found <= said * (1 + 1e-12)
            if norm**2 == sum(step**2 for step in moved):
                assert found == pytest.approx(said, rel=1e-9)
            assert moment(without, present, order) <= found * (1 + 1e-12)


def test_a_plain_gaussian_where_everybody_takes_part():
    sampled = SampledGaussian(rate=WHOLE, norm=8, variance=64, steps=1)
    for order in (2, 64, 1024):
        assert sampled.log_moment(order) == pytest.approx(
            Decimal(order * (order - 1)) / 2, rel=Decimal("1e-40")
        )


def test_the_epsilon_holds_for_the_law_of_one_step():
    """And is not far from the least: the price of a bound by moments."""
    rate = WHOLE // 10
    sampled = SampledGaussian(rate=rate, norm=5, variance=30, steps=1)
    epsilon = sampled.least_micro_epsilon(10**15) / 10**6
    without, present = laws(rate, (3, 4), 30)
    for above, below in ((present, without), (without, present)):
        assert np.maximum(above - exp(epsilon) * below, 0).sum() <= 1e-3
    assert np.maximum(present - exp(0.5 * epsilon) * without, 0).sum() > 1e-3


@pytest.mark.parametrize("multiplier", [0.6, 1.1, 4])
def test_another_accountant_finds_the_same(multiplier):
    for share, steps in ((0.004, 702), (0.0085, 234), (0.25, 40)):
        event = dp_event.SelfComposedDpEvent(
            dp_event.PoissonSampledDpEvent(share, dp_event.GaussianDpEvent(multiplier)), steps
        )
        other = RdpAccountant(list(ORDERS)).compose(event).get_epsilon(1e-5)
        variance = int((multiplier * 2**30) ** 2)
        ours = SampledGaussian(rate=int(share * WHOLE), norm=2**30, variance=variance, steps=steps)
        assert ours.least_micro_epsilon(DELTA) / 10**6 == pytest.approx(other, rel=1e-5, abs=2e-6)


def test_the_moments_are_the_sum_of_the_theorem():
    share, ratio = 0.02, 0.7
    sampled = SampledGaussian(rate=int(share * WHOLE), norm=70, variance=7000, steps=9)
    for order in (2, 17, 40):
        terms = (
            comb(order, k) * (1 - share) ** (order - k) * share**k * exp(k * (k - 1) * ratio / 2)
            for k in range(order + 1)
        )
        assert float(sampled.log_moment(order)) == pytest.approx(log(sum(terms)), rel=1e-6)


def test_the_least_variance_is_enough_and_hardly_more():
    asked = {"rate": WHOLE // 100, "norm": 2**30, "steps": 100}
    variance = least_variance(**asked, micro_epsilon=10**6, atto_delta=DELTA)
    assert SampledGaussian(**asked, variance=variance).least_micro_epsilon(DELTA) <= 10**6
    less = SampledGaussian(**asked, variance=variance - variance // 2000)
    assert less.least_micro_epsilon(DELTA) > 10**6
    assert least_variance(**asked, micro_epsilon=10**4, atto_delta=DELTA) > 500 * variance


def test_noise_is_never_below_what_can_be_drawn():
    assert least_variance(rate=1, norm=1, steps=1, micro_epsilon=30 * 10**6, atto_delta=DELTA) == 12


OUT_OF_BOUNDS = [
    ("rate", 0, "the rate"),
    ("rate", WHOLE + 1, "the rate"),
    ("norm", True, "the norm"),
    ("norm", MAX_NORM + 1, "the norm"),
    ("steps", 1.0, "the number of steps"),
    ("steps", MAX_STEPS + 1, "the number of steps"),
    ("variance", 11, "the variance"),
    ("variance", 2**100 + 1, "the variance"),
]


def test_what_is_out_of_bounds_is_refused(subtests):
    for field, wrong, said in OUT_OF_BOUNDS:
        with subtests.test(field=field):
            right = {"rate": 1, "norm": 1, "variance": 12, "steps": 1}
            with pytest.raises(ValueError, match=said):
                SampledGaussian(**{**right, field: wrong})


def test_a_loss_that_no_noise_can_promise_is_refused():
    asked = {"rate": WHOLE // 100, "norm": 2**30, "steps": 100, "atto_delta": DELTA}
    for micro_epsilon, said in ((31 * 10**6, "at most 30"), (1, "below 0.001"), (1000, "change epsilon")):
        with pytest.raises(ValueError, match=said):
            least_variance(**asked, micro_epsilon=micro_epsilon)
    with pytest.raises(ValueError, match="delta"):
        SampledGaussian(rate=1, norm=1, variance=12, steps=1).least_micro_epsilon(0)
