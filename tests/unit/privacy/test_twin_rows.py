"""Rows drawn from noisy counts: what they keep, what they never show, and that they cost nothing."""

import inspect
import json
import math
import subprocess
import sys
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_tables import totals_of_array

import privacy.twin.rows
from privacy.loss import MICRO
from privacy.twin import NoisyCounts, PairCounts, Patterns, draw_rows
from privacy.twin.draws import SeededDraws
from privacy.twin.marginals import _signal, fit, onto_simplex
from privacy.twin.updates import _move

PLENTY = 1000 * MICRO


def counted(rows, column, cells):
    return np.bincount(rows[:, column], minlength=cells)


def cramers_v(rows, cells, a, b):
    table = np.bincount(rows[:, a] * cells[b] + rows[:, b], minlength=cells[a] * cells[b])
    table = table.reshape(cells[a], cells[b]).astype(float)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(rows)
    chi = ((table - expected)[expected > 0] ** 2 / expected[expected > 0]).sum()
    fewer = min((table.sum(axis=1) > 0).sum(), (table.sum(axis=0) > 0).sum())
    return np.sqrt(chi / len(rows) / (fewer - 1))


def fitted(rows, cells, micro_epsilon):
    mechanism = Patterns(tuple(cells), micro_epsilon, nominal_size=len(rows))
    return mechanism.release(totals_of_array(mechanism, rows))


def test_columns_are_drawn_as_counted():
    counts = NoisyCounts((3, 2), ((60, 0, 30), (45, 45)), Fraction(1, 50))
    rows = draw_rows(counts, 900, seed=1)
    assert (rows.shape, rows.dtype) == ((900, 2), np.int32)
    assert np.abs(counted(rows, 0, 3) - [600, 0, 300]).max() <= 1
    assert np.abs(counted(rows, 1, 2) - [450, 450]).max() <= 1
    assert abs(np.corrcoef(rows.T)[0, 1]) < 0.15


def test_what_noise_took_below_zero_is_not_drawn():
    counts = NoisyCounts((4,), ((100, -40, 3, -60),), Fraction(30))
    assert set(draw_rows(counts, 500, seed=0)[:, 0].tolist()) == {0}


def test_counts_of_nobody_still_make_rows():
    counts = NoisyCounts((3,), ((-4, -2, -7),), Fraction(3))
    assert draw_rows(counts, 5, seed=0).shape == (5, 1)


