"""Histograms, quantiles, and queries in groups."""

from bisect import bisect_right
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.grid import OutputGrid
from privacy.loss import MICRO
from privacy.median import rank_segments, tally
from privacy.trusted import Count, Groups, Histogram, Mean, Quantile

AGES = OutputGrid.build(0, 100)
DECADES = tuple(AGES.snap(edge) for edge in range(10, 100, 10))
PLENTY = 500 * MICRO


def totals_of(query, rows):
    totals = [0] * query.width
    for row in rows:
        for place, amount in query.contribution(row).items():
            totals[place] += amount
    return totals


def units(*values):
    return [[AGES.snap(value)] for value in values]


def make_quantile(*shares, micro_epsilon=PLENTY, rows=1):
    return Quantile(AGES, tuple(map(Fraction, shares)), micro_epsilon=micro_epsilon, rows=rows)


@given(st.integers(0, AGES.cells))
def test_a_value_is_in_one_bin(value):
    added = Histogram(AGES, DECADES, micro_epsilon=MICRO).contribution([value])
    assert added == {bisect_right(DECADES, value): 1}


def test_histogram():
    query = Histogram(AGES, DECADES, micro_epsilon=PLENTY)
    totals = totals_of(query, units(0, 9.99, 10, 25, 99, 100))
    assert totals == [2, 1, 1, 0, 0, 0, 0, 0, 0, 2]
    assert [output.value for output in query.release(totals)] == totals
    assert query.parameters() == {"bins": 10, "noise": "discrete_laplace", "noise_scale": "1/500"}
    assert (query.grids, query.steps, query.kind) == ((AGES,), (1,) * 10, "histogram")


def test_every_bin_has_the_noise_of_all_of_epsilon():
    query = Histogram(AGES, DECADES, micro_epsilon=MICRO, rows=3)
    assert {output.noise_scale for output in query.release([0] * 10)} == {3}


EDGES_MUST_ASCEND = ((), (0, 5), (5, 5), (7, 5), (5, AGES.cells), tuple(range(1, 1001)))


def test_edges_must_ascend(subtests):
    for edges in EDGES_MUST_ASCEND:
        with (
            subtests.test(edges=edges),
            pytest.raises(
                ValueError, match=r"a histogram has 2 to 1000 bins|inner edges of the bins must ascend"
            ),
        ):
            Histogram(AGES, edges, micro_epsilon=MICRO)


def test_histogram_checks_what_it_is_given():
    with pytest.raises(ValueError, match="platform bug"):
        Histogram(AGES, DECADES, micro_epsilon=MICRO).release([0] * 9)
    with pytest.raises(ValueError, match="epsilon must be above zero"):
        Histogram(AGES, DECADES, micro_epsilon=0)


def test_quantiles_of_many():
    query = make_quantile("1/4", "1/2", "0.9")
    found = query.release(totals_of(query, units(*range(100)) * 20))
    # every point between the 25th and the 26th value is as good
    assert all(rank - 1 <= output.value <= rank for output, rank in zip(found, (25, 50, 90), strict=True))
    assert all(output.half_width_95 is None and output.noise_scale is None for output in found)


