"""The least noise on random people, against the lattice itself, closed forms and another's accountant."""

from dataclasses import replace
from math import ceil, erfc, exp, log, sqrt

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as other_losses
from test_sampled_gaussian import laws

from privacy import sampled_losses
from privacy.loss_distribution import UNIT, LossDistribution
from privacy.sampled_gaussian import RATE_BITS, SampledGaussian, least_variance
from privacy.sampled_losses import one_step, tight_micro_epsilon, tight_variance

WHOLE = 2**RATE_BITS
DELTA = 10**13  # of 10^-18


def sampled_of(share, multiplier, steps, norm=2**30):
    return SampledGaussian(
        rate=int(share * WHOLE), norm=norm, variance=int((multiplier * norm) ** 2), steps=steps
    )


def masses_of(*shares, first=0, per_one=2, beyond=0.0):
    return LossDistribution(per_one, first, tuple(int(share * UNIT) for share in shares), int(beyond * UNIT))


@pytest.fixture
def few_cells(monkeypatch):
    """Fewer losses than for a job: quicker, a little less tight, and as valid."""
    monkeypatch.setattr(sampled_losses, "_CELLS", 2**8)


def profile(losses, epsilon):
    found = losses.beyond / UNIT
    for at, mass in enumerate(losses.masses, start=losses.first):
        found += mass / UNIT * max(0.0, 1 - exp(epsilon - at / losses.per_one))
    return found


@pytest.mark.parametrize(
    ("share", "multiplier", "steps"), [(0.25, 4, 40), (0.02, 1, 30), (0.0085, 2, 50), (0.6, 7, 100)]
)
def test_another_accountant_finds_nearly_the_same(share, multiplier, steps, few_cells):
    found = tight_micro_epsilon(sampled_of(share, multiplier, steps), DELTA) / 10**6
    other = other_losses.from_gaussian_mechanism(
        multiplier, sampling_prob=share, value_discretization_interval=1e-3
    )
    assert found == pytest.approx(other.self_compose(steps).get_epsilon_for_delta(1e-5), rel=0.02)
    assert found < sampled_of(share, multiplier, steps).least_micro_epsilon(DELTA) / 10**6


@pytest.mark.parametrize("steps", [1, 4, 9])
def test_a_plain_gaussian_where_everybody_takes_part(steps):
    """Steps of multiplier z are one of z/sqrt(steps), whose delta is known in closed form."""
    epsilon = tight_micro_epsilon(sampled_of(1, 5, steps), DELTA) / 10**6
    shift = sqrt(steps) / 5

    def delta(asked):
        tails = [erfc((asked / shift + sign * shift / 2) / sqrt(2)) / 2 for sign in (-1, 1)]
        return tails[0] - exp(asked) * tails[1]

    assert delta(epsilon) <= 1e-5
    assert delta(0.99 * epsilon) > 1e-5


@pytest.mark.parametrize("share", [0.05, 0.7, 1])
def test_the_profiles_cover_a_step_on_the_lattice(share, few_cells):
    """At every epsilon, in both directions, for vectors of the full length and shorter ones."""
    sampled = SampledGaussian(rate=int(share * WHOLE), norm=50, variance=1600, steps=1)
    for moved in ((30, 40), (50, 0), (9, 12)):
        without, present = laws(sampled.rate, moved, 1600, reach=400)
        for covered, (above, below) in zip(
            one_step(sampled), ((present, without), (without, present)), strict=True
        ):
            for epsilon in (-1.1, -0.02, 0, 0.03, 0.1, 0.7, 2, 5):
                true = np.maximum(above - exp(epsilon) * below, 0).sum()
                assert true <= profile(covered, epsilon) + 1e-12
                if moved == (30, 40):
                    assert profile(covered, epsilon) <= true + 0.004