def test_a_pair_is_drawn_as_counted():
    """A function of another column stays one, along a chain of pairs."""
    rng = np.random.default_rng(2)
    first = rng.integers(0, 5, 4_000)
    rows = np.stack([first, (first * 2) % 5, first // 2], axis=1)
    twin = draw_rows(fitted(rows, (5, 5, 3), PLENTY), 4_000, seed=3)
    wrong = (twin[:, 1] != (twin[:, 0] * 2) % 5) | (twin[:, 2] != twin[:, 0] // 2)
    assert wrong.mean() < 0.01


def test_a_tree_alone_is_drawn_without_updates(monkeypatch):
    monkeypatch.setattr(privacy.twin.rows, "update", None)
    rng = np.random.default_rng(2)
    first = rng.integers(0, 4, 1_900)
    rows = np.stack([first, first, rng.integers(0, 3, 1_900)], axis=1)
    twin = draw_rows(fitted(rows, (4, 4, 3), 10 * MICRO), 1_000, seed=3)
    assert (twin[:, 0] == twin[:, 1]).mean() > 0.95


def test_pairs_beyond_the_tree_are_brought_near():
    """Three columns of which each two depend, in a way that no tree of two pairs can carry."""
    rng = np.random.default_rng(6)
    n, cells = 20_000, (4, 4, 4)
    first = rng.integers(0, 4, n)
    second = np.where(rng.random(n) < 0.5, first, rng.integers(0, 4, n))
    third = np.where(rng.random(n) < 0.4, first, np.where(rng.random(n) < 0.5, second, rng.integers(0, 4, n)))
    rows = np.stack([first, second, third], axis=1)
    counts = fitted(rows, cells, 20 * MICRO)
    assert len(counts.pairs) == 3
    twin = draw_rows(counts, n, seed=1)
    for a, b in combinations(range(3), 2):
        assert abs(cramers_v(rows, cells, a, b) - cramers_v(twin, cells, a, b)) < 0.02


def test_independent_columns_stay_independent():
    """Planted: what noise and chance explain is no pattern. Of all pairs, at epsilon 1 and 30,000 rows."""
    rng = np.random.default_rng(5)
    for cells in ((20, 20, 9, 7, 2, 5, 20, 12), (20,) * 10):
        rows = np.stack([rng.choice(c, 30_000, p=rng.dirichlet(np.full(c, 2.0))) for c in cells], axis=1)
        twin = draw_rows(fitted(rows, cells, MICRO), 30_000, seed=0)
        assert max(cramers_v(twin, cells, a, b) for a, b in combinations(range(len(cells)), 2)) <= 0.05


def test_merged_cells_are_drawn_apart_by_their_own_counts():
    counts = NoisyCounts(
        (4, 2),
        ((500, 30, -10, 10), (270, 270)),
        Fraction(20),
        merges=((0, 1, 1, 1), (0, 1)),
        pairs=(PairCounts((0, 1), (500, 0, 0, 40)),),
        pair_scale=Fraction(1),
    )
    rows = draw_rows(counts, 5_400, seed=2)
    # 30 and 10 of 30 in all, moved onto what is not negative and adds up to it: 25 and 5
    drawn = counted(rows, 0, 4)
    assert drawn[2] == 0
    assert abs(drawn[1] / drawn[3] - 5) < 0.2
    assert abs(drawn[0] / len(rows) - 0.92) < 0.02


@settings(max_examples=40)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 40), st.integers(1, 60), st.data())
def test_rows_are_of_declared_cells_whatever_was_counted(cells, size, wanted, data):
    """From hardly any rows, at any price: so is a cell that nobody declared, which cannot be said at all."""
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    rows = np.stack([rng.integers(0, count, size) for count in cells], axis=1)
    mechanism = Patterns(tuple(cells), data.draw(st.sampled_from([1_000, MICRO])), nominal_size=10**5)
    twin = draw_rows(mechanism.release(totals_of_array(mechanism, rows)), wanted, seed=0)
    assert twin.shape == (wanted, len(cells))
    assert (twin >= 0).all()
    assert (twin < np.array(cells)).all()


def test_the_largest_counts_of_a_document_are_drawn():
    """Rounding loses no column."""
    most = 2**41 - 1
    counts = NoisyCounts((3, 2), ((most, most, most), (-most, -most)), Fraction(1))
    assert draw_rows(counts, 6, seed=0).shape == (6, 2)
    assert onto_simplex(np.array([2.0**52]), 1.0).tolist() == [1.0]


def test_a_pair_that_noise_explains_is_left_out():
    counts = fitted(np.random.default_rng(1).integers(0, 5, size=(3_000, 3)), (5, 5, 5), 7 * MICRO)
    assert len(counts.pairs) == 3
    assert fit(counts).pairs == {}


def test_noise_alone_hardly_ever_looks_like_a_pattern():
    """The heavy tail of few squares: four standard deviations alone would be fooled 14 times in 6,000."""
    rng = np.random.default_rng(2)
    expected = np.full((2, 9), 1000.0)
    fooled = 0
    for _ in range(6_000):
        away = rng.laplace(scale=40, size=expected.shape)
        away -= away.mean(axis=0)
        away -= away.mean(axis=1)[:, None]
        fooled += _signal(away, expected, scale=40) > 0
    assert fooled <= 4


def test_one_large_draw_is_no_pattern():
    """Of five by twenty cells: with one chance in 3,000 for a large draw 16 of 12,000 tables of noise and
    chance would be taken for dependent."""
    rng = np.random.default_rng(4)
    expected = np.full((5, 20), 300.0)
    away = rng.laplace(scale=33, size=(12_000, 5, 20)) + rng.normal(
        scale=math.sqrt(300), size=(12_000, 5, 20)
    )
    away -= away.mean(axis=1, keepdims=True)
    away -= away.mean(axis=2, keepdims=True)
    assert sum(_signal(table, expected, scale=33) > 0 for table in away) <= 2


def test_a_pair_of_one_cell_says_nothing():
    counts = fitted(np.zeros((3_000, 2), np.int64), (1, 3), 7 * MICRO)
    assert fit(counts).pairs == {}


def test_wide_pairs_are_updated_too():
    """Beyond 2^16 cells of one pair."""
    rng = np.random.default_rng(8)
    first = rng.integers(0, 300, 30_000)
    rows = np.stack([first, first, first // 100], axis=1)
    twin = draw_rows(fitted(rows, (300, 300, 3), PLENTY), 10_000, seed=1)
    assert (twin[:, 0] == twin[:, 1]).mean() > 0.9


def test_an_update_that_moves_nobody():
    """Too many by less than a row, of which a small part is moved."""
    rows = np.array([[0, 0], [0, 0], [1, 1]], np.int32)
    wanted = np.array([[1.0, 1.0], [0.0, 1.0]])
    _move(rows, (0, 1), wanted, SeededDraws(1), share=0)
    assert rows.tolist() == [[0, 0], [0, 0], [1, 1]]
    _move(rows, (0, 1), wanted, SeededDraws(1), share=1)
    assert sorted(rows.tolist()) == [[0, 0], [0, 1], [1, 1]]


@pytest.mark.needs(process=True)
def test_a_seed_is_a_twin():
    rows = np.random.default_rng(1).integers(0, 4, size=(20_000, 3))
    rows[:, 2] = rows[:, 0] ^ (rows[:, 1] > 1)
    counts = fitted(rows, (4, 4, 6), 5 * MICRO)
    one, again, other = (draw_rows(counts, 300, seed=seed) for seed in (7, 7, 8))
    assert (one == again).all()
    assert (one != other).any()
    program = (
        "import json, sys; from privacy.twin import NoisyCounts, draw_rows;"
        "print(draw_rows(NoisyCounts.parse(json.load(sys.stdin)), 300, seed=7).tolist())"
    )
    elsewhere = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(counts.document()), capture_output=True, text=True
    )
    assert json.loads(elsewhere.stdout) == one.tolist()


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (0, "at least 1 row"),
        (-1, "at least 1 row"),
        (True, "at least 1 row"),
        (2.0, "at least 1 row"),
        (10**8, "has up to 50000000 rows"),
    ],
)
def test_refused(wanted, message):
    with pytest.raises(ValueError, match=message):
        draw_rows(NoisyCounts((2, 2), ((1, 1), (1, 1)), Fraction(1)), wanted, seed=0)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6).filter(any), st.integers(1, 50))
