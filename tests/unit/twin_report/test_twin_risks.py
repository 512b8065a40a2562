"""What a twin tells about people: copies, rare values, small groups, and intervals of what was counted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_twin_measures import sheet

from companions.lab.simulation import seeded
from twins.evaluation.anonymity import anonymity, diversity, unique_in_both
from twins.evaluation.linking import inference, linkability, secret_of
from twins.evaluation.matches import equal_rows, near_rows
from twins.evaluation.nearest import nearer_share, nearest, points_of
from twins.evaluation.proportions import Proportion, difference, is_beyond, risk
from twins.evaluation.rare_values import rare_values
from twins.evaluation.singling_out import about_one_column, about_several, singled_out, true_of


def test_wilson_and_newcombe_as_printed() -> None:
    # E. B. Wilson's interval for 81 of 263, and R. G. Newcombe's for 56/70 less 48/80 (1998, table II, a)
    assert Proportion(81, 263).interval() == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert difference(Proportion(56, 70), Proportion(48, 80)) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert Proportion(0, 10).interval()[0] == 0
    assert Proportion(10, 10).interval()[1] == 1
    assert Proportion(0, 0).interval() == (0, 1)
    with pytest.raises(ValueError, match="hits"):
        Proportion(3, 2)


@given(st.integers(0, 200), st.integers(0, 200))
def test_intervals_hold_the_share(hits: int, more: int) -> None:
    one = Proportion(hits, hits + more)
    low, high = one.interval()
    assert 0 <= low <= one.share <= high <= 1 or one.tries == 0
    assert not is_beyond(one, one)


def test_beyond_is_far_beyond() -> None:
    assert is_beyond(Proportion(90, 100), Proportion(50, 100))
    assert not is_beyond(Proportion(60, 100), Proportion(50, 100))
    assert not is_beyond(Proportion(10, 10), Proportion(0, 0))
    middle, low, high = risk(Proportion(75, 100), Proportion(50, 100))
    assert middle == pytest.approx(0.5)
    assert low < 0.5 < high
    assert risk(Proportion(1, 1), Proportion(1, 1)) == (0, 0, 1)


def test_equal_and_near_rows() -> None:
    original = np.array([[1, 2, 3, 4], [5, 6, 7, 8]])
    twin = np.array([[5, 6, 7, 8], [1, 2, 3, 9], [1, 2, 8, 9], [4, 3, 2, 1]])
    assert equal_rows(twin, original) == Proportion(1, 4)
    assert near_rows(twin, original) == Proportion(2, 4)
    assert near_rows(twin[:, :2], original[:, :2]) == Proportion(0, 0)


@given(st.integers(2, 40), st.integers(3, 6), st.integers(0, 99))
def test_a_shuffled_copy_is_found_and_keys_agree_with_comparing(rows: int, width: int, seed: int) -> None:
    draws = seeded(seed, "copies")
    original, twin = draws.integers(0, 3, (rows, width)), draws.integers(0, 3, (rows, width))
    assert equal_rows(original[draws.permutation(rows)], original).share == 1
    agree = (twin[:, None, :] == original[None, :, :]).sum(axis=2).max(axis=1)
    assert equal_rows(twin, original).hits == (agree == width).sum()
    assert near_rows(twin, original).hits == (agree >= width - 1).sum()


def test_nearest_rows_by_gower() -> None:
    first = sheet(a=["0", "10"], b=["n/a", "5"], w=["x", "y"])
    second = sheet(a=["5", "10"], b=["n/a", "0"], w=["x", "z"])
    points = points_of(first, second)
    # (0.5 + 0 + 0) / 3, and: to the first (0.5 + 1 + 1) / 3, to the second (0 + 1 + 1) / 3
    assert nearest(*points) == pytest.approx([0.5 / 3, 2 / 3])
    empty = points[1].only(np.zeros(0, np.int64))
    assert nearest(points[0], empty).tolist() == [1, 1]
    share, decided = nearer_share(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.2, 0.1]))
    assert share == 0.5
    assert decided == Proportion(1, 2)


def test_small_groups() -> None:
    codes = np.array([[0, 0, 1], [0, 0, 2], [1, 0, 1], [1, 1, 1]])
    found = anonymity(codes, [0])
    assert (found.k, found.classes, found.unique) == (2, 2, 0)
    assert (anonymity(codes, [0, 1]).k, anonymity(codes, [0, 1]).unique) == (1, 2)
    assert diversity(codes, [0], 2) == 1
    assert diversity(codes[:2], [0], 2) == 2
    assert unique_in_both(codes, codes[::-1], [0, 1]) == 2
    assert unique_in_both(codes, codes[:0], [0, 1]) == 0
    assert anonymity(codes[:0], [0]).k == diversity(codes[:0], [0], 1) == 0


def test_values_of_one_person() -> None:
    original = sheet(a=["1.6", "30", "30", "250"], w=["u", "v", "v", "v"])
    twin = sheet(a=["1.6", "250", "7", "7"], w=["u", "v", "v", "v"])
    numbers, words = rare_values(original, twin)
    # 1.6 is a point of the declared grid, 250 lies outside the bounds; u is a declared category
    assert (numbers.held_by_one, numbers.reappear, numbers.undeclared) == (2, 2, 1)
    assert (words.held_by_one, words.reappear, words.undeclared) == (1, 1, 0)


def test_sentences_single_out_who_stands_in_the_twin() -> None:
    original = sheet(a=[str(n) for n in range(40)], w=["x", "y"] * 20)
    draws = seeded(2, "sentences")
    single = about_one_column(original, most=1000, draws=draws)
    assert len(single) == 42
    assert singled_out(single, original).share == 1
    assert all(true_of(sentence, original) == 1 for sentence in single)
    elsewhere = sheet(a=[f"{n}.5" for n in range(40)], w=["x", "y"] * 20)
    # the smallest and the largest value still name one person each, exact values nobody
    assert singled_out(single, elsewhere).hits <= 2
    several = about_several(original, most=50, draws=draws)
    assert several
    assert all(len(sentence) == 2 and true_of(sentence, original) == 1 for sentence in several)
    assert about_several(sheet(a=["1"]), most=5, draws=draws) == []
    lonely = sheet(a=["n/a", "1", "1"])
    assert singled_out(about_one_column(lonely, most=9, draws=draws), lonely) == Proportion(1, 1)


def test_linking_and_guessing_by_nearest_rows() -> None:
    original = sheet(a=[str(n) for n in range(60)], b=[str(n % 60) for n in range(60)], w=["x", "y"] * 30)
    points, copy = points_of(original, original.only_rows(list(range(59, -1, -1))))
    assert linkability(points, copy, ([0], [1])).share == 1
    turned = original.only_rows(list(range(59, -1, -1)))
    assert inference(points, copy, secret_of(original, turned, 2)).share == 1
    assert inference(points, copy, secret_of(original, turned, 0)).share == 1
    nobody = copy.only(np.zeros(0, np.int64))
    assert linkability(points, nobody, ([0], [1])).hits == 0
    assert inference(points, nobody, secret_of(original, turned, 2)).hits == 0
