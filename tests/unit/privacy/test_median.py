import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement
from operator import sub

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.exponential import weighed
from privacy.keystream import Keystream
from privacy.median import MEDIAN, noisy_quantile, rank_segments, tally

CELLS = 20
values = st.lists(st.integers(0, CELLS), max_size=12)
quantiles = st.fractions(0, 1, max_denominator=8)


def distances(given_values, quantile):
    """d(v) of every point, in values: by its definition."""
    wanted = quantile * len(given_values)
    return [
        max(0, sum(q < v for q in given_values) - wanted, wanted - sum(q <= v for q in given_values))
        for v in range(CELLS + 1)
    ]


def points(given_values, quantile):
    segments = rank_segments(tally(given_values), cells=CELLS, quantile=quantile)
    found = [None] * (CELLS + 1)
    for segment in segments:
        assert segment.points > 0
        for point in range(segment.first, segment.first + segment.points):
            assert found[point] is None
            found[point] = Fraction(segment.distance, quantile.denominator)
    return found


@given(values, quantiles)
def test_segments_cover_the_grid_with_the_stated_distances(given_values, quantile):
    assert points(given_values, quantile) == distances(given_values, quantile)


@given(st.lists(st.integers(0, CELLS), min_size=1, max_size=9), quantiles, st.data())
def test_changing_values_moves_no_distance_by_more_than_their_number(given_values, quantile, data):
    """Case (a) of the proof, for one person who changes some of a fixed number of values."""
    changed = data.draw(st.integers(0, len(given_values)))
    others = data.draw(st.lists(st.integers(0, CELLS), min_size=changed, max_size=changed))
    neighbour = [*others, *given_values[changed:]]
    pairs = zip(points(given_values, quantile), points(neighbour, quantile), strict=True)
    assert all(abs(one - other) <= changed for one, other in pairs)


@given(values, values, quantiles)
def test_adding_values_moves_no_distance_by_more_than_their_number(given_values, added, quantile):
    """Case (b) of the proof, for one person who brings some rows."""
    pairs = zip(points(given_values, quantile), points(given_values + added, quantile), strict=True)
    assert all(abs(one - other) <= len(added) for one, other in pairs)


@given(values)
def test_some_point_is_always_best(given_values):
    assert min(points(given_values, MEDIAN)) == 0


A_GENEROUS_EPSILON_FINDS_THE_QUANTILE = (
    ([3, 9, 12], MEDIAN, {9}),
    ([3, 9], MEDIAN, set(range(3, 10))),
    ([7, 7, 7, 7], MEDIAN, {7}),
    ([0, 0, 0], MEDIAN, {0}),
    ([20, 20, 20], MEDIAN, {20}),
    ([1, 2, 3, 4, 5, 6, 7, 8], Fraction(1, 4), {2, 3}),
    ([1, 2, 3, 4, 5, 6, 7, 8], Fraction(3, 4), {6, 7}),
)


def test_a_generous_epsilon_finds_the_quantile(subtests):
    for given_values, quantile, best in A_GENEROUS_EPSILON_FINDS_THE_QUANTILE:
        with subtests.test(given_values=given_values, quantile=quantile, best=best):
            found = {
                noisy_quantile(
                    tally(given_values), cells=CELLS, quantile=quantile, epsilon=Fraction(500), sensitivity=1
                )
                for _ in range(60)
            }
            assert found <= best


@pytest.mark.parametrize("epsilon", [Fraction(1, 100), Fraction(1), Fraction(20)])
@pytest.mark.parametrize("quantile", [MEDIAN, Fraction(1, 4)])
@pytest.mark.parametrize("changed", [1, 2])
def test_no_neighbours_at_all_differ_by_more_than_epsilon(epsilon, quantile, changed):
    """Every pair of neighbours on a grid of four points, with exact probabilities: no sampling."""
    worst = math.exp(epsilon)
    laws = {
        tuple(drawn): exact_law(drawn, quantile, epsilon, changed)
        for size in (2, 3, 4)
        for drawn in combinations_with_replacement(range(4), size)
    }
    largest = max(
        max(one / other for one, other in zip(laws[first], laws[second], strict=True))
        for first in laws
        for second in laws
        if are_neighbours(first, second, changed)
    )
    assert largest <= worst * (1 + 1e-12)
    # more than half of the bound is reached, so that weights which fall twice as fast would break it
    assert epsilon > 1 or largest > math.exp(epsilon / 2)


