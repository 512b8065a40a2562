"""Previews where chance plays no part: heaps of equal answers, laws point by point, work done in parts."""

import math
from fractions import Fraction

import numpy as np
import pytest

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.preview import LADDER, TwinAnswers, epsilon_for_error, forecast, forecast_interval
from privacy.preview.bootstrap import Bootstrap, draw
from privacy.preview.forecast import errors
from privacy.preview.interval import half_widths
from privacy.preview.ranks import Ranks
from privacy.preview.replay import Resamples, replay
from privacy.sample_aggregate import SampleAggregate

GRID = OutputGrid.build(-3, 3)
STREAM = Keystream()
BLOCKS = 20
LOW, HIGH = GRID.snap(0.5), GRID.snap(1.5)


def resampled(counts, *, replays=200):
    """Every resample holds the answers of `counts`, {grid units: how many blocks}."""
    answers = tuple((units,) for units in counts)
    row = np.array([*counts.values(), 0, 0], np.int32)
    return Resamples(Bootstrap(BLOCKS, answers, np.tile(row, (replays, 1))), 0, GRID)


def asked(micro_epsilon=10**9, **others):
    return SampleAggregate((GRID,), blocks=BLOCKS, micro_epsilon=micro_epsilon, **others)


AT = np.full(200, 0.5)
"""What each replay released."""