def test_spread_is_as_even_as_whole_numbers_allow(weights, size):
    drawn = np.bincount(SeededDraws(size).spread(np.array(weights, float), size), minlength=len(weights))
    expected = np.array(weights) * size / sum(weights)
    assert np.abs(drawn - expected).max() < 1 + 1e-6
    assert (drawn[np.array(weights) == 0] == 0).all()


def test_spread_within_gives_each_group_its_weights():
    groups = np.repeat(np.array([0, 1, 2], np.int32), [100, 50, 7])
    weights = np.array([[1.0, 0, 1, 0], [0, 3, 0, 1], [0, 0, 0, 5]])
    drawn = SeededDraws(3).spread_within(groups, weights)
    assert np.bincount(drawn[groups == 0], minlength=4).tolist() == [50, 0, 50, 0]
    assert np.abs(np.bincount(drawn[groups == 1], minlength=4) - [0, 37.5, 0, 12.5]).max() < 1
    assert set(drawn[groups == 2].tolist()) == {3}


def test_an_order_is_a_permutation():
    draws = SeededDraws(1)
    assert sorted(draws.order(1_000).tolist()) == list(range(1_000))
    assert draws.order(50).tolist() != draws.order(50).tolist()
    assert draws.order(0).tolist() == []


def test_seeded_draws_are_no_noise():
    """What releases never sees them: they can be drawn again by whoever knows the seed."""
    import privacy.twin.column_counts
    import privacy.twin.patterns
    import privacy.twin.selection

    for module in (privacy.twin.column_counts, privacy.twin.patterns, privacy.twin.selection):
        assert "SeededDraws" not in inspect.getsource(module)
