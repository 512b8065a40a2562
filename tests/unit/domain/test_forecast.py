"""The error to expect in closed form: against simulated laws, and against the mechanisms' own forecasts."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest

from domain.forecast import (
    clipping_moves,
    gaussian_deviation,
    gaussian_ladder,
    in_units,
    pac_ladder,
    simulate_gaussian,
    simulate_pac,
    simulate_stability,
    stability_ladder,
)
from domain.mechanism import PacRequest, SampleAggregateRequest, StabilityRequest
from domain.output_value import grids_of
from domain.pipeline import OutputValue
from domain.rehearsal import Preview, QuietMean, TwinRuns, UnitNoise
from domain.shape import Shape
from privacy.preview import forecast_pac

VALUES = (
    OutputValue(name="age", lower=0, upper=100),
    OutputValue(name="height", lower=100, upper=220),
)
SHAPE = Shape.model_validate({"files": [{"file": "a.tsv", "rows": [["age", "height"], [None, None]]}]})
NOISE = UnitNoise(normal=(-2.0, -1.0, 0.0, 1.0, 2.0), laplace=(-3.0, -1.0, 0.5, 1.0, 2.0))
PREVIEW = Preview(noise=NOISE)
GAUSSIAN = SampleAggregateRequest(
    name="sample_aggregate", epsilon="1", noise="gaussian", delta="0.000001", block_size=10
)


def twin_runs(**runs) -> TwinRuns:
    return TwinRuns(shape=SHAPE, numbers=(40.0, 170.0), blocks=((40.0, 170.0),) * 4, seconds=0.1, **runs)


def test_gaussian_noise_is_that_of_the_release():
    """The deviation of the mechanism's own draws, within what 4,000 of them tell."""
    deviation = gaussian_deviation(GAUSSIAN, VALUES, nominal_size=600, index=1)
    mechanism = GAUSSIAN.build(VALUES, nominal_size=600)
    drawn = mechanism.draw_noise(1, 4000).astype(float) * float(mechanism.grids[1].step) / mechanism.plan.runs
    assert deviation == pytest.approx(float(np.std(drawn)), rel=0.08)
    assert deviation == pytest.approx(1.2 * gaussian_deviation(GAUSSIAN, VALUES, nominal_size=600, index=0))


def test_clipping_moves_means_as_it_moves_the_blocks_of_a_release():
    asked = GAUSSIAN.model_copy(update={"clip_norm": 0.5})
    blocks = ((90.0, 200.0), (50.0, 160.0), None, (None, 220.0), (0.0, 100.0))
    moves = clipping_moves(asked, VALUES, blocks, nominal_size=600)
    # in half-ranges (.8, .667), (0, 0) and (-1, -1): two are beyond .5, and shrink in proportion
    shrunk = [0.5 / math.hypot(0.8, 2 / 3) - 1, 0.5 / math.hypot(1, 1) - 1]
    assert moves == pytest.approx(
        [
            (40 * shrunk[0] - 50 * shrunk[1]) / 5,
            (40 * shrunk[0] - 60 * shrunk[1]) / 5,
        ],
        abs=1e-3,
    )
    assert clipping_moves(GAUSSIAN, VALUES, blocks, nominal_size=600) == [0, 0]


def test_the_gaussian_ladder_has_the_chosen_epsilon_and_falls():
    asked = GAUSSIAN.model_copy(update={"epsilon": "0.7"})
    mean = QuietMean(output=0, block_size=10, offsets=(-0.2, 0.0, 0.4))
    ladder = gaussian_ladder(asked, VALUES, nominal_size=600, mean=mean, most=1_000_000)
    assert [rung.amount for rung in ladder] == ["0.1", "0.25", "0.5", "0.7", "1"]
    assert all(first.within_95 > second.within_95 for first, second in pairwise(ladder))
    chosen = ladder[-2]
    deviation = gaussian_deviation(asked, VALUES, nominal_size=600, index=0)
    laws = [NormalDist(offset, deviation) for offset in mean.offsets]
    inside = sum(law.cdf(chosen.within_95) - law.cdf(-chosen.within_95) for law in laws) / 3
    assert inside == pytest.approx(0.95, abs=1e-6)
    assert chosen.noise_95 == pytest.approx(1.96 * deviation, rel=1e-3)
    assert chosen.within_95 > chosen.noise_95 > chosen.typical


