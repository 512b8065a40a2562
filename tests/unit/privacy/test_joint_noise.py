import itertools
import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

from privacy import joint_noise as module
from privacy.discrete_laplace import quantile
from privacy.joint_noise import JointNoise, _all_ones, joint_noise, uniform_below
from privacy.keystream import Keystream

TWENTIETH = Fraction(1, 20)
CELLS = 2**20


def test_shells_follow_from_epsilon():
    found = {
        epsilon: joint_noise((CELLS,), epsilon=Fraction(epsilon)).shells
        for epsilon in ("1/1000", "1", "2", "1000")
    }
    assert found == {"1/1000": 64, "1": 1024, "2": 2048, "1000": 32768}


def test_there_are_no_more_shells_than_units():
    noise = joint_noise((5, 9), epsilon=Fraction(1, 2))
    assert (noise.shells, noise.widths) == (4, (2, 3))


def test_sides_hold_every_sensitivity_and_hardly_more():
    sensitivities = (CELLS, CELLS + 1, 300 * CELLS + 7)
    noise = joint_noise(sensitivities, epsilon=Fraction(1))
    for sensitivity, width in zip(sensitivities, noise.widths, strict=True):
        assert 0 <= noise.shells * width - sensitivity < noise.shells
    assert noise.shells * noise.rate == 1


def test_one_value_gets_about_laplace_noise():
    (marginal,) = joint_noise((CELLS,), epsilon=Fraction(1)).marginals
    assert 1 <= marginal.half_width(TWENTIETH) / quantile(TWENTIETH, Fraction(CELLS)) < 1.003
    assert 1 <= marginal.variance / (2 * CELLS**2) < 1.003


def test_the_tail_of_the_radius_times_a_uniform_number():
    # by counting: E max(0, 1 - x/G) over G ~ Gamma(4), x = 2
    grams = (np.arange(200_000) + 0.5) / 4_000
    density = grams**3 * np.exp(-grams) / 6 / 4_000
    assert abs(float(module._tail(Decimal(2), 3)) - (density * np.maximum(0, 1 - 2 / grams)).sum()) < 1e-6


def test_quantiles_are_hardly_above_the_least():
    for values in (1, 7, 400):
        x = module._quantile(TWENTIETH, values)
        with localcontext(Context(prec=70)):
            exact = Decimal(x.numerator) / x.denominator
            shorter = module._tail(exact - Decimal("1e-38"), values)
            assert module._tail(exact, values) <= Decimal("0.05") < shorter
    assert float(module._quantile(TWENTIETH, 1)) == pytest.approx(math.log(20))
    assert module._quantile(Fraction(99, 100), 2) < Fraction(1, 10)


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1), Fraction(3, 2)])
def test_half_widths_are_for_probabilities(alpha):
    with pytest.raises(ValueError, match="alpha"):
        joint_noise((CELLS,), epsilon=Fraction(1)).marginals[0].half_width(alpha)


def test_draws_of_many_values_come_in_parts():
    noise = joint_noise((CELLS,) * 300, epsilon=Fraction(1))
    with patch.object(module, "_CHUNK", 1_000):
        drawn = noise.draw(10)
        alone = noise.marginals[299].draw(10)
    assert drawn.shape == (10, 300)
    assert len({*drawn.ravel().tolist(), *alone.tolist()}) == 3_010


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (((), Fraction(1), 1), "1 to 400"),
        (((9,) * 401, Fraction(1), 1), "1 to 400"),
        (((9,), Fraction(0), 1), "epsilon"),
        (((9,), 1, 1), "epsilon"),
        (((9, 0), Fraction(1), 1), "whole numbers"),
        (((True,), Fraction(1), 1), "whole numbers"),
        (((9,), Fraction(1), 2.0), "whole numbers"),
        (((9,) * 100, Fraction(1), 1), "too coarse; lower epsilon"),
        (((2**40,), Fraction(1, 10**3), 16), "too wide for 64 bits; raise epsilon"),
        (((1,), Fraction(1, 10**15), 1), "too wide for 64 bits; raise epsilon"),
    ],
)
def test_what_cannot_be_drawn_is_refused(parameters, said):
    with pytest.raises(ValueError, match=said):
        JointNoise(*parameters)


def test_a_radius_that_does_not_fit_is_no_draw():
    noise = JointNoise((9,), Fraction(1), 2)
    with patch.object(module, "_MOST_RATES", 0), pytest.raises(OverflowError, match="64 bits"):
        noise.draw(1_000)


def test_the_widest_noise_that_is_not_refused_fits():
    noise = JointNoise((2**44,) * 3, Fraction(1), 2**10)
    assert np.abs(noise.draw(1_000)).max() < 2**62


