"""What a person may change about noisy counts: exact probabilities, for every person of small tables.

The loss of a release is that of its columns, of the choice of pairs, and of the pairs. Each is worked out
here from the counts that the mechanism itself noises and the scales that it uses, without any draw of noise.
"""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from twin_tables import totals_of

import privacy.twin.selection
from privacy.loss import MICRO
from privacy.twin import ColumnCounts, Patterns
from privacy.twin.merging import merge_rare
from privacy.twin.selection import choose_pairs, dependence, noisy_best

CELLS = (2, 3, 2)
ROUNDING = 1e-9

row = st.tuples(*(st.integers(0, count - 1) for count in CELLS))
tables = st.lists(row, max_size=12)
persons = st.lists(row, min_size=1, max_size=3)


def probability_of_best(scores, scale, position):
    """That noisy_best gives `position`, by the definition: its noise g, and that of every other below."""
    a = math.exp(-1 / scale)
    g = np.arange(int(40 * scale) + 5)
    wins = (1 - a) * a**g
    for place, score in enumerate(scores):
        if place != position:
            most = scores[position] + g - score - (place < position)
            wins *= np.where(most >= 0, 1 - a ** np.maximum(most + 1.0, 0), 0)
    return float(wins.sum())


@settings(max_examples=40)
@given(st.lists(st.integers(-20, 20), min_size=2, max_size=5), st.integers(1, 3), st.data())
def test_no_position_is_likelier_than_its_loss_allows(scores, rows, data):
    scale = Fraction(2 * rows)  # epsilon is 1
    moved = data.draw(st.integers(1, rows))
    others = [score + data.draw(st.integers(-moved, moved)) for score in scores]
    for position in range(len(scores)):
        one = probability_of_best(scores, scale, position)
        other = probability_of_best(others, scale, position)
        assert abs(math.log(one / other)) <= moved / rows + ROUNDING


def test_the_law_of_noisy_best():
    scores, scale, n = [3, 5, 5, 0], Fraction(4), 5_000
    law = [probability_of_best(scores, scale, position) for position in range(4)]
    assert math.isclose(sum(law), 1)
    drawn = np.bincount([noisy_best(scores, scale=scale) for _ in range(n)], minlength=4)
    deviation = np.sqrt([n * p * (1 - p) for p in law])
    assert (np.abs(drawn - n * np.array(law)) < 5 * deviation).all()


def test_without_noise_the_first_of_the_best_is_drawn():
    assert noisy_best([1, 7, 7, 3], scale=Fraction(1, 500)) == 1


@settings(max_examples=40)
@given(tables, row, st.lists(st.integers(0, 30), min_size=5, max_size=5), st.integers(-50, 50))
def test_a_row_moves_a_score_by_at_most_one(table, one_more, noisy, noise):
    counts = np.zeros((2, 3), np.int64)
    for first, second, _ in table:
        counts[first, second] += 1
    expected = np.array(noisy[:2], float), np.array(noisy[2:], float)
    before = dependence(counts, *expected, noise=Fraction(noise))
    counts[one_more[0], one_more[1]] += 1
    assert abs(dependence(counts, *expected, noise=Fraction(noise)) - before) <= 1


def noised_parts(mechanism, table, columns, merges):
    """What is noised, given the outcome of the first step: columns, scores and merged counts of pairs."""
    totals = totals_of(mechanism, table)
    joint = mechanism._joint(totals, merges)
    return np.array(totals[: sum(mechanism.cells)]), mechanism._scores(joint, columns, merges), joint


class Named(int):
    """A score that knows its pair."""

    def __new__(cls, score, pair):
        number = super().__new__(cls, score)
        number.pair = pair
        return number


