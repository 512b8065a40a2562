"""Trusted queries with the noise held at zero: exact values, and intervals worked out a second time.

A wrong value makes a wide interval around it, which then holds the truth: that an interval covers proves
little. Here values and both widths are compared with numbers that the package did not compute.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from privacy.discrete_laplace import quantile
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.trusted import (
    Count,
    Covariance,
    Groups,
    Histogram,
    LinearRegression,
    Mean,
    Quantile,
    Sum,
    Variance,
)
from privacy.trusted.moments import UNIT

MICRO = 10**6
AGES = OutputGrid.build(18, 98)
X, Y = OutputGrid.build(-1, 1), OutputGrid.build(10, 20)
ALPHAS = (Fraction(1, 20), Fraction(1, 100))


class Silent(Keystream):
    """All ones: the noise is zero."""

    def words(self, n, dtype):
        fill = 0 if dtype is np.uint8 else np.iinfo(dtype).max
        return np.full(n, fill, dtype)


def totals_of(query, rows):
    totals = [0] * query.width
    for row in rows:
        for place, amount in query.contribution(row).items():
            totals[place] += amount
    return totals


def without_noise(query, rows):
    return query.release(totals_of(query, rows), keystream=Silent())


def snapped(grid, values):
    return [grid.snap(value) for value in values]


def ratios(total, count, *, scales, alpha, limit):
    """Every corner of what total/count may be, with each sum's own noise within its share of alpha."""
    slack, count_slack = (quantile(alpha, scale) for scale in scales)
    corners = [
        Fraction(total + one, count + other)
        for one, other in product((-slack, slack), (-count_slack, count_slack))
    ]
    return max(min(corners), -limit), min(max(corners), limit)


# The middle of AGES is 58: groups on both sides of it, above it and below it, and at the ends.
POPULATIONS = {
    "both sides": [18, 40, 58, 77, 98, 60],
    "above": [90, 94, 97, 91],
    "below": [19, 25, 22, 30],
    "one value": [61],
}


def test_mean_and_its_half_widths(subtests):
    for ages in POPULATIONS.values():
        for times in (100, 3):
            with subtests.test(ages=ages, times=times):
                query, units = Mean(AGES, micro_epsilon=2 * MICRO, rows=2), snapped(AGES, ages) * times
                mean, count = without_noise(query, [[unit] for unit in units])
                assert (count.value, count.noise_scale) == (len(units), 2)
                assert mean.value == AGES.nearest(AGES.value(Fraction(sum(units), len(units))))
                distances = sum(2 * unit - AGES.cells for unit in units)
                for alpha, width in zip(ALPHAS, (mean.half_width_95, mean.half_width_99), strict=True):
                    scales = (Fraction(2 * AGES.cells), Fraction(2))
                    low, high = -AGES.cells, AGES.cells
                    if len(units) > quantile(alpha / 2, scales[1]):
                        low, high = ratios(
                            distances, len(units), scales=scales, alpha=alpha / 2, limit=AGES.cells
                        )
                    ends = [58 + AGES.step / 2 * end for end in (low, high)]
                    assert width == max(mean.value - ends[0], ends[1] - mean.value) + AGES.step / 2