HEAPS = {LOW: 8, (LOW + HIGH) // 2: 4, HIGH: 8}
"""The quartiles lie on the outer heaps, the median on the middle one."""


@pytest.mark.parametrize(
    "others", [{"repeats": 2}, {"noise": "gaussian", "atto_delta": 10**12}], ids=["laplace", "gaussian"]
)
def test_half_widths_of_a_mean(others):
    mechanism = asked(interval="sampling", **others)
    spread = (HIGH - LOW) / 1.349
    variance = float(mechanism.noises[0].variance) / mechanism.plan.runs**2 + spread**2 / BLOCKS
    found = half_widths(mechanism, resampled(HEAPS), AT, keystream=STREAM)
    assert found == pytest.approx(1.96 * float(GRID.step) * math.sqrt(variance), rel=1e-12)


def test_half_widths_of_a_median():
    mechanism = asked(interval="sampling", aggregator="median")
    spread, loss = (HIGH - LOW) / 1.349, float(mechanism.value_epsilon(0)) * BLOCKS
    variance = spread**2 * (math.pi / 2 / BLOCKS + 16 * math.pi / loss**2)
    found = half_widths(mechanism, resampled(HEAPS), AT, keystream=STREAM)
    assert found == pytest.approx(1.96 * float(GRID.step) * math.sqrt(variance), rel=1e-12)


def test_half_widths_where_all_blocks_agree():
    """They could vary as much as bounds and mean allow."""
    mechanism = asked(interval="sampling")
    noise = float(mechanism.noises[0].variance) / BLOCKS**2
    mean = LOW - 1.96 * math.sqrt(noise)
    variance = noise + mean * (GRID.cells - mean) / BLOCKS
    found = half_widths(mechanism, resampled({LOW: BLOCKS}), AT, keystream=STREAM)
    assert found == pytest.approx(1.96 * float(GRID.step) * math.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize("quantile", [0.25, 0.5, 0.9])
def test_weights_are_those_of_every_point_together(quantile):
    """Segment by segment the sum of exp(-epsilon/2 distance) over its points, the largest being 1."""
    cells, epsilon, heaps = 60, 1.5, {7: 3, 20: 12, 21: 4, 60: 1}
    upto = np.cumsum(list(heaps.values()))[None, :].repeat(3, axis=0).astype(np.int32)
    ranks = Ranks(np.array(list(heaps)), upto, BLOCKS, cells)
    values = np.repeat(list(heaps), list(heaps.values()))
    points = np.arange(cells + 1)
    below, until = ((values[:, None] < points).sum(axis=0), (values[:, None] <= points).sum(axis=0))
    wanted = quantile * BLOCKS
    law = np.exp(-epsilon / 2 * np.maximum(0, np.maximum(below - wanted, wanted - until)))
    first, number = ranks._segments
    expected = np.array([law[start : start + many].sum() for start, many in zip(first, number, strict=True)])
    found = ranks._weights(slice(0, 3), quantile, epsilon)
    assert found == pytest.approx(np.tile(expected / expected.max(), (3, 1)), rel=1e-9)
    assert ranks._weights(slice(1, 2), quantile, epsilon).shape == (1, len(first))


def test_points_are_chosen_all_over_the_last_segment():
    """Every block at the lower bound, next to no epsilon: all points are as likely."""
    chosen = resampled({0: BLOCKS}, replays=2_000).ranks.choose(0.5, 1e-9, keystream=STREAM)
    assert len(set(chosen.tolist())) > 1_900
    assert abs(np.mean(chosen / GRID.cells) - 0.5) < 6 / math.sqrt(12 * 2_000)


def test_a_replayed_median_is_the_middle_rank():
    """Any point between the two heaps is as good; from eleven twentieths on, only the upper one would be."""
    chosen = replay(asked(aggregator="median"), resampled({LOW: 10, HIGH: 10}), keystream=STREAM)
    assert 0.5 <= chosen.min() < 0.9 < 1.1 < chosen.max() <= 1.5


def test_work_in_parts_of_one_row_gives_the_same(monkeypatch):
    for name in ("bootstrap._CHUNK", "ranks._CELLS", "replay._CELLS"):
        monkeypatch.setattr(f"privacy.preview.{name}", 1)
    sample = draw([(LOW,), (HIGH,)], blocks=7, replays=9, keystream=STREAM)
    assert (sample.counts.sum(axis=1) == 7).all()
    resamples = Resamples(sample, 0, GRID)
    assert resamples.sums.tolist() == (sample.counts[:, 0] * LOW + sample.counts[:, 1] * HIGH).tolist()
    assert (
        resamples.ranks.choose(0.5, 1e6, keystream=STREAM).tolist()
        == resamples.ranks.plain(Fraction(1, 2)).tolist()
    )


AT_ONE = TwinAnswers((1.0,), {10: ((GRID.snap(1.0),),) * 30})
PLACE = {"twin": AT_ONE, "nominal_size": 300, "block_size": 10}


def test_errors_are_distances_from_the_twins_own_number():
    """Blocks that all answer 1, as the whole does: nothing but noise, of the blocks there will be."""
    micro = epsilon_for_error(asked(10**6), 0, within_95=0.5, replays=4_000, **PLACE)
    assert 1_000_000 < micro < 1_500_000
    (row,) = forecast_interval(asked(8 * 10**6), replays=4_000, **PLACE)
    assert max(row.value_95, row.value_95_without) < 0.5


def test_a_forecast_is_for_the_blocks_that_there_will_be():
    """Thirty at ten people each, whatever the job said, and at the epsilon of its row."""
    place = {"twin": AT_ONE, "nominal_size": 300, "block_sizes": [10], "aggregators": ["clipped_mean"]}
    weak, strong = forecast(asked(10**9), epsilons=[10**6, 10**7], replays=4_000, **place)
    assert weak.error.within_95 == pytest.approx(6 / 30 * math.log(20), rel=0.3)
    assert strong.error.within_95 == pytest.approx(6 / 300 * math.log(20), rel=0.3)
    assert weak.noise.half_width_95 == pytest.approx(10 * strong.noise.half_width_95, rel=1e-4)
    # every resample of blocks that agree is the twin itself, but for half a step of the grid
    assert weak.without_noise_95 <= float(GRID.step)


def test_errors_are_quantiles_and_moments():
    found = errors(np.arange(-100.0, 101.0))
    assert (found.typical, found.within_95, found.within_99) == (50, 95, 99)
    assert (found.bias, found.root_mean_square) == (0, pytest.approx(math.sqrt(100 * 101 / 3)))


def test_the_ladder_is_one_of_round_numbers():
    assert [rung / 10**6 for rung in LADDER] == [0.1, 0.25, 0.5, 1, 2, 4, 8]