def log_probability_of_choice(scores, chosen, *, columns, wanted, epsilon, rows):
    """Of this sequence of pairs, minus infinity if it is impossible: choose_pairs itself says among which
    pairs each draw is."""
    scripted, total = list(chosen), 0.0

    def draw(among, *, scale, keystream=None):
        nonlocal total
        offered, wanted_now = [score.pair for score in among], scripted.pop(0)
        if wanted_now not in offered:
            total = -math.inf
            return 0
        total += math.log(probability_of_best(among, float(scale), offered.index(wanted_now)))
        return offered.index(wanted_now)

    named = {pair: Named(score, pair) for pair, score in scores.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(privacy.twin.selection, "noisy_best", draw)
        choose_pairs(named, columns=columns, wanted=wanted, epsilon=epsilon, rows=rows)
    return total


@settings(max_examples=20)
@given(tables, persons, st.sampled_from([1, 10]), st.sampled_from([10, 10**6]))
def test_a_person_changes_what_the_proof_allows(table, person, epsilon, nominal_size):
    rows = 3
    mechanism = Patterns(CELLS, epsilon * MICRO, rows, nominal_size=nominal_size)
    ones, choice, pairs = (Fraction(share, MICRO) for share in mechanism.shares)
    part = Fraction(len(person), rows)
    # any outcome of the first step will do: here one with little noise
    columns = ColumnCounts(CELLS, MICRO).release(totals_of(mechanism, table)[: sum(CELLS)])
    merges = tuple(merge_rare(column, scale=Fraction(1, 10)) for column in columns.ones)
    with_person, without = (
        noised_parts(mechanism, each, columns, merges) for each in ([*table, *person], table)
    )

    assert int(np.abs(with_person[0] - without[0]).sum()) / mechanism.one_scale <= ones * part

    moved = {pair: abs(with_person[1][pair] - without[1][pair]) for pair in mechanism.pairs}
    assert max(moved.values()) <= len(person)
    per_pair = [int(np.abs(with_person[2][pair] - without[2][pair]).sum()) for pair in mechanism.pairs]
    most = sum(sorted(per_pair)[-mechanism.wanted :])
    assert most / mechanism.pair_scale <= pairs * part

    likely = 0.0
    for chosen in permutations(mechanism.pairs, mechanism.wanted):
        one, other = (
            log_probability_of_choice(
                each[1], chosen, columns=3, wanted=mechanism.wanted, epsilon=choice, rows=rows
            )
            for each in (with_person, without)
        )
        likely += math.exp(one)
        assert one == other == -math.inf or abs(one - other) <= choice * part + ROUNDING
    assert math.isclose(likely, 1)


@settings(max_examples=40)
@given(tables, persons)
def test_a_person_changes_columns_by_what_their_noise_covers(table, person):
    mechanism = ColumnCounts(CELLS, 2 * MICRO, rows=3)
    change = np.subtract(totals_of(mechanism, [*table, *person]), totals_of(mechanism, table))
    assert int(np.abs(change).sum()) / mechanism.scale <= Fraction(2 * len(person), 3)


def test_choices_make_a_tree_first():
    scores = {(0, 1): 9_000, (0, 2): 8_000, (1, 2): 7_000, (0, 3): 1, (1, 3): 2, (2, 3): 3}
    chosen = choose_pairs(scores, columns=4, wanted=5, epsilon=Fraction(1000), rows=1)
    # (1, 2) would close a cycle, so the third column that is left comes before it
    assert chosen == ((0, 1), (0, 2), (2, 3), (1, 2), (1, 3))


@settings(max_examples=40)
@given(st.integers(2, 9), st.data())
def test_every_column_is_in_the_tree(columns, data):
    mechanism = Patterns((2,) * columns, MICRO, nominal_size=data.draw(st.sampled_from([10, 10**6])))
    scores = {pair: data.draw(st.integers(-5, 5)) for pair in mechanism.pairs}
    chosen = choose_pairs(scores, columns=columns, wanted=mechanism.wanted, epsilon=Fraction(1), rows=1)
    assert len(set(chosen)) == mechanism.wanted
    reached = {0}
    for _ in range(columns):
        reached |= {column for pair in chosen[: columns - 1] if reached & set(pair) for column in pair}
    assert reached == set(range(columns))


@given(st.lists(st.integers(-100, 300), min_size=1, max_size=8), st.fractions("1/10", 100))
def test_rare_cells_share_one(counts, scale):
    merge = merge_rare(counts, scale=scale)
    limit = 2 * math.sqrt(2) * scale
    assume(all(abs(count - limit) > 1e-6 for count in counts))
    rare = [place for place, count in enumerate(counts) if count < limit]
    if len(rare) < 2:
        assert merge == tuple(range(len(counts)))
    else:
        assert {merge[place] for place in rare} == {max(merge)}
        kept = [merge[place] for place in range(len(counts)) if place not in rare]
        assert kept == list(range(len(kept)))
