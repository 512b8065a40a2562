"""The ladder of forecasts, its inverse, and what a sampling interval costs, on a small invented twin."""

import math
from itertools import product

import pytest

from privacy.grid import OutputGrid
from privacy.preview import (
    LADDER,
    Choice,
    TwinAnswers,
    epsilon_for_error,
    forecast,
    forecast_interval,
    noise_error,
    standard_ladder,
)
from privacy.sample_aggregate import SampleAggregate

GRID = OutputGrid.build(-3, 3)
PEOPLE = 300


def blocks_of(size, *, outputs=1):
    """Answers of PEOPLE / size blocks that spread evenly over +-1/sqrt(size), two of them failed."""
    half = 1 / math.sqrt(size)
    count = PEOPLE // size
    answers = [(GRID.snap(half * (2 * k / (count - 1) - 1)),) * outputs for k in range(count)]
    return (None, None, *answers[2:])


def twin(*sizes, outputs=1, number=0.0):
    return TwinAnswers((number,) * outputs, {size: blocks_of(size, outputs=outputs) for size in sizes})


def asked(outputs=1, **others):
    return SampleAggregate((GRID,) * outputs, blocks=30, micro_epsilon=1_000_000, **others)


def test_ladder_stops_at_the_maximum():
    assert standard_ladder(1_000_000) == (100_000, 250_000, 500_000, 1_000_000)
    assert standard_ladder(99_999) == (99_999,)
    assert standard_ladder(10**9) == LADDER


def test_one_row_for_every_output_at_every_choice():
    rows = forecast(
        asked(2),
        twin=twin(5, 10, outputs=2),
        nominal_size=PEOPLE,
        block_sizes=[5, 10, 20],
        epsilons=LADDER[:2],
        replays=50,
    )
    expected = product((5, 10, 20), (0, 1), ("clipped_mean", "median"), LADDER[:2])
    assert [
        (row.choice.block_size, row.output, row.choice.aggregator, row.choice.micro_epsilon) for row in rows
    ] == list(expected)
    assert {row.extrapolated_from for row in rows if row.choice.block_size == 20} == {10}
    assert {row.extrapolated_from for row in rows if row.choice.block_size != 20} == {None}
    assert all(row.failed_share == pytest.approx(2 / (PEOPLE // 5)) for row in rows[:8])


def test_a_part_of_the_blocks_is_forecast_without_the_luck_of_its_people():
    part = TwinAnswers((0.1,), {10: ((GRID.snap(0.0),), (GRID.snap(0.4),)) * 3})
    (row,) = forecast(
        asked(),
        twin=part,
        nominal_size=PEOPLE,
        block_sizes=[10],
        epsilons=[1_000_000],
        aggregators=["clipped_mean"],
        replays=500,
    )
    # their mean is 0.2, within two standard errors of the whole twin's 0.1: luck, and no bias
    assert abs(row.error.bias) < 0.05


def test_a_forecast_stands_beside_its_closed_forms():
    (row,) = forecast(
        asked(),
        twin=twin(10),
        nominal_size=PEOPLE,
        block_sizes=[10],
        epsilons=[1_000_000],
        aggregators=["clipped_mean"],
        replays=4000,
    )
    assert row.choice == Choice(1_000_000, 10, "clipped_mean")
    assert row.noise == noise_error(asked(), 0)
    assert row.error.root_mean_square == pytest.approx(row.formula, rel=0.15)
    assert row.error.within_95 == pytest.approx(row.noise.half_width_95, rel=0.25)
    assert row.error.typical < row.error.within_95 < row.error.within_99
    assert abs(row.error.bias) < 0.05
    assert row.without_noise_95 < row.error.within_95


def test_a_number_beside_the_blocks_is_bias():
    (row,) = forecast(
        asked(),
        twin=twin(10, number=1.0),
        nominal_size=PEOPLE,
        block_sizes=[10],
        epsilons=[8_000_000],
        aggregators=["clipped_mean"],
    )
    assert row.error.bias == pytest.approx(-1.0, abs=0.05)
    assert row.formula == pytest.approx(1.0, abs=0.05)


def test_auto_is_replaced_by_what_the_ladder_tries():
    auto = asked(aggregator="auto", spread_ratios=(8,))
    rows = forecast(auto, twin=twin(10), nominal_size=PEOPLE, block_sizes=[10], epsilons=[10**6], replays=10)
    assert [row.noise is None for row in rows] == [False, True]


def test_gaussian_noise_and_repeats_go_through_the_same_road():
    gaussian = asked(noise="gaussian", atto_delta=10**12, repeats=2)
    (row,) = forecast(
        gaussian,
        twin=twin(10),
        nominal_size=PEOPLE,
        block_sizes=[10],
        epsilons=[1_000_000],
        aggregators=["clipped_mean"],
    )
    assert row.error.root_mean_square == pytest.approx(row.formula, rel=0.3)


def test_epsilon_for_error_is_where_the_replays_meet_it():
    place = {"twin": twin(10), "nominal_size": PEOPLE, "block_size": 10}
    micro = epsilon_for_error(asked(), 0, within_95=0.5, replays=4000, **place)
    # the noise alone needs ln 20 * 6 / (30 * 0.5) = 1.2, the blocks add a little
    assert 1_000_000 < micro < 1_700_000
    assert micro % 100_000 == 0, "two digits"
    assert epsilon_for_error(asked(), 0, within_95=10_000.0, **place) == 1_000


def test_the_largest_epsilon_is_tried_too():
    calm = TwinAnswers((0.0,), {10: ((GRID.snap(0.0),),) * 30})
    place = {"twin": calm, "nominal_size": PEOPLE, "block_size": 10}
    # at epsilon 1000 the noise stays within 0.0006; a quantile of so many replays errs by 0.7 %
    found = epsilon_for_error(asked(), 0, within_95=0.000632, replays=40_000, **place)
    assert 900_000_000 < found < 1_000_000_000


def test_an_error_below_what_the_blocks_leave_is_refused():
    with pytest.raises(ValueError, match="comes from the blocks"):
        epsilon_for_error(
            asked(), 0, within_95=0.01, twin=twin(10), nominal_size=PEOPLE, block_size=10, replays=200
        )


@pytest.mark.parametrize("aggregator", ["clipped_mean", "median"])
def test_a_sampling_interval_costs_the_value_some_accuracy(aggregator):
    mechanism = SampleAggregate((GRID,), blocks=2, micro_epsilon=8_000_000, aggregator=aggregator)
    (row,) = forecast_interval(mechanism, twin=twin(10), nominal_size=PEOPLE, block_size=10, replays=4000)
    assert row.output == 0
    assert row.value_95 > row.value_95_without * (1 if aggregator == "clipped_mean" else 0.9)
    assert row.half_width > 0
    assert row.coverage > 0.85
