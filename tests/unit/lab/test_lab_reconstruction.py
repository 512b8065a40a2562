"""The published vector, and every variant of it: recovered; the platform's mechanisms: within their limit."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from held import make_subjects, whole_numbers

from companions.lab.attacks.reconstruction import (
    candidates_of,
    differences,
    find_divisor,
    level_from_metres,
    level_from_one_person,
    name_values,
    name_values_without_release,
)
from companions.lab.chapter import Standing
from companions.lab.chapters.reconstruction import NOISY_MEANS, PEOPLE, Outcome, attack_all, recovered_in_each
from companions.lab.contenders.blocks import sample_aggregate
from companions.lab.contenders.unsound import local_noise, shifted, without_small_noise
from companions.lab.contenders.whole import stability_calibrated, trusted_mean
from companions.lab.contenders.worlds import draw_worlds, log_densities, snapped
from companions.lab.flawed import leave_one_out_means, shared_noise_vector
from companions.lab.simulation import seeded
from privacy.grid import OutputGrid
from privacy.pac import Pac
from privacy.pac_state import PacState

HEIGHTS = Path(__file__).parents[3] / "examples" / "heights" / "data" / "participants.tsv"


def true_heights() -> np.ndarray:
    with HEIGHTS.open(encoding="utf-8") as file:
        cells = [row["Height"] for row in csv.DictReader(file, delimiter="\t")]
    return np.array([float(cell) for cell in cells if cell != "n/a"])


def test_the_published_vector_gives_back_48_heights_exactly():
    vector = np.array(NOISY_MEANS)
    divisor = find_divisor(vector, grid=0.01)
    found = level_from_metres(differences(vector, divisor=divisor))
    assert divisor == 57 == PEOPLE - 1
    assert len(found) == 48
    assert np.array_equal(np.round(found, 6), true_heights()[:48])
    assert 1.65 in np.round(found, 6)


def test_only_57_puts_the_published_differences_on_the_grid():
    steps = (np.array(NOISY_MEANS) - NOISY_MEANS[0]) / 0.01
    misfits = {n: np.abs(steps * n - np.round(steps * n)).max() for n in range(2, 114)}
    assert misfits[57] < 1e-8
    assert min(misfit for n, misfit in misfits.items() if n != 57) > 1e-3


@pytest.mark.parametrize("reject", [True, False])
def test_shared_noise_gives_everybody_away_in_every_release(reject):
    values = true_heights()
    released = shared_noise_vector(values, 200, seeded(3, "test"), reject=reject)
    assert (recovered_in_each(released, values, known=7) == 58).sum() == 200
    levels = [level_from_metres(differences(vector, divisor=57)) for vector in released]
    assert all(np.abs(level - values).max() < 1e-6 for level in levels)


def test_noise_of_its_own_for_each_entry_stops_the_differences():
    values = true_heights()
    noise = seeded(3, "test").laplace(0, leave_one_out_means(values).std(), (200, 58))
    released = leave_one_out_means(values) + noise
    assert recovered_in_each(released, values, known=7).max() < 20
    with pytest.raises(ValueError, match="noise is not shared"):
        find_divisor(released[0], grid=0.01)


@pytest.mark.parametrize("values", [[170.0, 180.0, 190.0], [1.65, 1.7, 180.0, 190.0, 171.0]])
def test_a_level_needs_one_odd_value_and_one_only(values):
    with pytest.raises(ValueError, match="exactly one value"):
        level_from_metres(np.array(values) - values[0])


@pytest.mark.parametrize("metres", [1.31, 1.65, 1.99, 2.05, 2.29])
def test_the_fraction_of_the_odd_value_tells_the_level(metres):
    values = np.array([170.0, 180.0, metres, 190.0, 175.0])
    assert level_from_metres(values - values[0]) == pytest.approx(values)


def test_the_odd_one_may_be_the_first():
    values = np.array([1.65, 170.0, 180.0, 190.0])
    assert level_from_metres(values - values[0]) == pytest.approx(values)


def test_somebody_who_knows_one_value_knows_the_level():
    values = whole_numbers()
    found = level_from_one_person(values - values[0], person=4, value=values[4])
    assert np.array_equal(found, values)


# --- one number


def hit_rate(contender, values, *, trials=100) -> float:
    people = np.arange(len(values))
    return name_values(contender.draw(trials), contender.log_likelihood, values, people).hit_rate


def test_a_shift_names_everybody():
    values = whole_numbers()
    assert hit_rate(shifted(values), values) == 1.0


def test_a_shift_names_everybody_among_very_many_values():
    values = seeded(2, "continuous").normal(50, 10, 300)
    assert hit_rate(shifted(values), values, trials=2) == 1.0


@pytest.mark.parametrize("seed", [1, 2])
def test_sound_mechanisms_stay_within_their_limit(seed):
    """Under pure_dp the right value is named at most e^epsilon times as often as before: here 1,000 times."""
    subjects, generator = make_subjects(whole_numbers(seed=seed)), seeded(seed, "test")
    before = name_values_without_release(subjects.values, np.arange(60)).hit_rate
    for contender in (sample_aggregate(subjects, 1.0, generator), trusted_mean(subjects, 1.0)):
        assert contender.limit == pytest.approx(math.e)
        # the people's hits within one release are dependent; the releases are not
        assert hit_rate(contender, subjects.values) <= contender.limit * before


@pytest.mark.parametrize(
    "make",
    [
        lambda subjects, generator: sample_aggregate(subjects, 300.0, generator),
        lambda subjects, generator: trusted_mean(subjects, 300.0),
        lambda subjects, generator: stability_calibrated(subjects, 10.0),
        lambda subjects, generator: local_noise(subjects.values, 300.0, generator),
        lambda subjects, generator: without_small_noise(subjects.values, generator),
    ],
)
def test_the_attacker_uses_what_little_noise_leaves(make):
    """The test of the test: with next to no noise the likeliest value is named far more often than before."""
    values = np.where(np.arange(60) % 3, 20.0, 80.0)
    values[:3] = 0.0, 50.0, 100.0
    contender = make(make_subjects(values, lower=-10, upper=110), seeded(1, "weak"))
    assert name_values_without_release(values, np.arange(60)).hit_rate < 0.64
    # 0.87 to 1, by mechanism, with a standard error of up to 0.02
    assert hit_rate(contender, values) > 0.75


def test_the_attacker_of_pac_knows_its_noise():
    """The likelihood takes the variance that the mechanism draws from, but for its rounding."""
    subjects, worlds = (
        make_subjects(whole_numbers()),
        draw_worlds(tuple(map(str, range(60))), seeded(1, "pac")),
    )
    grid = OutputGrid.build(0, 100)
    outputs = worlds.outputs(subjects.values, lambda part: float(part.mean()))
    (variance,) = Pac((grid,), 31_250).noise_variances(snapped(outputs, grid), state=PacState.draw())
    deviation = math.sqrt(variance) * float(grid.step)
    releases = np.array([40.0, 40.0 + deviation])
    first, second = log_densities(
        releases, np.full(64, 40.0) + outputs - outputs.mean(), nats=1 / 32, width=100
    )
    expected = [
        -((release - 40 - output) ** 2) / (2 * deviation**2)
        for release, output in (
            (releases[0], outputs[5] - outputs.mean()),
            (releases[1], outputs[5] - outputs.mean()),
        )
    ]
    assert first[5] - second[5] == pytest.approx(expected[0] - expected[1], rel=1e-3)


def test_without_a_release_the_commonest_value_of_the_others_is_named():
    values = np.array([1.0, 1.0, 1.0, 2.0, 2.0])
    named = name_values_without_release(values, np.arange(5))
    assert named.guesses.tolist() == [[1.0]] * 5 or named.guesses[0, 0] == 1.0
    assert named.hits[3:].sum() == 0


def test_many_values_become_quantiles():
    values = np.arange(1000.0)
    candidates, own = candidates_of(values, most=100)
    assert len(candidates) == 100
    assert np.abs(candidates[own] - values).max() <= 5


def test_what_is_named_is_broken_and_what_has_no_limit_has_no_promise():
    values = whole_numbers()
    subjects, generator = make_subjects(values), seeded(1, "test")
    contenders = [shifted(values), without_small_noise(values, generator), trusted_mean(subjects, 1.0)]
    outcomes: list[Outcome] = attack_all(contenders, values, np.arange(10), trials=20)
    standings = [outcome.standing for outcome in outcomes]
    assert standings == [Standing.BROKEN, Standing.NO_PROMISE, Standing.HOLDS]
