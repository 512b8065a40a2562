"""Errors are what the formulas say."""

import math

import numpy as np
import pytest
from held import make_subjects, whole_numbers

from companions.lab.chapter import Conditions
from companions.lab.chapters.utility import count_errors, curves
from companions.lab.contenders.estimates import ESTIMATES, all_draws, by_stability, by_worlds, sampling_error
from companions.lab.simulation import seeded

pytestmark = pytest.mark.deep(
    "errors over thousands of draws; each mechanism is held against its law in unit/privacy and statistical"
)

SUBJECTS = make_subjects(whole_numbers(200))
MEAN, MEDIAN, DEVIATION = ESTIMATES


def spread_of(draws, dial, *, trials=600) -> float:
    return float(np.std(draws(dial, trials)))


def test_a_trusted_mean_has_the_error_of_its_formula():
    """Half of epsilon for the sum, half for the count, times the mean's distance from the middle."""
    draws = all_draws(SUBJECTS, MEAN, seeded(1, "x"))["trusted query"]
    distance = abs(SUBJECTS.values.mean() - 50)
    expected = math.sqrt(2) * (50 / 0.5 + distance / 0.5) / 200
    upper, lower = expected, math.sqrt(2) * (50 / 0.5) / 200
    # the standard error of a Laplace sample's deviation is about 1.1/sqrt(n): 7 of them
    assert lower * (1 - 0.2) < spread_of(draws, 1.0) < upper * 1.2


def test_sample_aggregate_has_the_error_of_its_formula():
    """Noise sqrt(2) R/(l epsilon), and the luck of the partition, which is less than the noise here."""
    draws = all_draws(SUBJECTS, MEAN, seeded(1, "x"))["sample_aggregate, clipped mean"]
    noise = math.sqrt(2) * 100 / (200 // 3)
    assert noise * 0.85 < spread_of(draws, 1.0) < noise * 1.35


def test_pac_has_the_error_of_its_formula():
    """At half a nat, noise of one deviation of the worlds, and the half's own: sqrt(2) in all."""
    draws = by_worlds(SUBJECTS, MEAN, seeded(1, "x"))
    half_sample = SUBJECTS.values.std() / math.sqrt(200)
    assert spread_of(draws, 0.5) == pytest.approx(math.sqrt(2) * half_sample, rel=0.25)


def test_stability_noise_is_the_next_power_of_two():
    draws = by_stability(SUBJECTS, MEAN)
    reach = max(np.abs(SUBJECTS.values - SUBJECTS.values.mean())) / 199
    # at least 1/n of the range, and rounded up to a power of two of grid steps of 2^-14
    smallest = max(reach, 100 / 200)
    assert math.sqrt(2) * smallest * 0.85 < spread_of(draws, 1.0) < math.sqrt(2) * smallest * 2.3


def test_more_epsilon_costs_less_accuracy_for_every_statistic():
    for estimate in ESTIMATES:
        for name, (_, errors) in curves(SUBJECTS, estimate, Conditions(quick=True, seed=1)).items():
            assert errors[-1] < errors[0], (estimate.name, name)


def test_many_people_get_no_curve_that_leaves_each_of_them_out():
    many = make_subjects(np.arange(2_001) % 100)
    found = curves(many, MEAN, Conditions(quick=True, seed=1))
    assert "stability_calibrated" not in found
    assert set(found) == {
        "sample_aggregate, clipped mean",
        "sample_aggregate, median",
        "trusted query",
        "pac",
    }


def test_a_count_has_its_exact_mean_error():
    (found,) = count_errors(SUBJECTS, [0.5], 4_000)
    # |Z| has a deviation of about its mean, so 5 standard errors are 8 %
    assert found == pytest.approx(1 / math.sinh(0.5), rel=0.09)


def test_the_bootstrap_finds_the_standard_error_of_a_mean():
    found = sampling_error(SUBJECTS, MEAN, seeded(1, "x"), resamples=400)
    assert found == pytest.approx(SUBJECTS.values.std() / math.sqrt(200), rel=0.2)


def test_a_block_of_one_has_no_deviation():
    assert math.isnan(DEVIATION.statistic(np.array([1.0])))
    assert DEVIATION.released(-1.0) == 0
    assert DEVIATION.released(4.0) == 2
