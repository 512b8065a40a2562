import math
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.grid import OutputGrid
from privacy.preview import LADDER, epsilon_for_error, ladder, noise_error, standard_ladder
from privacy.sample_aggregate import SampleAggregate

GRID = OutputGrid.build(-3, 3)


def test_noise_error_follows_the_table_of_the_design():
    error = noise_error(GRID, outputs=2, blocks=100, micro_epsilon=1_000_000)
    scale = 6 * 2 / 100
    assert error.mean_absolute == pytest.approx(scale, rel=1e-6)
    assert error.standard_deviation == pytest.approx(math.sqrt(2) * scale, rel=1e-6)
    assert error.half_width_95 == pytest.approx(scale * math.log(20), rel=1e-4)


def test_preview_states_the_half_width_of_the_release():
    aggregate = SampleAggregate((GRID, GRID), blocks=10, micro_epsilon=500_000)
    released = aggregate.release([None] * 10)[1]
    preview = noise_error(GRID, outputs=2, blocks=10, micro_epsilon=500_000)
    assert preview.half_width_95 == float(released.half_width_95)


def test_moments_at_the_smallest_scale():
    """t = 1049 units, where the discrete moments still agree with the continuous ones to 10^-6."""
    error = noise_error(OutputGrid.build(0, 1), outputs=1, blocks=2, micro_epsilon=10**9)
    assert error.mean_absolute == pytest.approx(1 / 2000, rel=1e-5)
    assert error.standard_deviation == pytest.approx(math.sqrt(2) / 2000, rel=1e-5)


@given(st.floats(1e-3, 1e4), st.integers(1, 20), st.integers(2, 1000))
def test_epsilon_for_error_is_the_smallest_that_is_enough(wanted, outputs, blocks):
    def half_width_95(micro):
        return noise_error(GRID, outputs=outputs, blocks=blocks, micro_epsilon=micro).half_width_95

    try:
        micro = epsilon_for_error(GRID, outputs=outputs, blocks=blocks, half_width_95=wanted)
    except ValueError:
        assert half_width_95(10**9) > wanted
        return
    # exact inside, float here: allow the last digit
    assert half_width_95(micro) <= wanted * (1 + 1e-12)
    assert micro == 1_000 or half_width_95(micro - 1) > wanted * (1 - 1e-12)


@pytest.mark.parametrize("wanted", [0.0, -1.0, 1e-9, float("nan")])
def test_impossible_errors_are_refused(wanted):
    with pytest.raises(ValueError, match="no epsilon"):
        epsilon_for_error(GRID, outputs=1, blocks=10, half_width_95=wanted)


def test_ladder_stops_at_the_maximum():
    assert standard_ladder(1_000_000) == (100_000, 250_000, 500_000, 1_000_000)
    assert standard_ladder(99_999) == ()
    assert standard_ladder(10**9) == LADDER


def test_ladder_without_a_twin_has_noise_only():
    rows = ladder([GRID, OutputGrid.build(0, 1)], blocks=10, epsilons=LADDER)
    assert [(row.micro_epsilon, row.output) for row in rows] == [
        (micro, k) for micro in LADDER for k in (0, 1)
    ]
    assert all(row.sampling_error is None and row.total_error is None for row in rows)
    assert rows[0].noise == noise_error(GRID, outputs=2, blocks=10, micro_epsilon=LADDER[0])


def test_ladder_with_a_twin_combines_errors_and_counts_bias():
    grid = OutputGrid.build(0, 1)
    outputs = [(0,), (grid.cells,), (1000,), (2000,), None]
    (row,) = ladder([grid], blocks=8, epsilons=[1_000_000], block_outputs=outputs)
    spread = stdev([0, grid.cells, 1000, 2000, grid.middle]) / grid.cells
    assert row.sampling_error == pytest.approx(spread / math.sqrt(8))
    assert row.total_error == pytest.approx(math.hypot(row.sampling_error, row.noise.standard_deviation))
    assert row.failed_share == pytest.approx(0.2)
    assert row.clamped_share == pytest.approx(0.5)


def test_a_twin_whose_blocks_all_failed():
    (row,) = ladder([GRID], blocks=8, epsilons=[1_000_000], block_outputs=[None, None])
    assert (row.sampling_error, row.failed_share, row.clamped_share) == (0.0, 1.0, 0.0)


def test_one_block_shows_no_spread():
    with pytest.raises(ValueError, match="at least two"):
        ladder([GRID], blocks=8, epsilons=[1_000_000], block_outputs=[(1,)])