def test_simulated_gaussian_releases_are_means_with_noise():
    mean = QuietMean(output=0, block_size=10, offsets=tuple(at / 10 for at in range(-25, 26)))
    found = simulate_gaussian(mean, PREVIEW, whole=40.0, deviation=0.0001)
    assert len(set(found.values)) == 5
    assert all(abs(value - 40) < 2.6 for value in found.values)
    assert np.ptp(found.values) > 1, "five neighbours of 51 quantiles would be nearly alike"


@pytest.mark.parametrize("nats", ["0.25", "0.3"])
def test_pac_scales_as_the_mechanism_itself_does(nats: str):
    runs = twin_runs(half_samples=tuple((38.0 + 4 * (at % 2), 169.0 + at / 32) for at in range(64)))
    (rung,) = [
        rung
        for rung in pac_ladder(PacRequest(name="pac", nats=nats), VALUES, runs, index=1)
        if rung.amount == nats
    ]
    for other in pac_ladder(PacRequest(name="pac", nats="0.125"), VALUES, runs, index=1):
        pac = PacRequest(name="pac", nats=other.amount).build(VALUES, nominal_size=0)
        row = forecast_pac(pac, in_units(runs.half_samples, grids_of(VALUES)), numbers=runs.numbers)[1]
        assert (other.typical, other.within_95) == pytest.approx((row.typical, row.within_95), rel=1e-4)
    simulated = simulate_pac(PacRequest(name="pac", nats=nats), VALUES, runs, PREVIEW, index=1)
    assert simulated.within_95 == pytest.approx(rung.within_95, rel=1e-4)
    assert len(set(simulated.values)) == 5


def test_a_world_that_failed_counts_as_the_middle():
    whole = [(40.0, 170.0)] * 63
    missing = twin_runs(half_samples=(None, *whole))
    middle = twin_runs(half_samples=((50.0, 160.0), *whole))
    asked = PacRequest(name="pac", nats="0.25")
    assert pac_ladder(asked, VALUES, missing, index=0) == pac_ladder(asked, VALUES, middle, index=0)


def test_stability_moves_in_powers_of_two():
    people = 20
    runs = twin_runs(leave_one_out=((40.0, 170.0), *[(40.0 + at / 10, 170.0) for at in range(people)]))
    asked = StabilityRequest(name="stability_calibrated", noise_multiplier=3.0)
    ladder = stability_ladder(asked, VALUES, runs, nominal_size=people, index=0)
    assert [rung.amount for rung in ladder] == ["0.5", "1", "2", "3", "4"]
    # two outputs times the largest change 1.9 is 3.8, the floor 100/20 = 5: to powers of two 8, 16 at 3 too
    scales = [rung.within_95 / math.log(20) for rung in ladder]
    assert scales == pytest.approx([4, 8, 16, 16, 32], rel=1e-3)
    simulated = simulate_stability(ladder[1], runs, PREVIEW, index=0)
    assert simulated.values == pytest.approx([40 - 24, 40 - 8, 44, 48, 56], rel=1e-3)


def test_a_run_that_failed_without_one_person_takes_all_of_the_range():
    runs = twin_runs(leave_one_out=((40.0, 170.0), None, *[(40.0, None)] * 19))
    asked = StabilityRequest(name="stability_calibrated", noise_multiplier=1.0)
    widest = stability_ladder(asked, VALUES, runs, nominal_size=20, index=0)[1]
    assert widest.within_95 > 100