def test_mean_of_nobody():
    """Nobody, or one noised person: the middle, and an interval over the whole range."""
    query = Mean(AGES, micro_epsilon=MICRO)
    mean, count = query.release([0, 0], keystream=Silent())
    assert (mean.value, count.value) == (58, 0)
    assert mean.half_width_95 == mean.half_width_99 == 40 + AGES.step / 2
    mean, _ = query.release([0, AGES.cells // 2], keystream=Silent())
    assert mean.value == 78
    mean, _ = query.release([1, AGES.cells // 2], keystream=Silent())
    assert mean.value == 78


def test_variance_and_its_half_widths(subtests):
    for ages in POPULATIONS.values():
        for times in (400, 60):
            with subtests.test(ages=ages, times=times):
                query, units = Variance(AGES, micro_epsilon=MICRO // 2), snapped(AGES, ages) * times
                variance, mean, count = without_noise(query, [[unit] for unit in units])
                years = [float(AGES.value(unit)) for unit in units]
                assert float(variance.value) == pytest.approx(np.var(years), abs=0.005)
                assert mean.value == AGES.nearest(AGES.value(Fraction(sum(units), len(units))))
                assert (count.value, count.noise_scale) == (len(units), 6)
                distances, squares = totals_of(query, [[unit] for unit in units])[1:]
                scales = (Fraction(6 * AGES.cells), Fraction(6))
                for alpha, width in zip(
                    ALPHAS, (variance.half_width_95, variance.half_width_99), strict=True
                ):
                    shared = {"scales": scales, "alpha": alpha / 3, "limit": AGES.cells}
                    means = [end / AGES.cells for end in ratios(distances, len(units), **shared)]
                    centred = [end / AGES.cells for end in ratios(squares, len(units), **shared)]
                    if means[0] < 0 < means[1]:
                        means.append(Fraction(0))
                    found = [1600 * ((1 + square) / 2 - mean**2) for mean in means for square in centred]
                    low = max(min(found), 0)
                    high = min(max(found) + Fraction(1600, AGES.cells), 1600)
                    step = query.steps[0]
                    assert width == max(variance.value - low, high - variance.value) + step / 2


def test_variance_of_hardly_anybody():
    query = Variance(AGES, micro_epsilon=MICRO)
    nobody = query.release([0, 0, 0], keystream=Silent())[0]
    assert (nobody.value, nobody.half_width_99) == (800, 800 + query.steps[0] / 2)
    # all at the top and, by the noise of others, more than there is room for
    one = query.release([1, 0, 2 * AGES.cells], keystream=Silent())[0]
    assert one.value == 1600
    assert query.release([1, 0, -2 * AGES.cells], keystream=Silent())[0].value == 0
    assert query.release([0, 0, AGES.cells // 2], keystream=Silent())[0].value == pytest.approx(
        1200, abs=0.01
    )


def test_sum_and_count():
    rows = [[unit] for unit in snapped(AGES, [18, 40, 98, 55])]
    (total,) = without_noise(Sum(AGES, micro_epsilon=MICRO), rows)
    assert total.value == sum(AGES.value(unit) for (unit,) in rows)
    (count,) = without_noise(Count(micro_epsilon=MICRO // 200), [()] * 7)
    assert (count.value, count.noise_scale) == (7, 200)
    for output, scale, step in [(count, Fraction(200), 1), (total, 98 / AGES.step, AGES.step)]:
        assert output.half_width_95 == quantile(ALPHAS[0], scale) * step
        assert output.half_width_99 == quantile(ALPHAS[1], scale) * step


def two_columns(size=400):
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, size)
    y = 14 + 3 * x + rng.uniform(-1, 1, size)
    return x, y, [[X.snap(float(one)), Y.snap(float(other))] for one, other in zip(x, y, strict=True)]


def test_covariance_and_the_half_widths_of_the_means():
    x, y, rows = two_columns()
    query = Covariance((X, Y), micro_epsilon=6 * MICRO)
    *entries, mean_x, mean_y, count = without_noise(query, rows)
    expected = [np.var(x), np.cov(x, y, bias=True)[0, 1], np.var(y)]
    assert [float(entry.value) for entry in entries] == pytest.approx(expected, abs=1e-3)
    assert float(mean_x.value) == pytest.approx(x.mean(), abs=1e-4)
    assert float(mean_y.value) == pytest.approx(y.mean(), abs=1e-3)
    assert count.value == 400
    totals = totals_of(query, rows)
    for place, (mean, middle, half) in enumerate([(mean_x, 0, 1), (mean_y, 15, 5)], start=1):
        for alpha, width in zip(ALPHAS, (mean.half_width_95, mean.half_width_99), strict=True):
            # six sums: each takes a sixth of epsilon 6
            scales = (Fraction(UNIT), Fraction(1))
            low, high = ratios(totals[place], 400, scales=scales, alpha=alpha / 2, limit=UNIT)
            ends = [middle + Fraction(half, UNIT) * end for end in (low, high)]
            step = (X, Y)[place - 1].step
            assert width == max(mean.value - ends[0], ends[1] - mean.value) + step / 2


@pytest.mark.parametrize("micro_epsilon", [20 * MICRO, 1_000_000, 300_000, 100_000])
def test_regression_solves_with_the_least_ridge_of_its_rule(micro_epsilon):
    """On the scale -1..1, with A + r I, r the first of 0, t, 2t, ... that leaves 4 t to each eigenvalue."""
    x, y, rows = two_columns(60)
    query = LinearRegression((X, Y), micro_epsilon=micro_epsilon)
    intercept, slope, count = without_noise(query, rows)
    assert count.value == 60
    design, target = np.stack([np.ones_like(x), x]), (y - 15) / 5
    noise, ridge = 5 * 10**6 / micro_epsilon, 0.0
    while np.linalg.eigvalsh(design @ design.T).min() + ridge < 4 * noise:
        ridge = 2 * ridge or noise
    beta = np.linalg.solve(design @ design.T + ridge * np.eye(2), design @ target)
    assert float(intercept.value) == pytest.approx(15 + 5 * beta[0], abs=2e-3)
    assert float(slope.value) == pytest.approx(5 * beta[1], abs=2e-3)


def test_the_regression_rule_is_seen_from_both_sides():
    """The cases above have ridges of 0 and of several t: a rule that never adds one would fail."""
    x, _, _ = two_columns(60)
    design = np.stack([np.ones_like(x), x])
    smallest = np.linalg.eigvalsh(design @ design.T).min()
    margins = [smallest / (5 * 10**6 / micro) for micro in (20_000_000, 1_000_000, 300_000, 100_000)]
    assert margins[0] > 5
    assert 3 < margins[1] < 5
    assert margins[3] < 1


def test_public_facts():
    """Everything on a certificate, by name."""
    laplace = {"noise": "discrete_laplace"}
    assert Count(micro_epsilon=MICRO // 4).parameters() == laplace | {"noise_scale": "4"}
    assert Sum(AGES, micro_epsilon=MICRO).parameters() == laplace | {"noise_scale": "98"}
    assert Mean(AGES, micro_epsilon=MICRO).parameters() == laplace | {
        "noise_scale_count": "2",
        "noise_scale_sum": "80",
    }
    assert Variance(AGES, micro_epsilon=MICRO).parameters() == laplace | {
        "noise_scale_count": "3",
        "noise_scale_sum": "120",
        "noise_scale_squares": "2400",
    }
    assert Histogram(AGES, edges=(5, 9), micro_epsilon=MICRO, rows=3).parameters() == laplace | {
        "bins": 3,
        "noise_scale": "3",
    }
    covariance = Covariance((X, Y), micro_epsilon=MICRO)
    assert covariance.parameters() == laplace | {"sums": 6, "relative_noise_scale": "6"}
    assert Groups(covariance, groups=2).parameters() == covariance.parameters() | {"groups": 2}
    assert Quantile(X, probabilities=(Fraction(1, 2),), micro_epsilon=MICRO).parameters() == {
        "noise": "exponential_mechanism",
        "points": (X.cells >> 5) + 1,
        "epsilon_each": "1",
    }


KINDS = {
    "count": Count(micro_epsilon=MICRO),
    "sum": Sum(AGES, micro_epsilon=MICRO),
    "mean": Mean(AGES, micro_epsilon=MICRO),
    "variance": Variance(AGES, micro_epsilon=MICRO),
    "histogram": Histogram(AGES, edges=(5,), micro_epsilon=MICRO),
    "quantile": Quantile(X, probabilities=(Fraction(1, 2),), micro_epsilon=MICRO),
    "covariance": Covariance((X, Y), micro_epsilon=MICRO),
    "regression": LinearRegression((X, Y), micro_epsilon=MICRO),
}


def test_a_query_goes_by_its_name_and_takes_one_row_of_a_person(subtests):
    for kind in KINDS:
        with subtests.test(kind=kind):
            assert (KINDS[kind].kind, KINDS[kind].rows) == (kind, 1)


def test_steps_of_what_is_released():
    """Powers of two that are as fine as a reader needs: a million in what the column itself has."""
    assert KINDS["variance"].steps == (AGES.step**2 * 2**20, AGES.step, 1)
    assert KINDS["covariance"].steps == (
        X.step**2 * 2**10,
        X.step * Y.step * 2**10,
        Y.step**2 * 2**10,
        X.step,
        Y.step,
        1,
    )
    assert KINDS["regression"].steps == (Y.step, Y.step / X.step / 2**20, 1)
    assert KINDS["quantile"].steps == (X.step * 2**5,)
    assert KINDS["histogram"].steps == (1, 1)
