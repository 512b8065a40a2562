"""Intervals of covariances and coefficients: what the noise may have done is inside them, whatever it did."""

from fractions import Fraction

import numpy as np
import pytest

from privacy.grid import OutputGrid
from privacy.loss import MICRO
from privacy.trusted import Covariance, LinearRegression
from privacy.trusted.moment_bounds import covariance_bounds, distance_to_solution, root_above, slack
from privacy.trusted.moments import UNIT, Moments, NoisedMoments

X, Y, FAR = OutputGrid.build(-1, 1), OutputGrid.build(-3, 3), OutputGrid.build(10, 20)
ALPHA = Fraction(1, 20)
PAIR = (X, Y)


def people(number, *, seed=1):
    """A feature on -1..1, another on 10..20, and a target that follows both."""
    rng = np.random.default_rng(seed)
    one, far = rng.uniform(-1, 1, number), rng.uniform(10, 20, number)
    return one, far, np.clip(one - (far - 15) / 5 + rng.normal(0, 0.3, number), -3, 3)


def totals_of(query, columns):
    scaled = [
        np.array([grid.snap(float(value)) for value in column])
        for grid, column in zip(query.grids, columns, strict=True)
    ]
    totals = [0] * query.width
    for row in zip(*(column.tolist() for column in scaled), strict=True):
        for place, amount in query.contribution(row).items():
            totals[place] += amount
    return totals


def misses(outputs, truths):
    return [
        abs(float(output.value) - truth) > output.half_width_95
        for output, truth in zip(outputs, truths, strict=False)
    ]


def test_covariances_are_inside_their_intervals():
    """Of 200 releases each may miss one in twenty: 35 misses have a chance of 10^-10."""
    columns = people(400)
    query = Covariance((X, FAR, Y), micro_epsilon=4 * MICRO)
    totals = totals_of(query, columns)
    truths = np.cov(np.array(columns), bias=True)[np.triu_indices(3)]
    missed = np.sum([misses(query.release(totals), truths) for _ in range(200)], axis=0)
    assert missed.max() < 35
    widths = [float(output.half_width_95) for output in query.release(totals)]
    assert all(output.half_width_99 > output.half_width_95 for output in query.release(totals)[:6])
    assert 0 < widths[0] < 0.2 * truths[0] + 0.1


def test_coefficients_are_inside_their_intervals_together():
    one, far, target = people(2_000)
    query = LinearRegression((X, FAR, Y), micro_epsilon=8 * MICRO)
    totals = totals_of(query, (one, far, target))
    matrix = np.column_stack([np.ones_like(one), one, far])
    truths = np.linalg.lstsq(matrix, target, rcond=None)[0]
    missed = sum(any(misses(query.release(totals)[:3], truths)) for _ in range(100))
    # 5 expected at most; 25 have a chance of 10^-11
    assert missed < 25
    intercept, slope, slope_far, count = query.release(totals)
    assert slope.half_width_95 < slope.half_width_99 < 1
    # a step of a feature that is five times as wide
    assert float(slope.half_width_95 / slope_far.half_width_95) == pytest.approx(5, rel=1e-3)
    # (1, 0/1, 15/5) is as long as the root of 10
    assert float(intercept.half_width_95 / slope.half_width_95) == pytest.approx(10**0.5, rel=1e-3)
    assert count.half_width_95 < 20