def test_the_epsilon_holds_for_the_law_of_one_step():
    sampled = SampledGaussian(rate=WHOLE // 10, norm=50, variance=1600, steps=1)
    epsilon = tight_micro_epsilon(sampled, 10**15) / 10**6
    without, present = laws(sampled.rate, (30, 40), 1600, reach=400)
    deltas = [
        np.maximum(above - exp(asked) * below, 0).sum()
        for asked in (epsilon, 0.98 * epsilon)
        for above, below in ((present, without), (without, present))
    ]
    assert max(deltas[:2]) <= 1e-3 < max(deltas[2:])


def test_the_epsilon_holds_for_the_law_of_two_steps():
    """Every pair of releases of two steps, on the lattice of the vector's own direction."""
    sampled = SampledGaussian(rate=WHOLE // 5, norm=50, variance=1600, steps=2)
    epsilon = tight_micro_epsilon(sampled, 10**15) / 10**6
    line = np.arange(-330, 331)
    near, moved = np.exp(-(line**2) / 3200), np.exp(-((line - 50) ** 2) / 3200)
    near, moved = near / near.sum(), moved / near.sum()
    present = 0.8 * near + 0.2 * moved
    pairs = np.outer(near, near), np.outer(present, present)
    deltas = [
        np.maximum(above - exp(asked) * below, 0).sum()
        for asked in (epsilon, 0.97 * epsilon)
        for above, below in (pairs, pairs[::-1])
    ]
    assert max(deltas[:2]) <= 1e-3 < max(deltas[2:])


def test_convolutions_are_those_of_the_definition():
    one = masses_of(0.2, 0.5, 0.2, first=-3, beyond=0.1)
    other = masses_of(0.25, 0.25, 0.375, first=2, beyond=0.125)
    both = one.then(other, negligible=0)
    sums = np.convolve([0.2, 0.5, 0.2], [0.25, 0.25, 0.375])
    assert (both.first, both.per_one) == (-1, 2)
    assert [mass / UNIT for mass in both.masses] == pytest.approx(list(sums))
    assert both.beyond / UNIT == pytest.approx(0.1 + 0.9 * 0.125)
    assert both.total >= UNIT


@pytest.mark.parametrize("times", [1, 2, 3, 6, 11])
def test_repetitions_are_so_many_convolutions(times):
    one = masses_of(0.3, 0.5, 0.2, first=-1)
    repeated, each = one.repeated(times, negligible=0), one
    for _ in range(times - 1):
        each = each.then(one, negligible=0)
    assert repeated.first == each.first
    assert np.abs(np.array(repeated.masses, float) / UNIT - np.array(each.masses, float) / UNIT).max() < 1e-15


def test_what_is_negligible_is_moved_up():
    one = masses_of(1e-9, 0, 0.5, 0.5, 2e-9, 1e-9, first=-4)
    narrow = one.narrowed(negligible=UNIT // 10**6)
    assert (narrow.first, len(narrow.masses)) == (-2, 2)
    assert narrow.masses[0] == one.masses[0] + one.masses[2]
    assert narrow.beyond == one.masses[4] + one.masses[5]
    assert narrow.total == one.total
    lone = masses_of(1e-9, 1e-9).narrowed(negligible=UNIT)
    assert (len(lone.masses), lone.total) == (1, 2 * int(1e-9 * UNIT))
    for epsilon in (-1, 0, 1):
        assert profile(narrow, epsilon) >= profile(one, epsilon)


@pytest.mark.parametrize(
    ("losses", "delta"),
    [
        (masses_of(0.5, 0.3, 0.2), 0.01),
        (masses_of(0.5, 0.3, 0.2, first=-1), 0.005),
        (masses_of(0.1, 0.9, first=4), 0.001),
        (masses_of(0.5, 0.4, 0.1, 0, 0, first=0, beyond=0.004), 0.01),
        (masses_of(0.011, first=9), 0.01),
    ],
)
def test_the_epsilon_is_the_least_with_this_delta(losses, delta):
    micro_epsilon = losses.least_micro_epsilon(int(delta * 10**18))
    assert profile(losses, micro_epsilon / 10**6) <= delta
    assert profile(losses, (micro_epsilon - 2) / 10**6) > delta


def test_losses_that_delta_covers_cost_next_to_nothing():
    for losses in (masses_of(1, first=-3), masses_of(0.999, 0.001, first=0), masses_of(1, 0.001, first=-1)):
        assert losses.least_micro_epsilon(10**16) == 1


def test_what_cannot_be_is_refused():
    for wrong in (masses_of, lambda *_: LossDistribution(2, 0, (1, -1), 0)):
        with pytest.raises(ValueError, match="less than 10 together"):
            wrong(5, 5)
    with pytest.raises(ValueError, match="more noise"):
        masses_of(0.5, beyond=0.5).least_micro_epsilon(DELTA)
    for changed in ({"variance": 2**10 - 1, "norm": 1}, {"variance": 2**54 - 1}, {"steps": 2**17 + 1}):
        with pytest.raises(ValueError, match="an eighth of the norm"):
            tight_micro_epsilon(replace(sampled_of(0.1, 1, 1), **changed), DELTA)


def test_the_variance_is_enough_and_less_than_by_moments(few_cells):
    asked = {"rate": WHOLE // 50, "norm": 2**30, "steps": 60}
    charged = {"micro_epsilon": 4 * 10**6, "atto_delta": DELTA}
    variance = tight_variance(**asked, **charged)
    assert variance < 0.9 * least_variance(**asked, **charged)
    epsilon = tight_micro_epsilon(SampledGaussian(**asked, variance=variance), DELTA)
    assert 3.99 * 10**6 <= epsilon <= 4 * 10**6


def test_a_search_that_ends_early_returns_what_is_enough(monkeypatch, few_cells):
    monkeypatch.setattr(sampled_losses, "_TRIES", 1)
    asked = {"rate": WHOLE // 50, "norm": 2**30, "steps": 60, "micro_epsilon": 10**6, "atto_delta": DELTA}
    assert tight_variance(**asked) == least_variance(**asked)


@pytest.mark.parametrize(
    "asked",
    [
        {"rate": 1, "norm": 1, "steps": 1},  # noise that is too fine for the theorem
        {"rate": WHOLE // 1000, "norm": 2**30, "steps": 2**17 + 1},
        {"rate": 1, "norm": 2**30, "steps": 1},  # nearly nobody takes part: as little noise as may be
    ],
)
def test_where_the_bound_does_not_reach_the_one_by_moments_holds(asked, few_cells):
    charged = {"micro_epsilon": 10**7, "atto_delta": DELTA}
    variance = tight_variance(**asked, **charged)
    assert variance <= least_variance(**asked, **charged)
    assert variance >= min(asked["norm"] ** 2 // 64, least_variance(**asked, **charged))


def test_an_epsilon_is_rounded_up():
    losses = masses_of(1, first=1, per_one=3)
    assert losses.least_micro_epsilon(1) == ceil((1 / 3 + log(1 - 1e-18)) * 10**6)
