"""Counts, sums, means and variances: what a row contributes, and what comes out."""

import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.grid import OutputGrid
from privacy.loss import MICRO
from privacy.trusted import Count, Mean, Sum, Variance
from privacy.trusted.noisy_sums import NoisySums
from privacy.trusted.ratio import bounds_of_ratio

PLENTY = 500 * MICRO
AGES = OutputGrid.build(18, 98)
TEMPERATURES = OutputGrid.build(-40, 10)

grids = st.tuples(st.integers(-1000, 1000), st.integers(1, 1000)).map(
    lambda pair: OutputGrid.build(pair[0], pair[0] + pair[1])
)
kinds = st.sampled_from([Sum, Mean, Variance])


def totals_of(query, rows):
    """The exact sums over rows of grid units, by the query's own word."""
    totals = [0] * query.width
    for row in rows:
        for place, amount in query.contribution(row).items():
            totals[place] += amount
    return totals


def released(query, rows):
    return query.release(totals_of(query, rows))


@given(kinds, grids, st.data())
def test_no_row_adds_more_than_its_bound(kind, grid, data):
    query = kind(grid, micro_epsilon=MICRO)
    units = data.draw(st.integers(0, grid.cells) | st.sampled_from([0, grid.cells]))
    added = query.contribution([units])
    assert set(added) == set(range(query.width))
    assert all(abs(added[place]) <= bound for place, bound in enumerate(query._sums.bounds))


def test_the_bounds_are_reached(subtests):
    """A bound that nothing reaches would waste epsilon."""
    for kind in (Sum, Mean, Variance):
        for grid in (AGES, TEMPERATURES):
            with subtests.test(kind=kind, grid=grid):
                query = kind(grid, micro_epsilon=MICRO)
                corners = [query.contribution([units]) for units in (0, grid.cells)]
                for place, bound in enumerate(query._sums.bounds):
                    assert max(abs(corner[place]) for corner in corners) >= bound - 1


