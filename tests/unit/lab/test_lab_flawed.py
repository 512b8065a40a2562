"""Unsound mechanisms do what they are said to do wrong, and no more."""

import numpy as np
import pytest
from held import whole_numbers
from scipy import stats

from companions.lab.flawed import (
    leave_one_out_means,
    leave_one_out_reach,
    leave_one_out_scale,
    mean_with_a_shift,
    mean_with_local_noise,
    mean_without_small_noise,
    shared_noise_vector,
)
from companions.lab.simulation import seeded

VALUES = whole_numbers()


def test_leave_one_out_means_are_the_means_without_one():
    expected = [np.delete(VALUES, person).mean() for person in range(len(VALUES))]
    assert leave_one_out_means(VALUES) == pytest.approx(expected)
    assert leave_one_out_reach(VALUES) == pytest.approx(np.abs(np.array(expected) - VALUES.mean()).max())


def test_one_draw_is_shared_by_a_whole_vector():
    released = shared_noise_vector(VALUES, 50, seeded(1, "x"), reject=False)
    noise = released - leave_one_out_means(VALUES)
    assert np.ptp(noise, axis=1).max() < 1e-9
    assert len(np.unique(np.round(noise[:, 0], 9))) == 50


def test_small_noise_never_occurs():
    noise = mean_without_small_noise(VALUES, 5_000, seeded(1, "x")) - VALUES.mean()
    assert np.abs(noise).min() >= leave_one_out_reach(VALUES) * (1 - 1e-9)
    assert 0.4 < (noise > 0).mean() < 0.6


def test_the_closed_form_is_the_law_of_drawing_again():
    """Against the loop itself, at a scale at which the loop ends."""
    generator, values = seeded(4, "loop"), np.array([0.0] * 40 + [1.0] * 41)
    reach, scale = leave_one_out_reach(values), leave_one_out_scale(values)
    drawn = generator.laplace(0, scale, 200_000)
    looped = drawn[np.abs(drawn) >= reach]
    closed = mean_without_small_noise(values, 20_000, generator) - values.mean()
    assert stats.ks_2samp(looped, closed).pvalue > 1e-6


def test_a_shift_is_the_same_every_time_and_grows_with_columns():
    assert mean_with_a_shift(VALUES) == mean_with_a_shift(VALUES) != VALUES.mean()
    four, one = (mean_with_a_shift(VALUES, columns=columns) - VALUES.mean() for columns in (4, 1))
    assert four == pytest.approx(2 * one)


def test_local_noise_is_no_noise_where_nobody_moves_the_mean():
    same = np.full(30, 7.0)
    assert np.array_equal(mean_with_local_noise(same, 0.1, 10, seeded(1, "x")), np.full(10, 7.0))
    spread = mean_with_local_noise(VALUES, 0.1, 4_000, seeded(1, "x")).std()
    assert spread == pytest.approx(2**0.5 * leave_one_out_reach(VALUES) / 0.1, rel=0.15)


def test_simulations_repeat_from_their_seed_and_differ_by_purpose():
    first, again, other = seeded(1, "a"), seeded(1, "a"), seeded(1, "b")
    assert first.random() == again.random() != other.random()
