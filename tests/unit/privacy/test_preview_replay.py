"""Resamples and what is computed on them; their law is tested in tests/statistical."""

from fractions import Fraction

import numpy as np
import pytest

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.median import noisy_quantile, tally
from privacy.preview.bootstrap import below, draw, uniform
from privacy.preview.formulas import noise_error
from privacy.preview.ranks import Ranks
from privacy.preview.replay import Resamples, noise_of_many, replay, without_noise
from privacy.sample_aggregate import SampleAggregate

GRID = OutputGrid.build(0, 1)
STREAM = Keystream()


def resampled(answers, *, blocks, replays=50, index=0):
    return Resamples(draw(answers, blocks=blocks, replays=replays, keystream=STREAM), index, GRID)


def test_every_resample_has_as_many_blocks_as_the_release():
    sample = draw([(1,), (2,), None], blocks=7, replays=100, keystream=STREAM)
    assert sample.replays == 100
    assert (sample.counts.sum(axis=1) == 7).all()
    assert (sample.counts[:, 2] == 0).all(), "a failed block is counted by its place"
    assert (sample.counts[:, 3] <= 4).all()
    assert (sample.counts[:, 4] <= 3).all()


def test_many_resamples_are_drawn_in_parts(monkeypatch):
    monkeypatch.setattr("privacy.preview.bootstrap._CHUNK", 20)
    sample = draw([(1,), (2,)], blocks=7, replays=9, keystream=STREAM)
    assert (sample.counts.sum(axis=1) == 7).all()


def test_small_draws_are_in_range():
    drawn = below(3, (1000,), keystream=STREAM)
    assert set(drawn.tolist()) == {0, 1, 2}
    numbers = uniform(1000, keystream=STREAM)
    assert 0 <= numbers.min() < 0.1
    assert 0.9 < numbers.max() < 1


def test_sums_are_exact_and_count_failures_in_the_middle():
    answers = [(GRID.cells,), (1,), None]
    resamples = resampled(answers, blocks=11)
    counts = resamples.bootstrap.counts.astype(object)
    expected = counts[:, 0] * GRID.cells + counts[:, 1] + (counts[:, 3] + counts[:, 4]) * GRID.middle
    assert (resamples.sums == expected.astype(np.int64)).all()


def test_without_noise_is_the_plain_aggregate():
    answers = [(10,), (30,), (GRID.cells,)]
    resamples = resampled(answers, blocks=9)
    mean = SampleAggregate((GRID,), blocks=9, micro_epsilon=1_000_000)
    median = SampleAggregate((GRID,), blocks=9, micro_epsilon=1_000_000, aggregator="median")
    rows = [np.repeat([10, 30, GRID.cells], row[:3]) for row in resamples.bootstrap.counts]
    step = float(GRID.step)
    assert without_noise(mean, resamples) == pytest.approx([row.mean() * step for row in rows])
    assert without_noise(median, resamples) == pytest.approx([np.median(row) * step for row in rows])


@pytest.mark.parametrize("blocks", [1, 2, 7, 8])
def test_the_middle_of_an_even_number_lies_between_two(blocks):
    answers = [(10,), (30,), (50,), None]
    resamples = resampled(answers, blocks=blocks)
    values = np.array([10, 30, 50, 0, 0, GRID.cells])
    rows = [np.repeat(values, row) for row in resamples.bootstrap.counts]
    assert resamples.ranks.plain(Fraction(1, 2)).tolist() == [float(np.median(row)) for row in rows]


def test_a_large_epsilon_chooses_the_very_median():
    answers = [(10,), (10,), (30,), (GRID.cells,)]
    resamples = resampled(answers, blocks=5)
    chosen = resamples.ranks.choose(0.5, 1e6, keystream=STREAM)
    assert chosen.tolist() == resamples.ranks.plain(Fraction(1, 2)).tolist()


def test_replays_of_medians_are_made_in_parts(monkeypatch):
    monkeypatch.setattr("privacy.preview.ranks._CELLS", 12)
    resamples = resampled([(10,), (30,)], blocks=3, replays=20)
    assert (
        resamples.ranks.choose(0.5, 1e6, keystream=STREAM).tolist()
        == resamples.ranks.plain(Fraction(1, 2)).tolist()
    )


def test_segments_cover_the_grid_once():
    ranks = Ranks(np.array([0, 7, 8, 20]), np.array([[1, 2, 3, 4]], np.int32), blocks=4, cells=20)
    first, points = ranks._segments
    covered = [first[k] + i for k in range(len(first)) for i in range(points[k])]
    assert covered == list(range(21))


def test_the_extremes_of_a_quantile_are_those_of_the_mechanism():
    ranks = resampled([(5,), (9,)], blocks=2).ranks
    chosen = ranks.choose(0.25, 1e6, keystream=STREAM)
    low = [int(row.argmax()) for row in ranks.upto > 0]
    assert chosen.tolist() == [int(ranks.values[position]) for position in low]
    exact = noisy_quantile(
        tally([5, 9]), cells=GRID.cells, quantile=Fraction(1, 4), epsilon=Fraction(10**6), sensitivity=1
    )
    assert exact == 5


@pytest.mark.parametrize("aggregator", ["clipped_mean", "median"])
def test_replays_lie_on_the_grid(aggregator):
    mechanism = SampleAggregate((GRID,), blocks=6, micro_epsilon=10**9, aggregator=aggregator)
    values = replay(mechanism, resampled([(5,), (9,), None], blocks=6), keystream=STREAM)
    assert all(Fraction(value) % GRID.step == 0 for value in values)


@pytest.mark.parametrize("noise", [{"noise": "joint"}, {"noise": "gaussian", "atto_delta": 10**12}])
def test_the_noise_of_many_outputs_is_drawn_at_once_and_of_the_same_law(noise):
    wide = OutputGrid.build(-3, 3)
    mechanism = SampleAggregate((GRID,) * 24 + (wide,), blocks=6, micro_epsilon=1_000_000, **noise)
    drawn = noise_of_many(mechanism, 4_000, keystream=STREAM)
    assert drawn.shape == (4_000, 25)
    assert (drawn == np.rint(drawn)).all()
    for index in (0, 24):
        assert drawn[:, index].std() == pytest.approx(float(mechanism.noises[index].scale), rel=0.06)
    resamples = Resamples(draw([(5,) * 25] * 6, blocks=6, replays=4_000, keystream=STREAM), 24, wide)
    values = replay(mechanism, resamples, keystream=STREAM, drawn=drawn[:, 24])
    assert values.std() == pytest.approx(float(noise_error(mechanism, 24).standard_deviation), rel=0.06)


def test_few_outputs_and_noise_of_their_own_are_drawn_one_by_one():
    for count, noise in ((20, "joint"), (20, "laplace")):
        mechanism = SampleAggregate((GRID,) * count, blocks=6, micro_epsilon=1_000_000, noise=noise)
        assert noise_of_many(mechanism, 10, keystream=STREAM) is None
