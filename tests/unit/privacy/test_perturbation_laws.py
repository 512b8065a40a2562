"""Each law of local perturbation is the one of its name, down to the variance of every digit."""

from fractions import Fraction

import numpy as np
import pytest

from privacy import gaussian_digits
from privacy.analytic_gaussian import AnalyticGaussian
from privacy.bounded_noise import BoundedNoise
from privacy.cost import ATTO
from privacy.discrete_laplace import MAX_SCALE
from privacy.grid import OutputGrid
from privacy.perturbation import RecordPerturbation
from privacy.perturbation.laws import ExactLaplace, FastLaplace, make_law
from privacy.perturbation.record import PersonLoss

MICRO = 10**6
DELTA = ATTO // 10**6
GRID = OutputGrid.build(0, 1)
LAWS = {
    "laplace": (ExactLaplace, {"law": "discrete Laplace", "scale_units": "1000"}),
    "fast": (FastLaplace, {"law": "rounded Laplace through floats", "scale_units": "1000"}),
    "bounded": (BoundedNoise, {"law": "truncated discrete Laplace", "scale_units": "1000"}),
    "gaussian": (AnalyticGaussian, {"law": "discrete Gaussian"}),
}


def law_named(name):
    law = "laplace" if name == "fast" else name
    delta = None if law == "laplace" else DELTA
    return make_law(law, sensitivity=1_000, micro_epsilon=MICRO, atto_delta=delta, fast=name == "fast")


@pytest.mark.parametrize("name", LAWS)
def test_a_law_is_that_of_its_name_and_says_so(name):
    kind, facts = LAWS[name]
    law = law_named(name)
    assert type(law) is kind or (isinstance(law, kind) and type(law).__mro__[1] is kind)
    assert dict(law.parameters()) | facts == dict(law.parameters())


def test_the_widths_of_bounded_and_gaussian_noise_are_on_the_certificate():
    bounded, gaussian = law_named("bounded"), law_named("gaussian")
    assert bounded.parameters()["bound_units"] == str(bounded.bound)
    assert gaussian.parameters()["variance_units"] == str(gaussian.variance)
    assert np.abs(bounded.sample(20_000)).max() <= bounded.bound


def test_a_scale_that_cannot_be_drawn_is_refused_at_once():
    with pytest.raises(ValueError, match="noise scale is beyond"):
        ExactLaplace(int(MAX_SCALE) + 1, MICRO)


A_SUM_OF_LOSSES_MEANS_SOMETHING_UP_TO_TEN_AND_A_TENTH = (
    (10_000_000, 0, True),
    (10_000_001, 0, False),
    (10_000_000, ATTO // 10 - 1, True),
    (10_000_000, ATTO // 10, False),
    (1, ATTO, False),
    (10**9, 1, False),
)


def test_a_sum_of_losses_means_something_up_to_ten_and_a_tenth(subtests):
    for micro_epsilon, atto_delta, means_something in A_SUM_OF_LOSSES_MEANS_SOMETHING_UP_TO_TEN_AND_A_TENTH:
        with subtests.test(
            micro_epsilon=micro_epsilon, atto_delta=atto_delta, means_something=means_something
        ):
            assert PersonLoss(5, micro_epsilon, atto_delta).means_something is means_something


def test_what_a_perturbed_array_is_called():
    assert (RecordPerturbation.mechanism, RecordPerturbation.relation) == (
        "record_perturbation",
        "replace one value by any other value",
    )


@pytest.mark.parametrize("variance", [12, 2**17, 2**17 + 1, 10**6, 10**12 + 7, 2**100])
def test_the_digits_of_a_gaussian_have_its_variance_together(variance):
    """The second moment of every part by its thresholds, weighed by the squares of its place value."""
    parts = gaussian_digits._parts(variance)
    moments = [second_moment(part) * 4096**place for place, part in enumerate(parts)]
    assert sum(moments) == pytest.approx(variance, rel=1e-9)


def second_moment(part):
    """E (D - reach)^2 from P(D >= k) = thresholds[m - k] / 2^bits."""
    above = [Fraction(threshold, 2**part.law.bits) for threshold in reversed(part.law.thresholds)]
    return float(
        sum(chance * ((k - part.reach) ** 2 - (k - 1 - part.reach) ** 2) for k, chance in enumerate(above, 1))
        + part.reach**2
    )


def test_the_ends_of_a_gaussian_of_whole_variance():
    assert gaussian_digits.sample(12, 3).shape == gaussian_digits.sample(2**100, 3).shape == (3,)
    for variance in (11, 2**100 + 1, True, 12.0):
        with pytest.raises(ValueError, match="variance must be"):
            gaussian_digits.sample(variance, 3)


def test_the_ends_of_the_analytic_gaussian():
    assert AnalyticGaussian(64, MICRO, DELTA).variance > 0
    assert AnalyticGaussian(2**32, MICRO, DELTA).variance > 2**64
    for sensitivity in (63, 2**32 + 1, True, 64.0):
        with pytest.raises(ValueError, match="sensitivity is a whole number"):
            AnalyticGaussian(sensitivity, MICRO, DELTA)


@pytest.mark.parametrize(("fast", "variant"), [(False, "exact"), (True, "fast")])
def test_what_the_certificate_of_an_array_says(fast, variant):
    perturbation = RecordPerturbation(GRID, "laplace", MICRO, fast=fast, missing="clip")
    assert perturbation.parameters() == {
        "law": "laplace",
        "variant": variant,
        "lower": "0",
        "upper": "1",
        "step": str(GRID.step),
        "sensitivity_units": GRID.cells,
        "missing": "clip",
        "noise": dict(perturbation.noise.parameters()),
    }


def test_one_value_of_a_person_costs_what_the_value_costs():
    loss = RecordPerturbation(GRID, "bounded", MICRO, atto_delta=DELTA).person_loss(1)
    assert (loss.values, loss.micro_epsilon, loss.atto_delta) == (1, MICRO, DELTA)