def test_uniform_numbers_reach_all_that_lies_below_their_bound():
    bounds = np.array([[1, 2, 3], [5, 8, 2**62]]).repeat(500, axis=1)
    drawn = uniform_below(bounds, stream=Keystream())
    assert drawn.shape == bounds.shape
    assert (drawn >= 0).all()
    assert (drawn < bounds).all()
    for column, bound in ((500, 2), (1_000, 3)):
        assert set(drawn[0, column : column + 500].tolist()) == set(range(bound))
    assert set(drawn[1, :500].tolist()) == set(range(5))
    assert drawn[1, 1_000:].max() > 2**61


def test_every_number_below_a_bound_can_be_drawn() -> None:
    """The masks are all ones, whatever bits a bound has: with a hole, some numbers would never come."""
    powers = [1 << bits for bits in range(62)]
    found = _all_ones(np.array([0, *powers, *(power + power // 3 for power in powers)]))
    ones = [2 * power - 1 for power in powers]
    assert found.tolist() == [0, *ones, *ones]


def test_each_draw_lies_around_zero() -> None:
    """Joint and by itself, within more than five deviations of what so many draws give."""
    noise = JointNoise((1000, 300), Fraction(1), 64)
    together = noise.draw(4000, keystream=Keystream())
    alone = noise.draw_of(1, 4000, keystream=Keystream())
    for draws, marginal in ((together[:, 0], 0), (together[:, 1], 1), (alone, 1)):
        deviation = float(noise.marginals[marginal].scale)
        assert abs(draws.mean()) < 6 * deviation / 4000**0.5
        assert 0.85 < draws.std() / deviation < 1.15


def test_of_all_coins_of_a_radius_as_many_win_as_its_box_has_points_and_each_is_drawn() -> None:
    noise = JointNoise((3, 2), Fraction(1), 1)
    for radius in range(4):
        sides = [range(2 * width * (radius + place)) for place, width in enumerate(noise.widths, start=1)]
        coins = np.array(list(itertools.product(*sides)))
        with patch.object(module, "uniform_below", return_value=coins) as drawn:
            wins = noise._accepts(np.full(len(coins), radius), stream=Keystream())
        assert (drawn.call_args.args[0] == [len(side) for side in sides]).all()
        halves = [width * radius for width in noise.widths]
        assert wins.sum() == math.prod(2 * half + 1 for half in halves)
        coins = np.array(list(itertools.product(*(range(2 * half + 1) for half in halves))))
        radii = np.full(len(coins), radius)
        with (
            patch.object(JointNoise, "_radii", return_value=radii),
            patch.object(module, "uniform_below", return_value=coins) as drawn,
        ):
            points = noise._draw(len(coins), np.array(noise.widths), stream=Keystream())
        assert (drawn.call_args.args[0] == [2 * half + 1 for half in halves]).all()
        box = itertools.product(*(range(-half, half + 1) for half in halves))
        assert {*map(tuple, points.tolist())} == set(box)


def test_what_a_marginal_states_is_no_less_than_the_law_and_the_least_of_its_bound() -> None:
    """Where shells are few: there a half and a unit count. (p + 1) rate is the most that is taken."""
    for noise in (JointNoise((4, 6), Fraction(2), 2), JointNoise((9,) * 3, Fraction(4), 1)):
        boxes = [math.prod(2 * width * t + 1 for width in noise.widths) for t in range(120)]
        weights = [box * math.exp(-float(noise.rate) * t) for t, box in enumerate(boxes)]
        for width, marginal in zip(noise.widths, noise.marginals, strict=True):
            exact = sum(weight * width * t * (width * t + 1) / 3 for t, weight in enumerate(weights))
            assert 1 <= float(marginal.variance) * sum(weights) / exact < 5
            x = module._quantile(TWENTIETH, len(noise.widths))
            half = marginal.half_width(TWENTIETH)
            reached = [noise.rate * ((h + Fraction(1, 2)) / width - Fraction(3, 2)) for h in (half - 1, half)]
            assert reached[0] < x <= reached[1]


def test_the_stated_variance_is_a_third_of_the_square_of_the_last_shell() -> None:
    """E (w (Y + 3/2))^2 / 3 with Y of Erlang's law, by its two moments; also where few shells are drawn."""
    for values, epsilon in ((1, Fraction(1, 2)), (3, Fraction(1)), (2, Fraction(6))):
        noise = JointNoise((4,) * values, epsilon, 4)
        first, second = (values + 1) / noise.rate, (values + 1) * (values + 2) / noise.rate**2
        (width, *_) = noise.widths
        stated = noise.marginals[0].variance
        assert stated == width**2 * (second + 3 * first + Fraction(9, 4)) / 3
