"""Closed forms against the table of the privacy design, and against what a release itself states."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.grid import OutputGrid
from privacy.preview import epsilon_for_noise, noise_error, spread_ratio
from privacy.preview.formulas import fewest_blocks_for_median, root_mean_square_error
from privacy.sample_aggregate import SampleAggregate

GRID = OutputGrid.build(-3, 3)


def asked(outputs=1, *, blocks=10, micro_epsilon=1_000_000, **others):
    return SampleAggregate((GRID,) * outputs, blocks=blocks, micro_epsilon=micro_epsilon, **others)


def test_noise_error_follows_the_table_of_the_design():
    error = noise_error(asked(2, blocks=100), 0)
    scale = 6 * 2 / 100
    assert error.mean_absolute == pytest.approx(scale, rel=1e-6)
    assert error.standard_deviation == pytest.approx(math.sqrt(2) * scale, rel=1e-6)
    assert error.half_width_95 == pytest.approx(scale * math.log(20), rel=1e-4)


def test_the_heaviest_output_has_the_least_noise():
    light, heavy = (noise_error(asked(2, weights=(1, 3)), index).mean_absolute for index in (0, 1))
    assert light == pytest.approx(3 * heavy, rel=1e-6)


@pytest.mark.parametrize("repeats", [1, 3])
def test_repeats_change_no_noise(repeats):
    error = noise_error(asked(repeats=repeats), 0)
    assert error.standard_deviation == pytest.approx(math.sqrt(2) * 0.6, rel=1e-6)


def test_gaussian_noise_error():
    mechanism = asked(4, noise="gaussian", atto_delta=10**12)
    error = noise_error(mechanism, 3)
    assert error.mean_absolute == pytest.approx(error.standard_deviation * math.sqrt(2 / math.pi))
    assert error.half_width_95 == pytest.approx(1.96 * error.standard_deviation, rel=1e-3)


def test_joint_noise_error_is_that_of_what_it_draws():
    mechanism = asked(3, noise="joint")
    error = noise_error(mechanism, 2)
    drawn = mechanism.draw_noise(2, 40_000) * float(GRID.step) / mechanism.plan.runs
    assert abs(drawn).mean() == pytest.approx(error.mean_absolute, rel=0.04)
    assert drawn.std() == pytest.approx(error.standard_deviation, rel=0.05)
    assert error.standard_deviation == pytest.approx(math.sqrt(20 / 3) * 0.6, rel=0.003)


@pytest.mark.parametrize(
    "others", [{}, {"noise": "gaussian", "atto_delta": 10**12}, {"noise": "joint"}, {"repeats": 2}]
)
def test_preview_states_the_half_width_of_the_release(others):
    mechanism = asked(2, micro_epsilon=500_000, **others)
    released = mechanism.release([None] * mechanism.plan.runs)[1]
    assert noise_error(mechanism, 1).half_width_95 == float(released.half_width_95)


def test_a_median_has_no_noise_of_its_own():
    with pytest.raises(ValueError, match="no closed form"):
        noise_error(asked(aggregator="median"), 0)


def test_moments_at_the_smallest_scale():
    """t = 1049 units, where the discrete moments still agree with the continuous ones to 10^-6."""
    error = noise_error(SampleAggregate((OutputGrid.build(0, 1),), blocks=2, micro_epsilon=10**9), 0)
    assert error.mean_absolute == pytest.approx(1 / 2000, rel=1e-5)
    assert error.standard_deviation == pytest.approx(math.sqrt(2) / 2000, rel=1e-5)


@given(st.floats(1e-3, 1e4), st.integers(1, 20), st.integers(2, 1000))
def test_epsilon_for_noise_is_the_smallest_that_is_enough(wanted, outputs, blocks):
    def half_width_95(micro):
        return noise_error(asked(outputs, blocks=blocks, micro_epsilon=micro), 0).half_width_95

    try:
        micro = epsilon_for_noise(asked(outputs, blocks=blocks), 0, half_width_95=wanted)
    except ValueError:
        assert half_width_95(10**9) > wanted
        return
    assert half_width_95(micro) <= wanted
    assert micro == 1_000 or half_width_95(micro - 1) > wanted


@pytest.mark.parametrize("wanted", [0.0, -1.0, 1e-9, float("nan")])
def test_impossible_errors_are_refused(wanted):
    with pytest.raises(ValueError, match="no epsilon"):
        epsilon_for_noise(asked(), 0, half_width_95=wanted)


@pytest.mark.parametrize(
    ("people", "blocks", "micro_epsilon", "expected"),
    [(300, 30, 1_000_000, 0.289), (1000, 100, 500_000, 0.173)],
)
def test_root_mean_square_error_of_a_mean_follows_the_design(people, blocks, micro_epsilon, expected):
    mechanism = asked(blocks=blocks, micro_epsilon=micro_epsilon)
    error = root_mean_square_error(mechanism, 0, bias=0.0, spread=math.sqrt(blocks / people))
    assert error == pytest.approx(expected, abs=5e-4)
    assert root_mean_square_error(mechanism, 0, bias=1.0, spread=0.0) > 1.0


def test_a_median_has_a_closed_form_from_enough_blocks_on():
    """Range over spread 6, taken as 8: 1.25 (4/epsilon) ln(160) = 25.4 blocks."""
    assert fewest_blocks_for_median(asked(aggregator="median"), 0, spread=1.0) == 26
    few, enough = (asked(blocks=blocks, aggregator="median") for blocks in (25, 26))
    assert root_mean_square_error(few, 0, bias=0.0, spread=1.0) is None
    found = root_mean_square_error(enough, 0, bias=0.0, spread=1.0)
    assert found == pytest.approx(math.sqrt(math.pi / 52 + 16 * math.pi / 26**2))


SPREAD_RATIO_IS_A_POWER_OF_TWO_ROUNDED_UP = (
    (6.0, 1),
    (5.9, 2),
    (1.0, 8),
    (60.0, 1),
    (0.0, 2**20),
    (1e-7, 2**20),
    (1e-9, 2**20),
)


def test_spread_ratio_is_a_power_of_two_rounded_up(subtests):
    for spread, ratio in SPREAD_RATIO_IS_A_POWER_OF_TWO_ROUNDED_UP:
        with subtests.test(spread=spread, ratio=ratio):
            assert spread_ratio(GRID, spread) == Fraction(ratio)
