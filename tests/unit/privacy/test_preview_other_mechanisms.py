"""Previews of `pac` and `stability_calibrated` from runs on a twin."""

import math
from statistics import NormalDist

import pytest

from privacy.grid import OutputGrid
from privacy.pac import Pac
from privacy.preview import forecast_pac, forecast_stability
from privacy.stability import StabilityCalibrated

GRID = OutputGrid.build(100, 220)
STEP = float(GRID.step)


def test_pac_noise_follows_the_formula_of_the_design():
    """Two outputs: variance sqrt(s_k) (sqrt(s_1) + sqrt(s_2)) / (2 beta)."""
    worlds = [(GRID.snap(160 + (k % 2)), GRID.snap(150 + 4 * (k % 2))) for k in range(64)]
    one, two = forecast_pac(Pac((GRID, GRID), micro_nats=125_000), worlds, numbers=(160.5, 152.0))
    assert (one.micro_nats, one.output, two.output) == (125_000, 0, 1)
    assert one.half_sample == pytest.approx(0.5, rel=1e-3)
    assert two.half_sample == pytest.approx(2.0, rel=1e-3)
    assert one.noise == pytest.approx(math.sqrt(0.5 * 2.5 / 0.25), rel=1e-3)
    assert two.noise == pytest.approx(math.sqrt(2.0 * 2.5 / 0.25), rel=1e-3)


def test_pac_quantiles_are_those_of_the_mixture():
    worlds = [(GRID.snap(158 + 4 * (k % 2)),) for k in range(64)]
    (row,) = forecast_pac(Pac((GRID,), micro_nats=500_000), worlds, numbers=(160.0,))
    law = NormalDist(2.0, row.noise)
    for share, x in ((0.5, row.typical), (0.95, row.within_95)):
        assert law.cdf(x) - law.cdf(-x) == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize("number", [150.0, 157.5])
def test_pac_errors_are_distances_from_the_twins_own_number(number):
    """Worlds to both sides of it, and not evenly."""
    worlds = [(GRID.snap(158 + 3 * (k % 4)),) for k in range(64)]
    (row,) = forecast_pac(Pac((GRID,), micro_nats=500_000), worlds, numbers=(number,))
    laws = [NormalDist(158 + 3 * k - number, row.noise) for k in range(4)]
    for share, x in ((0.5, row.typical), (0.95, row.within_95)):
        assert sum(law.cdf(x) - law.cdf(-x) for law in laws) / 4 == pytest.approx(share, abs=1e-4)


def test_a_failed_world_counts_as_the_middle():
    worlds = [None, *[(GRID.snap(160.0),)] * 63]
    (row,) = forecast_pac(Pac((GRID,), micro_nats=500_000), worlds, numbers=(160.0,))
    assert row.half_sample == pytest.approx(0.0, abs=2 * STEP)
    assert row.within_95 > 0, "agreeing worlds are noised all the same"


def leave_one_out(heights):
    mean = sum(heights) / len(heights)
    without = [(sum(heights) - height) / (len(heights) - 1) for height in heights]
    return [(GRID.snap(number),) for number in (mean, *without)]


def test_stability_states_the_scale_of_its_own_release():
    heights = [150 + k for k in range(40)]
    asked = StabilityCalibrated((GRID,), people=40, micro_epsilon_prime=1_000_000)
    (row,) = forecast_stability(asked, leave_one_out(heights))
    # the largest change is 19.5/39 = 0.5; the floor is 120/40 = 3, to a power of two 4
    assert (row.floor, row.scale) == (4.0, 4.0)
    assert row.within_95 == pytest.approx(4 * math.log(20), rel=1e-3)
    deviation = math.sqrt(sum((height - 169.5) ** 2 for height in heights) / 39)
    assert row.sampling == pytest.approx(deviation / math.sqrt(40), rel=1e-3)


def test_an_outlier_widens_the_scale_beyond_the_floor():
    heights = [150 + k for k in range(39)] + [1.65]
    grid = OutputGrid.build(160, 170)
    runs = [(grid.snap(float(GRID.value(units[0]))),) for units in leave_one_out(heights)]
    asked = StabilityCalibrated((grid,), people=40, micro_epsilon_prime=1_000_000)
    (row,) = forecast_stability(asked, runs)
    assert row.floor == 0.25
    assert row.scale > row.floor


def test_a_failed_run_leaves_no_standard_error():
    runs = leave_one_out([150 + k for k in range(40)])
    runs[7] = None
    (row,) = forecast_stability(StabilityCalibrated((GRID,), people=40, micro_epsilon_prime=10**6), runs)
    assert row.sampling is None
    assert row.scale == 128.0, "the whole range, to a power of two"