def are_neighbours(first, second, changed):
    """Up to `changed` values differ, or so many were added or taken away."""
    one, other = Counter(first), Counter(second)
    gone, come = (one - other).total(), (other - one).total()
    return max(gone, come) <= changed and (len(first) == len(second) or not gone or not come)


def exact_law(drawn, quantile, epsilon, sensitivity):
    segments = rank_segments(tally(drawn), cells=3, quantile=quantile)
    mass = weighed(segments, epsilon=epsilon, sensitivity=quantile.denominator * sensitivity)
    law = []
    for segment, weight in zip(segments, [mass[0], *map(sub, mass[1:], mass)], strict=True):
        law += [Fraction(weight, segment.points * mass[-1])] * segment.points
    return law


def test_nothing_known_leaves_every_point_possible():
    found = {
        noisy_quantile([], cells=3, quantile=MEDIAN, epsilon=Fraction(1), sensitivity=1) for _ in range(400)
    }
    assert found == {0, 1, 2, 3}


@pytest.mark.parametrize("quantile", [-1, Fraction(9, 8), 0.5])
def test_quantile_must_be_an_exact_share(quantile):
    with pytest.raises(ValueError, match="quantile"):
        noisy_quantile([(1, 1)], cells=CELLS, quantile=quantile, epsilon=Fraction(1), sensitivity=1)


COUNTS_MUST_BE_IN_ORDER_ON_THE_GRID = (
    [(2, 1), (1, 1)],
    [(1, 1), (1, 1)],
    [(-1, 1)],
    [(-1, 1), (3, 1)],
    [(21, 1)],
    [(3, 1), (21, 1)],
    [(1, 0)],
)


def test_counts_must_be_in_order_on_the_grid(subtests):
    for counts in COUNTS_MUST_BE_IN_ORDER_ON_THE_GRID:
        with subtests.test(counts=counts), pytest.raises(ValueError, match="by increasing value"):
            noisy_quantile(counts, cells=CELLS, quantile=MEDIAN, epsilon=Fraction(1), sensitivity=1)


def test_tally_counts_in_order():
    assert tally([5, 1, 5, 0]) == [(0, 1), (1, 1), (5, 2)]


@pytest.mark.parametrize(("quantile", "best"), [(0, 3), (Fraction(0), 3), (1, 12), (Fraction(1), 12)])
def test_the_smallest_and_the_largest_value_are_quantiles(quantile, best):
    """Any point below the smallest has the wanted rank 0 as well, any above the largest the rank m."""
    drawn = noisy_quantile(
        [(3, 5), (12, 5)], cells=CELLS, quantile=quantile, epsilon=Fraction(500), sensitivity=1
    )
    assert drawn <= best if quantile == 0 else drawn >= best


class Least(Keystream):
    """Remembers the totals that it was to draw below."""

    def __init__(self):
        self.totals = []

    def below(self, n):
        self.totals.append(n)
        return 0


def test_weights_are_those_of_the_denominator_times_the_sensitivity(subtests):
    """The theorem: one person moves a distance by at most D * sensitivity, and that is what is paid for."""
    for sensitivity in (1, 2, 5):
        for quantile in (MEDIAN, Fraction(3, 4)):
            with subtests.test(sensitivity=sensitivity, quantile=quantile):
                counts, stream = tally([1, 5, 5, 9]), Least()
                epsilon = Fraction(1)
                noisy_quantile(
                    counts,
                    cells=CELLS,
                    quantile=quantile,
                    epsilon=epsilon,
                    sensitivity=sensitivity,
                    keystream=stream,
                )
                segments = rank_segments(counts, cells=CELLS, quantile=quantile)
                moved = quantile.denominator * sensitivity
                assert stream.totals == [weighed(segments, epsilon=epsilon, sensitivity=moved)[-1]]