def test_quantiles_ascend_though_noise_is_wide():
    query = make_quantile("0.4", "0.5", "0.6", micro_epsilon=MICRO // 2)
    totals = totals_of(query, units(*range(20)))
    for _ in range(50):
        values = [output.value for output in query.release(totals)]
        assert values == sorted(values)


def test_a_value_that_half_of_the_people_share():
    """The median of heaped values is the heap: ranks, not gaps between values, count."""
    query = make_quantile("1/2", micro_epsilon=5 * MICRO)
    totals = totals_of(query, units(*([40] * 60), *range(20), *range(60, 80)))
    hits = sum(query.release(totals)[0].value == 40 for _ in range(30))
    assert hits >= 25


def test_a_wide_range_costs_ranks_only():
    """privacy design, section 1a: the error does not grow with the declared range."""
    wide = OutputGrid.build(-(10**6), 10**6)
    query = Quantile(wide, (Fraction(1, 2),), micro_epsilon=MICRO)
    totals = [0] * query.width
    for value in range(1000):
        totals[query.grids[0].snap(value) >> 5] += 1
    found = [float(query.release(totals)[0].value) for _ in range(20)]
    assert all(400 <= value <= 600 for value in found)


def test_quantile_of_nobody():
    (output,) = make_quantile("1/2", micro_epsilon=MICRO).release([0] * (make_quantile("1/2").width))
    assert 0 <= output.value <= 100


@given(st.integers(0, AGES.cells))
def test_a_value_is_in_one_cell(value):
    query = make_quantile("1/2")
    ((cell, amount),) = query.contribution([value]).items()
    assert amount == 1
    assert 0 <= cell <= query.cells < 2**16
    assert AGES.value(cell << 5) <= AGES.value(value) < AGES.value((cell + 1) << 5)


def test_what_a_quantile_is():
    query = make_quantile("1/4", "3/4", micro_epsilon=MICRO, rows=2)
    assert query.parameters()["epsilon_each"] == "1/2"
    assert query.steps == (AGES.step * 32,) * 2
    assert (query.grids, query.width) == ((AGES,), query.cells + 1)


SHARES_MUST_ASCEND = ((), ("1/2", "1/4"), ("1/2", "1/2"), ("0", "1/2"), ("1/2", "1"), ("3/2",))


def test_shares_must_ascend(subtests):
    for shares in SHARES_MUST_ASCEND:
        with subtests.test(shares=shares), pytest.raises(ValueError, match="quantiles"):
            make_quantile(*shares)


def test_quantiles_too_fine_for_epsilon():
    with pytest.raises(ValueError, match="epsilon is too small for quantiles this fine"):
        make_quantile("0.999", micro_epsilon=MICRO // 100)
    with pytest.raises(ValueError, match="rows"):
        make_quantile("1/2", rows=0)
    with pytest.raises(ValueError, match="epsilon"):
        make_quantile("1/2", micro_epsilon=1)
    with pytest.raises(ValueError, match="platform bug"):
        make_quantile("1/2").release([1, 2, 3])


def test_groups_release_each_group():
    query = Groups(Mean(AGES, micro_epsilon=PLENTY), groups=3)
    rows = [[group, AGES.snap(10 * group + 10)] for group in (0, 1, 1, 2) for _ in range(500)]
    found = [float(output.value) for output in query.release(totals_of(query, rows))]
    assert found[1::2] == [500, 1000, 500]
    assert found[0::2] == pytest.approx([10, 20, 30], abs=0.1)


def test_what_groups_are():
    inner = Mean(AGES, micro_epsilon=MICRO, rows=2)
    query = Groups(inner, groups=4)
    assert (query.kind, query.micro_epsilon, query.rows, query.grids) == ("mean", MICRO, 2, (AGES,))
    assert (query.width, query.steps) == (8, inner.steps * 4)
    assert query.parameters() == {**inner.parameters(), "groups": 4}


@given(st.integers(0, 6), st.integers(0, AGES.cells))
def test_a_row_is_in_one_group(group, value):
    inner = Mean(AGES, micro_epsilon=MICRO)
    added = Groups(inner, groups=7).contribution([group, value])
    assert added == {2 * group + place: amount for place, amount in inner.contribution([value]).items()}


@pytest.mark.parametrize("groups", [0, 1001])
def test_number_of_groups(groups):
    with pytest.raises(ValueError, match="a query may have up to 1000 groups"):
        Groups(Count(micro_epsilon=MICRO), groups=groups)


def test_groups_check_what_they_are_given():
    with pytest.raises(ValueError, match="platform bug"):
        Groups(Count(micro_epsilon=MICRO), groups=2).release([1, 2, 3])


def test_zero_concentrated_loss():
    """A row is in one bin, a quantile is an exponential mechanism, groups cost what one does."""
    assert Histogram(AGES, DECADES, micro_epsilon=MICRO).rho == Fraction(1, 2)
    assert make_quantile("1/4", "1/2", micro_epsilon=MICRO).rho == 2 * Fraction(1, 2) ** 2 / 8
    assert Groups(Count(micro_epsilon=MICRO), groups=9).rho == Fraction(1, 2)


@pytest.mark.parametrize(("share", "rows", "per_row"), [("1/2", 1, 1), ("1/4", 3, 3), ("0.9", 2, 9)])
def test_one_row_moves_a_distance_by_no_more_than_the_weights_allow(share, rows, per_row):
    """At every cell, wherever the rows of a newcomer are, and some newcomer reaches it."""
    query = make_quantile(share, rows=rows)
    probability = Fraction(share)
    sensitivity = query._sensitivity(probability)
    assert sensitivity == rows * per_row
    values = [0, 0, 3, 5, 5, 5, 8, 9]

    def distances(counted):
        segments = rank_segments(tally(counted), cells=10, quantile=probability)
        return [segment.distance for segment in segments for _ in range(segment.points)]

    before = distances(values)
    for place in range(11):
        after = distances([*values, *[place] * rows])
        assert max(abs(x - y) for x, y in zip(before, after, strict=True)) <= sensitivity
    assert any(
        max(abs(x - y) for x, y in zip(before, distances([*values, *[place] * rows]), strict=True))
        == sensitivity
        for place in range(11)
    )
