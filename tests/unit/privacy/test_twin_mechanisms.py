"""Noisy counts of columns and of pairs: what is counted, what is noised with which scale, what is refused."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_tables import totals_of, totals_of_array

import privacy.twin.column_counts
import privacy.twin.patterns
from privacy.concentrated import rho_of_pure
from privacy.loss import MAX_MICRO_EPSILON, MICRO, MIN_MICRO_EPSILON, GuaranteeClass
from privacy.twin import ColumnCounts, NoisyCounts, Patterns
from privacy.twin.mechanism import MAX_COUNT, check_counts

PLENTY = 1000 * MICRO
ROWS = [(0, 0, 2), (0, 1, 2), (1, 1, 0), (1, 1, 1), (1, 1, 2)]


def patterns(cells, micro_epsilon=MICRO, rows=1, nominal_size=10**6):
    return Patterns(tuple(cells), micro_epsilon, rows, nominal_size=nominal_size)


class Silent:
    """Stands for the sampler: no noise, and a record of the scales and sizes that were asked for."""

    def __init__(self, monkeypatch):
        self.asked = []
        for module in (privacy.twin.column_counts, privacy.twin.patterns):
            monkeypatch.setattr(module, "sample", self)

    def __call__(self, scale, size, *, keystream=None):
        self.asked.append((scale, size))
        return np.zeros(size, np.int64)


def test_column_counts_count_the_columns(monkeypatch):
    silent = Silent(monkeypatch)
    mechanism = ColumnCounts((2, 2, 3), MICRO, rows=4)
    counts = mechanism.release(totals_of(mechanism, ROWS))
    assert counts == NoisyCounts((2, 2, 3), ((2, 3), (1, 4), (1, 1, 3)), Fraction(12))
    assert silent.asked == [(Fraction(12), 7)]
    assert (mechanism.pairs, mechanism.width, mechanism.kind) == ((), 7, "column_counts")
    assert mechanism.parameters() == {
        "columns": 3,
        "cells": 7,
        "noise": "discrete_laplace",
        "noise_scale": "12",
        "rows_per_person": 4,
    }


def test_patterns_count_columns_and_every_chosen_pair(monkeypatch):
    silent = Silent(monkeypatch)
    mechanism = patterns((2, 2, 3), rows=2)
    rows = ROWS * 1_000
    counts = mechanism.release(totals_of(mechanism, rows))
    assert counts.ones == ((2000, 3000), (1000, 4000), (1000, 1000, 3000))
    assert counts.merges == ((0, 1), (0, 1), (0, 1, 2))
    assert {pair.columns: pair.counts for pair in counts.pairs} == {
        (0, 1): (1000, 1000, 0, 3000),
        (0, 2): (0, 0, 2000, 1000, 1000, 1000),
        (1, 2): (0, 0, 1000, 1000, 1000, 2000),
    }
    assert (counts.one_scale, counts.pair_scale) == (mechanism.one_scale, mechanism.pair_scale)
    # one column of the scale of its share of epsilon, then three pairs of theirs; nothing is left unnoised
    assert silent.asked[0] == (Fraction(2 * 3 * 10, 3), 7)
    assert sorted(silent.asked[1:]) == [(Fraction(2 * 3 * 10, 6), size) for size in (4, 6, 6)]


def test_pairs_are_counted_by_merged_cells(monkeypatch):
    Silent(monkeypatch)
    mechanism = patterns((4, 2))
    rows = [(0, 0)] * 900 + [(3, 1)] * 900 + [(1, 0)] * 3 + [(2, 1)] * 4
    counts = mechanism.release(totals_of(mechanism, rows))
    assert counts.merges == ((0, 2, 2, 1), (0, 1))
    assert counts.pairs[0].counts == (900, 0, 0, 900, 3, 4)
    assert counts.merged_cells == (3, 2)


def test_what_patterns_say_of_themselves():
    mechanism = patterns((2, 5, 3), rows=3)
    assert (mechanism.pairs, mechanism.width) == (((0, 1), (0, 2), (1, 2)), 10 + 10 + 6 + 15)
    assert mechanism.shares == (300_000, 100_000, 600_000)
    assert mechanism.parameters() == {
        "columns": 3,
        "cells": 10,
        "pairs": 3,
        "noise": "discrete_laplace",
        "noise_scale": "30",
        "pair_noise_scale": "15",
        "micro_epsilon_shares": [300_000, 100_000, 600_000],
        "rows_per_person": 3,
    }
    for each in (mechanism, ColumnCounts((2,), MICRO)):
        assert (each.guarantee, each.relation) == (GuaranteeClass.PURE_DP, "add or remove one privacy unit")


@given(st.integers(MIN_MICRO_EPSILON, MAX_MICRO_EPSILON), st.integers(1, 12), st.integers(1, 10**6))
def test_shares_add_up_to_epsilon_exactly(micro_epsilon, columns, nominal_size):
    mechanism = patterns((2,) * columns, micro_epsilon, nominal_size=nominal_size)
    ones, choice, pairs = mechanism.shares
    assert ones + choice + pairs == micro_epsilon
    assert ones > 0
    assert columns == 1 or (choice > 0 and pairs > 0)
    # what the noise is scaled to says the same
    assert columns / mechanism.one_scale * MICRO == ones
    if columns > 1:
        assert mechanism.wanted / mechanism.pair_scale * MICRO == pairs


A_TREE_ALONE_WHERE_ROWS_ARE_FEW = (
    (10, 20_000, 1, 1, 20),
    (10, 19_999, 1, 1, 9),
    (10, 2_000, 10, 1, 20),
    (10, 20_000, 1, 2, 9),
    (3, 10**6, 1, 1, 3),
    (2, 10**6, 1, 1, 1),
    (1, 10**6, 1, 1, 0),
)


def test_a_tree_alone_where_rows_are_few(subtests):
    for columns, nominal_size, epsilon, rows, wanted in A_TREE_ALONE_WHERE_ROWS_ARE_FEW:
        with subtests.test(
            columns=columns, nominal_size=nominal_size, epsilon=epsilon, rows=rows, wanted=wanted
        ):
            mechanism = patterns((2,) * columns, epsilon * MICRO, rows, nominal_size)
            assert mechanism.wanted == wanted
            totals = totals_of(mechanism, [(0,) * columns] * 50)
            assert len(mechanism.release(totals).pairs) == wanted


def test_columns_get_more_where_there_is_a_tree_alone():
    assert patterns((2,) * 5, nominal_size=100).shares == (450_000, 100_000, 450_000)


def test_rho_adds_up():
    epsilon = Fraction(MICRO, MICRO)
    assert ColumnCounts((3, 4, 5, 6), MICRO).rho == epsilon**2 / 8
    mechanism = patterns((2,) * 4)
    ones, choice, pairs = (Fraction(share, MICRO) for share in mechanism.shares)
    assert mechanism.rho == (ones**2 / 4 + choice**2 / 6 + pairs**2 / 6) / 2
    assert patterns((7,)).rho == rho_of_pure(epsilon)


def test_one_column_has_all_of_epsilon():
    alone, counts = patterns((5,), rows=2), ColumnCounts((5,), MICRO, rows=2)
    assert alone.one_scale == counts.scale
    assert alone.width == counts.width
    assert alone.parameters()["pair_noise_scale"] is None
    assert alone.release([3, 0, 0, 1, 9]).pairs == ()


def test_with_hardly_any_noise_the_release_is_the_truth():
    rng = np.random.default_rng(4)
    rows = rng.integers(0, (3, 4, 2), size=(500, 3))
    mechanism = patterns((3, 4, 2), PLENTY)
    counts = mechanism.release(totals_of_array(mechanism, rows))
    assert np.abs(np.concatenate(counts.ones) - totals_of_array(mechanism, rows)[:9]).max() <= 2
    assert abs(counts.people - 500) <= 1
    assert len(counts.pairs) == 3


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2)), max_size=8))
def test_counts_of_few_rows_and_of_none(rows):
    for mechanism in (ColumnCounts((2, 3), MICRO), patterns((2, 3))):
        counts = mechanism.release(totals_of(mechanism, rows))
        assert counts.cells == (2, 3)
        assert counts.people >= 0


REFUSED = (
    (lambda: ColumnCounts((), MICRO), "takes 1 to 5000 columns, not 0"),
    (lambda: ColumnCounts((2,) * 5001, MICRO), "leave some at level 0"),
    (lambda: ColumnCounts((2, 0), MICRO), "column 1 must have 1 to 1000 cells"),
    (lambda: ColumnCounts((1001,), MICRO), "declare wider bins or coarser categories"),
    (lambda: ColumnCounts((True,), MICRO), "column 0 must have"),
    (lambda: ColumnCounts((2.0,), MICRO), "column 0 must have"),
    (lambda: ColumnCounts((1000,) * 5000, MICRO), "5000000 cells together"),
    (lambda: ColumnCounts((2,), 1), "epsilon is below 0.001"),
    (lambda: ColumnCounts((2,), MICRO, rows=0), "rows, the most that one person contributes"),
    (lambda: patterns((2,) * 61), "a twin of patterns takes 1 to 60 columns, not 61"),
    (lambda: patterns((2, 1001)), "column 1 must have"),
    (lambda: patterns((1000,) * 4), "the pairs of columns have 6004000 cells together"),
    (lambda: patterns((2,), nominal_size=0), "nominal_size, the declared number of rows"),
    (lambda: patterns((2,), micro_epsilon=0), "epsilon must be above zero"),
    (lambda: patterns((2,), rows=1001), "must be from 1 to 1000"),
)


def test_refused(subtests):
    for make, message in REFUSED:
        with subtests.test(make=make, message=message), pytest.raises(ValueError, match=message):
            make()


ONLY_COUNTS_ARE_NOISED = (
    [1, 2],
    [1, 2, 3, 4],
    [1, 2, True],
    [1, 2, 3.0],
    [1, 2, -1],
    [1, 2, MAX_COUNT],
    [1, 2, np.int64(3)],
)


def test_only_counts_are_noised(subtests):
    """A numpy integer would wrap around, and a sentence must not repeat what it was given."""
    for totals in ONLY_COUNTS_ARE_NOISED:
        with subtests.test(totals=totals):
            for mechanism in (ColumnCounts((3,), MICRO), patterns((3,))):
                with pytest.raises(
                    ValueError, match=r"^platform bug: the exact counts are not the whole numbers"
                ):
                    mechanism.release(totals)
            check_counts([0, 1, MAX_COUNT - 1], width=3)


def test_pairs_are_all_pairs():
    assert patterns((2,) * 7).pairs == tuple(combinations(range(7), 2))
