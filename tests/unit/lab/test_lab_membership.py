"""Membership inference stays below every bound that is promised, and finds what nothing is promised for."""

import math

import numpy as np
import pytest
from held import make_subjects, whole_numbers

from companions.lab.attacks.membership import attack_membership, impossible_share, laplace_best, pure_dp_bound
from companions.lab.chapter import Conditions, Standing
from companions.lab.chapters.membership import (
    SERIES,
    Claim,
    Series,
    hole_share,
    judge,
    measure,
    measure_pac,
    pac_bound,
    series_for,
)
from companions.lab.contenders import neighbours
from companions.lab.flawed import leave_one_out_reach, leave_one_out_scale, mean_without_small_noise
from companions.lab.simulation import seeded

CONDITIONS = Conditions(quick=True, seed=1)
OUTLIER = make_subjects([*whole_numbers(59), 100.0])


def success_of(name: str, epsilon: float, *, trials=1_000, subjects=OUTLIER):
    (series,) = [series for series in SERIES if series.name == name]
    (found,) = measure(subjects, series, [epsilon], CONDITIONS, trials=trials)
    return found


SMALLER = pytest.mark.deep("a larger epsilon has the same code and shows an excess with fewer releases")


def test_bounds_in_closed_form():
    assert pure_dp_bound(1.0) == pytest.approx(0.7311, abs=1e-4)
    assert laplace_best(1.0) == pytest.approx(0.6967, abs=1e-4)
    assert all(0.5 < laplace_best(epsilon) < pure_dp_bound(epsilon) for epsilon in (0.01, 0.1, 1.0, 10.0))


@pytest.mark.parametrize("epsilon", [pytest.param(0.5, marks=SMALLER), 2.0])
@pytest.mark.parametrize(
    "series", [one for one in SERIES if one.claims is Claim.PROVEN], ids=lambda one: one.name
)
def test_nobody_beats_the_bound_of_pure_dp(series, epsilon):
    found = success_of(series.name, epsilon)
    assert found.rate <= pure_dp_bound(epsilon) + found.margin


def test_the_traitor_reaches_what_the_best_attack_reaches():
    """The attack has power: it gets what is to be had."""
    found = success_of("sample_aggregate, traitor pipeline", 2.0, trials=2_000)
    assert found.rate == pytest.approx(laplace_best(2.0), abs=found.margin)


def test_a_mechanism_that_draws_half_the_noise_is_caught():
    def half(both, epsilon, trials, generator):
        return neighbours.sample_aggregate_of_traitor(both, 2 * epsilon, trials, generator)

    series = Series("half the noise", half, Claim.PROVEN)
    found = measure(OUTLIER, series, [1.0], CONDITIONS, trials=1_500)
    assert found[0].rate > pure_dp_bound(1.0) + found[0].margin
    assert judge(series, [1.0], found).standing is Standing.BROKEN


def test_rejected_small_noise_gives_the_outlier_away():
    found = success_of("small noise rejected, mean", 0.1)
    assert found.rate > pure_dp_bound(0.1) + found.margin
    series = next(one for one in SERIES if one.name.startswith("small noise"))
    assert judge(series, [0.1], [found]).standing is Standing.BROKEN


def test_stability_protects_neither_from_a_traitor_nor_claims_to():
    found = success_of("stability_calibrated, traitor pipeline", 0.25)
    assert found.rate > 0.9
    series = next(one for one in SERIES if one.name == "stability_calibrated, traitor pipeline")
    assert judge(series, [0.25], [found]).standing is Standing.NO_PROMISE


def test_scale_read_off_the_data_exceeds_the_epsilon_it_claims():
    values = [50.0] * 30 + [51.0] * 29 + [10_000.0]
    subjects = make_subjects(values, upper=10_000)
    found = success_of("scale read off the data, mean", 0.1, subjects=subjects)
    assert found.rate > pure_dp_bound(0.1) + found.margin


@pytest.mark.parametrize("micro_nats", [31_250, 500_000])
def test_pac_keeps_its_bound_for_the_most_exposed(micro_nats):
    found = measure_pac(OUTLIER, micro_nats, CONDITIONS, trials=600)
    assert 0.5 - found.margin <= found.rate <= pac_bound(micro_nats) + found.margin


def test_the_attack_on_pac_has_power():
    subjects = make_subjects([0.0] * 59 + [100.0])
    assert measure_pac(subjects, 500_000, CONDITIONS, trials=600).rate > 0.75


def test_the_bound_of_pac_is_the_published_table():
    assert pac_bound(125_000) == pytest.approx(0.745, abs=1e-3)


def test_equal_worlds_are_a_coin_and_different_constants_are_certain():
    generator = seeded(1, "coin")
    coin = attack_membership(generator.normal(size=8_000), generator.normal(size=8_000))
    assert abs(coin.rate - 0.5) < coin.margin
    assert attack_membership(np.full(100, 1.0), np.full(100, 2.0)).rate == 1.0


def test_impossible_releases_of_the_other_world_are_counted():
    values = whole_numbers()
    releases = mean_without_small_noise(values, 4_000, seeded(1, "x"))
    reach = leave_one_out_reach(values)
    assert impossible_share(releases, values.mean(), reach * 0.999) == 0
    # half of the noise falls on the side of a neighbour that is one reach away
    assert impossible_share(releases, values.mean() + 1.5 * reach, reach) > 0.3


def test_the_hole_identifies_as_many_releases_as_the_formula_says():
    """Noise on the side of the other mean, from the rim of the own hole to the far rim of the other one."""
    values = np.array([50.0] * 30 + [60.0] * 30)
    subjects = make_subjects([*values, 80.0])
    both = neighbours.Neighbours.of(subjects)
    means = both.subjects.values.mean(), both.without.mean()
    reach, other = leave_one_out_reach(both.subjects.values), leave_one_out_reach(both.without)
    scale = leave_one_out_scale(both.subjects.values)
    # for holes of one size s and means D <= 2s apart this is (1 - exp(-D/b))/2
    expected = (1 - math.exp(-max(0.0, means[0] - means[1] + other - reach) / scale)) / 2
    found = hole_share(subjects, CONDITIONS, trials=20_000)
    assert found == pytest.approx(expected, abs=5 * math.sqrt(0.25 / 20_000))
    assert found > 0


def test_very_many_people_are_not_left_out_one_by_one():
    few, many = make_subjects(whole_numbers(60)), make_subjects(np.arange(2_001.0), upper=3_000)
    assert {series.claims for series in series_for(few)} == set(Claim)
    assert {series.claims for series in series_for(many)} == {Claim.PROVEN, Claim.SUPPOSED}
