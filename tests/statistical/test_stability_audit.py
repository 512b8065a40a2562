"""Stability-calibrated noise: that it is what its description says, and what it does not protect."""

from fractions import Fraction

import numpy as np
import pytest
from checks import (
    check_distribution,
    check_fork,
    check_fresh_noise,
    check_independent_outputs,
    check_no_fine_bits,
    check_on_grid,
    check_small_noise,
    check_unseedable,
)
from length import at_length
from register import clean_heights, heights, heights_with_an_outlier, leave_one_out_means
from release_paths import drawn_in_batches
from stability_checks import (
    check_failures_count_in_full,
    check_heights_stay_hidden,
    check_people_leave_whole,
    check_scale_says_little,
    claimed_scales,
    noise_in_scales,
    noise_units,
    recovered_heights,
    shown_scales,
)

import privacy.stability
from privacy.grid import OutputGrid
from privacy.leave_one_out import leave_one_out
from privacy.stability import StabilityCalibrated

UNIT = OutputGrid.build(0, 1)
GRID = OutputGrid.build(100, 220)
NARROW = OutputGrid.build(150, 180)
TOP = UNIT.cells

# the widest noise: 2 outputs, the whole range, eps' 1/1000: a scale of 2^31 steps
WIDE = StabilityCalibrated((UNIT, UNIT), people=20, micro_epsilon_prime=1_000)
FLIPPING = [(0, 0), (TOP, TOP), *[(0, 0)] * 19]

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


# --- the noise ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "micro_epsilon_prime",
    [100_000, pytest.param(1_000_000, marks=pytest.mark.deep("a tenth of the dial asks the same"))],
)
def test_noise_of_the_mean_height_has_the_claimed_scale(micro_epsilon_prime):
    outputs = leave_one_out_means(clean_heights())
    mechanism = StabilityCalibrated((GRID,), people=58, micro_epsilon_prime=micro_epsilon_prime)
    (scale,) = claimed_scales(mechanism, outputs)
    size = at_length(2_500)
    check_distribution(lambda n: noise_units(mechanism, outputs, n)[:, 0], scale=scale, size=size)


def test_every_output_has_noise_for_all_of_them():
    grids = (UNIT, GRID, OutputGrid.build(-1, 1))
    mechanism = StabilityCalibrated(grids, people=20, micro_epsilon_prime=500_000)
    outputs = [(0, 0, 0), (70_000, 3, 0), (0, 0, 300_000), *[(0, 0, 0)] * 18]
    size = at_length(2_500)
    noise = noise_units(mechanism, outputs, size)
    for output, scale in enumerate(claimed_scales(mechanism, outputs)):
        check_distribution(lambda n, k=output: noise[:, k], scale=scale, size=size)


def test_small_noise_is_not_avoided():
    check_small_noise(lambda n: noise_in_scales(WIDE, FLIPPING, n)[:, 0], scale=1.0)


def test_noise_is_used_once():
    check_fresh_noise(lambda n: noise_in_scales(WIDE, FLIPPING, n)[:, 0], pairs=1_000)
    check_independent_outputs(lambda n: noise_in_scales(WIDE, FLIPPING, n))


def test_seeds_and_forks_do_not_repeat_noise():
    def release() -> list[Fraction]:
        return [output.value for output in WIDE.release(FLIPPING)]

    check_unseedable(release)
    check_fork(lambda: repr(release()).encode())


@pytest.mark.parametrize("centre", [0, 1, Fraction(1, 3), 10**6])
def test_values_stay_on_the_grid(centre):
    grid = OutputGrid.build(centre - 1, centre + 1)
    mechanism = StabilityCalibrated((grid,), people=20, micro_epsilon_prime=1_000_000)
    with drawn_in_batches(privacy.stability):
        check_on_grid(mechanism, [(grid.middle + 999 * run,) for run in range(21)], size=400)


def test_no_fine_bits():
    grid = OutputGrid.build(-1, 1)
    mechanism = StabilityCalibrated((grid,), people=20, micro_epsilon_prime=1_000_000)
    zero = [(grid.middle,)] * 21
    with drawn_in_batches(privacy.stability):
        check_no_fine_bits(lambda n: np.array([[float(mechanism.release(zero)[0].value)] for _ in range(n)]))


# --- what leaves ----------------------------------------------------------------------------------------


def test_the_scale_is_no_more_than_an_order_of_magnitude():
    check_scale_says_little(StabilityCalibrated((UNIT,), people=20, micro_epsilon_prime=700_000))


@pytest.mark.parametrize("outputs", [1, 3])
def test_failed_runs_count_in_full(outputs):
    check_failures_count_in_full(
        StabilityCalibrated((UNIT,) * outputs, people=20, micro_epsilon_prime=1_000_000)
    )


def test_one_person_leaves_whole_however_their_name_is_spelled():
    check_people_leave_whole(leave_one_out)


def test_a_leave_one_out_vector_gives_back_everybody():
    """Means without one person each, under one common noise: what a notebook on these heights printed."""
    printed = [
        159.96687557898008,
        160.37038435090992,
        160.1247703158222,
        160.33529663161167,
        160.08968259652394,
        160.17740189476956,
    ]
    found = recovered_heights(printed, first=178, people=58)
    assert found == pytest.approx(list(heights().values())[:6], abs=1e-9)


def test_a_release_gives_back_nobody():
    outputs = leave_one_out_means(heights())
    mechanism = StabilityCalibrated((GRID,), people=58, micro_epsilon_prime=1_000_000)
    check_heights_stay_hidden(mechanism.release(outputs), list(heights().values()))


# --- what it is not ---------------------------------------------------------------------------------------


def test_the_scale_shows_an_outlier():
    """0.30 against 2.87 for the largest change: unless the floor is above, the power of two tells."""
    mechanism = StabilityCalibrated((NARROW,), people=58, micro_epsilon_prime=1_000_000)
    (without,) = shown_scales(mechanism, leave_one_out_means(clean_heights(), NARROW))
    (with_outlier,) = shown_scales(mechanism, leave_one_out_means(heights_with_an_outlier(), NARROW))
    # the floor of a range of 30 over 58 people is 0.52
    assert (without * NARROW.step, with_outlier * NARROW.step) == (1, 4)


def test_changes_of_the_mean_height_when_one_person_leaves():
    def largest(outputs) -> float:
        return float(max(abs(units - outputs[0][0]) for (units,) in outputs) * GRID.step)

    assert largest(leave_one_out_means(clean_heights())) == pytest.approx(0.2989, abs=1e-3)
    assert largest(leave_one_out_means(heights_with_an_outlier())) == pytest.approx(2.8684, abs=1e-3)


@pytest.mark.parametrize(("third_is_ill", "scale"), [(True, TOP // 16), (False, TOP)])
def test_asking_whether_two_of_three_are_ill_tells_about_the_third(third_is_ill, scale):
    """Why only reviewed pipelines may use it: two are known to be ill, and the scale shows the third."""
    mechanism = StabilityCalibrated((UNIT,), people=20, micro_epsilon_prime=1_000_000)

    def answer(ill: int) -> tuple[int]:
        return (TOP,) if ill >= 2 else (0,)

    ill = 2 + third_is_ill
    outputs = [answer(ill), *[answer(ill - 1)] * ill, *[answer(ill)] * (20 - ill)]
    assert shown_scales(mechanism, outputs) == [scale]