def test_noise_scales_in_own_units():
    """privacy design, section 1e: sum max(|a|, |b|), mean R/2 and 1 at half of epsilon each, times C."""
    assert NoisySums((7, 3), rows=5, micro_epsilon=2 * MICRO).scale(0) == Fraction(7 * 5 * 2, 2)
    assert Count(micro_epsilon=MICRO, rows=4).parameters()["noise_scale"] == "4"
    assert Sum(TEMPERATURES, micro_epsilon=MICRO).parameters()["noise_scale"] == "40"
    mean = Mean(AGES, micro_epsilon=MICRO, rows=3).parameters()
    assert (mean["noise_scale_count"], mean["noise_scale_sum"]) == ("6", str(3 * 2 * 40))
    variance = Variance(AGES, micro_epsilon=MICRO).parameters()
    assert variance["noise_scale_squares"] == str(3 * 40**2 // 2)


def test_count():
    (count,) = released(Count(micro_epsilon=PLENTY), [()] * 1000)
    assert count.value == 1000
    assert count.half_width_95 == 0


def test_sum():
    ages = [18, 40, 98, 55]
    (total,) = released(Sum(AGES, micro_epsilon=PLENTY), [[AGES.snap(age)] for age in ages])
    assert abs(total.value - sum(ages)) <= total.half_width_99 * 4
    assert total.noise_scale == Fraction(98, 500)


def test_mean_and_count():
    ages = [18 + step % 80 for step in range(4000)]
    query = Mean(AGES, micro_epsilon=PLENTY)
    mean, count = released(query, [[AGES.snap(age)] for age in ages])
    assert abs(mean.value - Fraction(sum(ages), len(ages))) <= 4 * mean.half_width_99
    assert count.value == 4000
    assert mean.half_width_95 < Fraction(1, 100)


def test_variance_mean_and_count():
    ages = [18 + step % 80 for step in range(4000)]
    query = Variance(AGES, micro_epsilon=PLENTY)
    variance, mean, count = released(query, [[AGES.snap(age)] for age in ages])
    assert abs(float(variance.value) - statistics.pvariance(ages)) <= 4 * variance.half_width_99
    assert abs(float(mean.value) - statistics.mean(ages)) <= 4 * mean.half_width_99
    assert count.value == 4000


@pytest.mark.parametrize("kind", [Mean, Variance])
@pytest.mark.parametrize("people", [0, 1, 3])
def test_hardly_anybody_there(kind, people):
    """Every value stays possible, and the intervals say that they know nothing."""
    query = kind(AGES, micro_epsilon=MICRO // 10)
    for _ in range(50):
        first = released(query, [[AGES.cells]] * people)[0]
        top = 98 if kind is Mean else 40**2
        assert 0 <= first.value <= top
        if released(query, [[AGES.cells]] * people)[-1].value < 1:
            assert first.half_width_99 >= 0


@pytest.mark.parametrize(("kind", "truth"), [(Mean, 58), (Variance, 400)])
def test_half_widths_hold(kind, truth):
    """Half of the people at 38, half at 78. That 40 of 300 intervals of 95 % fail has a chance of 1e-8."""
    query = kind(AGES, micro_epsilon=MICRO)
    rows = [[AGES.snap(38)], [AGES.snap(78)]] * 300
    totals = totals_of(query, rows)
    found = [query.release(totals)[0] for _ in range(300)]
    assert sum(abs(output.value - truth) > output.half_width_95 for output in found) < 40
    assert max(output.half_width_95 for output in found) < 60 * (1 if kind is Mean else 20)


def test_a_variance_far_from_the_middle():
    """The interval of the mean then has no zero in it."""
    query = Variance(AGES, micro_epsilon=PLENTY)
    variance, *_ = released(query, [[AGES.snap(age)] for age in (90, 94)] * 500)
    assert abs(variance.value - 4) <= 4 * variance.half_width_99


@given(
    st.integers(-1000, 1000), st.integers(-5, 60), st.integers(0, 50), st.integers(0, 20), st.integers(0, 100)
)
def test_bounds_of_a_ratio_hold_all_it_may_be(total, count, slack, count_slack, limit):
    low, high = bounds_of_ratio(total, count, slack=slack, count_slack=count_slack, limit=limit)
    for true_total in (total - slack, total, total + slack):
        for true_count in (count - count_slack, count, count + count_slack):
            if true_count >= 1 and abs(true_total) <= limit * true_count:
                assert low <= Fraction(true_total, true_count) <= high


@pytest.mark.parametrize("kind", [Count, Sum, Mean, Variance])
def test_releases_lie_on_their_steps(kind):
    query = kind(micro_epsilon=MICRO) if kind is Count else kind(AGES, micro_epsilon=MICRO)
    for _ in range(30):
        for output, step in zip(query.release([5] * query.width), query.steps, strict=True):
            assert (output.value / step).denominator == 1


@pytest.mark.parametrize("rows", [0, -1, 1001, True, 1.0])
def test_rows_per_person_are_limited(rows):
    with pytest.raises(
        ValueError, match="rows, the most that one person contributes, must be from 1 to 1000"
    ):
        Count(micro_epsilon=MICRO, rows=rows)


def test_noise_that_no_integer_holds():
    with pytest.raises(ValueError, match="raise epsilon, lower rows"):
        Sum(OutputGrid.build(10**9, 10**9 + 1), micro_epsilon=1000, rows=1)


@pytest.mark.parametrize("totals", [[1, 2], [], [1.0], [True], ["1"]])
def test_sums_that_are_none(totals):
    with pytest.raises(ValueError, match="platform bug: the exact sums are not the whole numbers"):
        Count(micro_epsilon=MICRO).release(totals)


@pytest.mark.parametrize("bounds", [(), (0,), (3, -1)])
def test_bounds_that_are_none(bounds):
    with pytest.raises(ValueError, match="every sum needs a bound"):
        NoisySums(bounds, rows=1, micro_epsilon=MICRO)


def test_epsilon_is_checked():
    with pytest.raises(ValueError, match="epsilon must be above zero"):
        Count(micro_epsilon=0)


def test_what_a_query_is():
    query = Mean(AGES, micro_epsilon=MICRO, rows=2)
    assert (query.kind, query.rows, query.grids, query.micro_epsilon) == ("mean", 2, (AGES,), MICRO)
    assert query.steps == (AGES.step, 1)
    assert Variance(AGES, micro_epsilon=MICRO).grids == Sum(AGES, micro_epsilon=MICRO).grids == (AGES,)


@pytest.mark.parametrize(
    ("query", "rho"),
    [
        (Count(micro_epsilon=MICRO, rows=7), Fraction(1, 2)),
        (Sum(AGES, micro_epsilon=2 * MICRO), Fraction(2)),
        (Mean(AGES, micro_epsilon=MICRO), Fraction(1, 4)),
        (Variance(AGES, micro_epsilon=MICRO), Fraction(1, 6)),
    ],
)
def test_zero_concentrated_loss(query, rho):
    """m sums of epsilon/m each: m (epsilon/m)^2/2, whatever the number of rows."""
    assert query.rho == rho