@pytest.mark.parametrize("number", [0, 30])
def test_hardly_anybody_tells_nothing(number):
    query = LinearRegression((X, Y), micro_epsilon=MICRO // 10)
    outputs = query.release(totals_of(query, people(number)[::2]))
    assert [output.half_width_95 for output in outputs[:2]] == [None, None]
    query = Covariance((X, Y), micro_epsilon=MICRO // 10)
    variance, covariance, *_ = query.release(totals_of(query, people(number)[::2]))
    assert variance.half_width_95 >= Fraction(1, 2)
    assert covariance.half_width_95 >= 3


def noised(count, sums, products):
    return NoisedMoments(count, tuple(map(Fraction, sums)), {k: Fraction(v) for k, v in products.items()})


MOMENTS = Moments(PAIR, ((0, 0), (0, 1), (1, 1)), micro_epsilon=10**9, rows=1)
"""With little noise."""


def test_without_noise_the_interval_is_the_covariance_and_the_rounding():
    """Of very many people, beside whom the noise is nothing."""
    many = 10**9
    found = noised(
        100 * many, (50 * many, -20 * many), {(0, 0): 40 * many, (0, 1): 30 * many, (1, 1): 10 * many}
    )
    rounding = Fraction(2, UNIT)
    for (i, j), truth in {
        (0, 0): Fraction(15, 100),
        (0, 1): Fraction(40, 100),
        (1, 1): Fraction(6, 100),
    }.items():
        low, high = covariance_bounds(MOMENTS, found, i, j, alpha=ALPHA)
        assert truth - low == pytest.approx(float(rounding), rel=1e-2)
        assert high - truth == pytest.approx(float(rounding), rel=1e-2)


@pytest.mark.parametrize("sums", [(0, 0), (100, 100), (-100, 100)])
def test_an_interval_ends_where_covariances_do(sums):
    found = noised(100, sums, {(0, 0): 100, (0, 1): sums[0] * sums[1] / 100, (1, 1): 100})
    for i, j in ((0, 0), (0, 1), (1, 1)):
        low, high = covariance_bounds(MOMENTS, found, i, j, alpha=ALPHA)
        assert (0 if i == j else -1) <= low <= high <= 1


def test_the_slack_of_moments_is_noise_and_rounding():
    wide = Moments(PAIR, ((0, 0), (0, 1)), micro_epsilon=MICRO, rows=1)
    widths = [wide.noisy.half_width(k, alpha=ALPHA / 5) for k in range(5)]
    found = slack(wide, noised(1000, (0, 0), {(0, 0): 0, (0, 1): 0}), alpha=ALPHA)
    most = Fraction(1000 + widths[0], UNIT)
    assert found.count == widths[0]
    assert found.sums == (Fraction(widths[1], UNIT) + most, Fraction(widths[2], UNIT) + most)
    assert found.products == {
        (0, 0): (Fraction(widths[3], UNIT**2) + widths[0]) / 2 + 2 * most,
        (0, 1): Fraction(widths[4], UNIT**2) + 2 * most,
    }
    # a noised count far below zero rounds nothing
    nobody = slack(wide, noised(-10_000, (0, 0), {(0, 0): 0, (0, 1): 0}), alpha=ALPHA)
    assert nobody.sums[0] == Fraction(widths[1], UNIT)


def fractions(array):
    return [[Fraction(value) for value in row] for row in array.tolist()]


def test_every_solution_within_the_slack_is_within_the_distance():
    rng = np.random.default_rng(2)
    matrix, right = np.array([[100.0, 10, 5], [10, 60, 0], [5, 0, 40]]), np.array([50.0, 30, -20])
    wide, wide_right = np.array([[3.0, 2, 1], [2, 3, 2], [1, 2, 3]]), np.array([2.0, 3, 1])
    beta = np.linalg.solve(matrix + 2 * np.eye(3), right)  # with a ridge
    bound = distance_to_solution(
        fractions(matrix),
        list(map(Fraction, right)),
        list(map(Fraction, beta)),
        matrix_slack=fractions(wide),
        right_slack=list(map(Fraction, wide_right)),
    )
    farthest = 0.0
    for _ in range(2_000):
        signs = np.triu(rng.choice([-1.0, 1.0], (3, 3)))
        signs = signs + np.triu(signs, 1).T
        exact = np.linalg.solve(matrix + signs * wide, right + rng.choice([-1.0, 1.0], 3) * wide_right)
        farthest = max(farthest, float(np.linalg.norm(exact - beta)))
    assert farthest <= bound < 4 * farthest


@pytest.mark.parametrize("amount", [7.2, 100.0])
def test_a_slack_as_large_as_an_eigenvalue_hides_everything(amount):
    """The least eigenvalue is 8; a 64th below it is certain."""
    parts = {"matrix_slack": [[Fraction(amount)]], "right_slack": [Fraction(0)]}
    one = [Fraction(1)]
    assert distance_to_solution([[Fraction(8)]], one, one, **parts) == (
        None
        if amount > 8
        else root_above(Fraction((7 + amount) ** 2)) / (8 - Fraction(1, 8) - Fraction(amount))
    )


@pytest.mark.parametrize("value", [Fraction(0), Fraction(2), Fraction(10**30 + 1), Fraction(1, 3**40)])
def test_a_root_is_rounded_up(value):
    assert root_above(value) ** 2 >= value
    assert root_above(value) == 0 or (root_above(value) - Fraction(1, 2**19)) ** 2 < max(
        value, Fraction(1, 4**19)
    )
