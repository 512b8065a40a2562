"""Twins with Gaussian noise: what an epsilon and a delta become, what is drawn with it, what is refused."""

import json
import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twin_tables import totals_of, totals_of_array

import privacy.twin.gaussian_columns
import privacy.twin.gaussian_patterns
import privacy.twin.selection
from privacy.concentrated import largest_pico_rho
from privacy.cost import PICO
from privacy.keystream import Keystream
from privacy.loss import MICRO, GuaranteeClass
from privacy.twin import (
    GaussianColumns,
    GaussianLoss,
    GaussianPatterns,
    NoisyCounts,
    Patterns,
    draw_rows,
    predicted_tv1_of,
    suggested_level,
)
from privacy.twin.gaussian import deviation, draw, epsilon_of_choice, variance_of
from privacy.twin.joint import joint_counts
from privacy.twin.marginals import _signal
from privacy.twin.merging import merge_rare
from privacy.twin.selection import choose_pairs_concentrated, exponential_best

CELLS = (2, 3, 2)
ATTO_DELTA = 10**9
ROUNDING = 1e-9
LOSS = GaussianLoss(MICRO, ATTO_DELTA)

row = st.tuples(*(st.integers(0, count - 1) for count in CELLS))
tables = st.lists(row, max_size=12)
persons = st.lists(row, min_size=1, max_size=3)


def patterns(cells=CELLS, loss=LOSS, rows=1, nominal_size=10**6):
    return GaussianPatterns(tuple(cells), loss, rows, nominal_size=nominal_size)


class Silent:
    """Stands for the sampler: no noise, and a record of the variances and sizes that were asked for."""

    def __init__(self, monkeypatch):
        self.asked = []
        for module in (privacy.twin.gaussian_columns, privacy.twin.gaussian_patterns):
            monkeypatch.setattr(module, "draw", self)

    def __call__(self, variance, size, *, keystream=None):
        self.asked.append((variance, size))
        return np.zeros(size, np.int64)


# --- from epsilon and delta to rho --------------------------------------------------------------------------


def test_tables_share_less_than_all_of_rho():
    whole = largest_pico_rho(Fraction(1), ATTO_DELTA)
    assert LOSS.pico_rho == whole - 1
    for parts in (2, 3, 20):
        share = GaussianLoss(MICRO, ATTO_DELTA, parts)
        assert whole - parts - 1 < parts * share.pico_rho < whole
        assert share.rho == Fraction(share.pico_rho, PICO)


A_LOSS_THAT_IS_REFUSED = (
    ((30 * MICRO + 1, ATTO_DELTA), "at most 30"),
    ((0, ATTO_DELTA), "epsilon must be above zero"),
    ((MICRO, 0), "an amount of delta is a positive whole number"),
    ((MICRO, -1), "an amount of delta"),
    ((MICRO, 10**16 + 1), "an amount of delta"),
    ((MICRO, ATTO_DELTA, 0), "1 to 100 counted tables"),
    ((MICRO, ATTO_DELTA, 101), "1 to 100 counted tables"),
    ((MICRO, ATTO_DELTA, True), "1 to 100 counted tables"),
    ((1_000, 1, 20), "leave too little to each table"),
)


def test_a_loss_that_is_refused(subtests):
    for asked, message in A_LOSS_THAT_IS_REFUSED:
        with subtests.test(asked=asked, message=message), pytest.raises(ValueError, match=message):
            GaussianLoss(*asked)


@given(st.integers(1, 200), st.integers(1, 1000), st.fractions(Fraction(1, 10**6), 50))
def test_noise_is_never_narrower_than_the_proof_asks(histograms, rows, rho):
    variance = variance_of(histograms, rows=rows, rho=rho)
    assert Fraction(histograms * rows**2, 1) / (2 * variance) <= rho
    assert variance < histograms * rows**2 / (2 * rho) + 1
    assert deviation(variance) ** 2 >= variance


@given(st.fractions(Fraction(1, 10**9), 50), st.integers(1, 120))
def test_choices_take_their_rho_and_hardly_less(rho, wanted):
    epsilon = epsilon_of_choice(rho, wanted=wanted)
    assert wanted * epsilon**2 / 8 <= rho < wanted * (epsilon + Fraction(1, PICO)) ** 2 / 8


# --- what is drawn ------------------------------------------------------------------------------------------


def test_columns_are_noised_with_what_they_say(monkeypatch):
    silent = Silent(monkeypatch)
    mechanism = GaussianColumns((2, 2, 3), LOSS, rows=4)
    counts = mechanism.release(totals_of(mechanism, [(0, 0, 2), (1, 1, 2)]))
    assert silent.asked == [(mechanism.variance, 7)]
    assert mechanism.variance == -(-3 * 16 * 10**12 // (2 * LOSS.pico_rho))
    assert counts == NoisyCounts(
        (2, 2, 3), ((1, 1), (1, 1), (0, 0, 2)), deviation(mechanism.variance), noise="gaussian"
    )
    assert mechanism.one_scale == counts.one_scale
    assert (mechanism.pairs, mechanism.width, mechanism.kind) == ((), 7, "column_counts")
    assert (mechanism.rho, mechanism.micro_epsilon) == (LOSS.rho, MICRO)
    assert mechanism.guarantee is GuaranteeClass.APPROX_DP
    assert mechanism.parameters() == {
        "columns": 3,
        "cells": 7,
        "noise": "discrete_gaussian",
        "noise_variance": str(mechanism.variance),
        "rows_per_person": 4,
    }


def test_patterns_noise_columns_and_every_chosen_pair(monkeypatch):
    silent = Silent(monkeypatch)
    mechanism = patterns((2, 2, 3), rows=2)
    rows = [(0, 0, 2), (0, 1, 2), (1, 1, 0), (1, 1, 1), (1, 1, 2)] * 1_000
    counts = mechanism.release(totals_of(mechanism, rows))
    assert counts.ones == ((2000, 3000), (1000, 4000), (1000, 1000, 3000))
    assert {pair.columns: pair.counts for pair in counts.pairs} == {
        (0, 1): (1000, 1000, 0, 3000),
        (0, 2): (0, 0, 2000, 1000, 1000, 1000),
        (1, 2): (0, 0, 1000, 1000, 1000, 2000),
    }
    assert silent.asked[0] == (mechanism.one_variance, 7)
    assert sorted(silent.asked[1:]) == [(mechanism.pair_variance, size) for size in (4, 6, 6)]
    assert (counts.one_scale, counts.noise) == (mechanism.one_scale, "gaussian")
    assert counts.pair_scale == deviation(mechanism.pair_variance)
    assert mechanism.parameters() == {
        "columns": 3,
        "cells": 7,
        "pairs": 3,
        "noise": "discrete_gaussian",
        "noise_variance": str(mechanism.one_variance),
        "pair_noise_variance": str(mechanism.pair_variance),
        "rho_shares": ["0.002994611534", "0.001497305767", "0.010481140371"],
        "rows_per_person": 2,
    }
    assert (mechanism.kind, mechanism.guarantee) == ("patterns", GuaranteeClass.APPROX_DP)
    assert mechanism.micro_epsilon == MICRO


@given(st.integers(1_000, 30 * MICRO), st.integers(1, 12), st.sampled_from([10, 10**6]))
@settings(max_examples=25)
def test_shares_add_up_to_rho_exactly(micro_epsilon, columns, nominal_size):
    mechanism = patterns((2,) * columns, GaussianLoss(micro_epsilon, 10**12), nominal_size=nominal_size)
    ones, choice, pairs = mechanism.shares
    assert ones + choice + pairs == mechanism.loss.pico_rho == mechanism.rho * PICO
    assert ones > 0
    assert columns == 1 or (choice > 0 and pairs > 0)


def test_a_tree_alone_where_rows_are_few():
    for parts, nominal_size, wanted in ((1, 20_000, 20), (1, 19_999, 9), (2, 20_000, 9)):
        mechanism = patterns((2,) * 10, GaussianLoss(MICRO, ATTO_DELTA, parts), nominal_size=nominal_size)
        assert mechanism.wanted == wanted
    assert mechanism.shares[0] == mechanism.loss.pico_rho * 45 // 100


def test_one_column_has_all_of_rho():
    alone = patterns((5,))
    assert alone.one_variance == GaussianColumns((5,), LOSS).variance
    assert alone.parameters()["pair_noise_variance"] is None
    assert alone.release([3, 0, 0, 1, 9]).pairs == ()


@pytest.mark.parametrize("variance", [Fraction(2, 3), Fraction(50)])
def test_draws_have_their_variance(variance):
    drawn = draw(variance, 20_000, keystream=Keystream())
    assert abs(drawn.var() / float(variance) - 1) < 0.08


def test_with_hardly_any_noise_the_release_is_the_truth():
    rows = np.random.default_rng(4).integers(0, (3, 4, 2), size=(500, 3))
    mechanism = patterns((3, 4, 2), GaussianLoss(30 * MICRO, 10**15))
    counts = mechanism.release(totals_of_array(mechanism, rows))
    assert np.abs(np.concatenate(counts.ones) - totals_of_array(mechanism, rows)[:9]).max() <= 8


def test_dependence_is_kept_and_none_is_invented():
    """Two columns of three thousand rows that are one, and one that says nothing of them."""
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 3, size=(3_000, 3))
    rows[:, 1] = rows[:, 0]
    mechanism = patterns((3, 3, 3))
    twin = draw_rows(mechanism.release(totals_of_array(mechanism, rows)), 3_000, seed=1)
    same = [float((twin[:, a] == twin[:, b]).mean()) for a, b in ((0, 1), (0, 2))]
    assert same[0] > 0.8
    assert abs(same[1] - 1 / 3) < 0.06


def test_noise_and_chance_hardly_ever_look_like_a_pattern():
    """Four standard deviations of noise and of chance, each by itself, would be fooled 21 times in 3,000."""
    rng, expected, fooled = np.random.default_rng(2), np.full((9, 9), 1000.0), 0
    for _ in range(3_000):
        away = rng.normal(scale=math.hypot(40, math.sqrt(1000)), size=expected.shape)
        away -= away.mean(axis=0)
        away -= away.mean(axis=1)[:, None]
        fooled += _signal(away, expected, scale=40, noise="gaussian") > 0
    assert fooled <= 3
    assert _signal(3 * away, expected, scale=40, noise="gaussian") > 0.5


REFUSED = (
    (lambda: GaussianColumns((), LOSS), "takes 1 to 5000 columns, not 0"),
    (lambda: GaussianColumns((1000,) * 5000, LOSS), "cells together, more than"),
    (lambda: GaussianColumns((2,), LOSS, rows=1001), "must be from 1 to 1000"),
    (lambda: patterns((2,) * 61), "takes 1 to 60 columns, not 61"),
    (lambda: patterns((1000,) * 60), "the pairs of columns have"),
    (lambda: patterns((2,), nominal_size=0), "nominal_size, the declared number of rows"),
    (lambda: patterns((2,), rows=0), "must be from 1 to 1000"),
)


def test_refused(subtests):
    for make, message in REFUSED:
        with subtests.test(make=make, message=message), pytest.raises(ValueError, match=message):
            make()


def test_only_counts_are_noised():
    for mechanism in (GaussianColumns((3,), LOSS), patterns((3,))):
        with pytest.raises(ValueError, match=r"^platform bug: the exact counts"):
            mechanism.release([1, 2, True])


def test_the_noise_is_part_of_the_document():
    mechanism = patterns()
    counts = mechanism.release(totals_of(mechanism, [(0, 0, 0)] * 30))
    document = json.loads(json.dumps(counts.document()))
    assert document["noise"] == "gaussian"
    assert NoisyCounts.parse(document) == counts
    for wrong in ("cauchy", None, 1, [], {}):
        with pytest.raises(ValueError, match="the noise of counts is laplace or gaussian"):
            NoisyCounts.parse({**document, "noise": wrong})
    pure = Patterns(CELLS, MICRO, nominal_size=100)
    assert "noise" not in pure.release(totals_of(pure, [])).document()


# --- what one person may change -----------------------------------------------------------------------------


def log_law(scores, rate):
    """Of the exponential mechanism, by its definition."""
    weights = np.array(scores, float) * float(rate)
    return weights - np.logaddexp.reduce(weights)


def test_the_law_of_exponential_best():
    scores, rate, n = [3, 5, 5, 0], Fraction(1, 4), 5_000
    law = np.exp(log_law(scores, rate))
    drawn = np.bincount([exponential_best(scores, rate=rate) for _ in range(n)], minlength=4)
    assert (np.abs(drawn - n * law) < 5 * np.sqrt(n * law * (1 - law))).all()


@settings(max_examples=40)
@given(st.lists(st.integers(-20, 20), min_size=2, max_size=5), st.integers(1, 3), st.data())
def test_the_loss_of_a_choice_has_the_width_that_is_charged(scores, rows, data):
    epsilon, rate = Fraction(3, 2), Fraction(3, 2) / (2 * rows)
    moved = data.draw(st.integers(1, rows))
    others = [score + data.draw(st.integers(-moved, moved)) for score in scores]
    loss = log_law(scores, rate) - log_law(others, rate)
    assert loss.max() - loss.min() <= epsilon * Fraction(moved, rows) + ROUNDING
    assert np.abs(loss).max() <= epsilon * Fraction(moved, rows) + ROUNDING


class Named(int):
    """A score that knows its pair."""

    def __new__(cls, score, pair):
        number = super().__new__(cls, score)
        number.pair = pair
        return number


def log_probability_of_choice(scores, chosen, mechanism):
    """Of this sequence of pairs; choose_pairs_concentrated itself says among which each draw is."""
    scripted, total = list(chosen), 0.0

    def best(among, *, rate, keystream=None):
        nonlocal total
        offered, wanted = [score.pair for score in among], scripted.pop(0)
        if wanted not in offered:
            total = -math.inf
            return 0
        total += float(log_law(among, rate)[offered.index(wanted)])
        return offered.index(wanted)

    named = {pair: Named(score, pair) for pair, score in scores.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(privacy.twin.selection, "exponential_best", best)
        choose_pairs_concentrated(
            named,
            columns=3,
            wanted=mechanism.wanted,
            epsilon=mechanism.choice_epsilon,
            rows=mechanism.rows,
        )
    return total


@settings(max_examples=20)
@given(tables, persons, st.sampled_from([1, 10]), st.sampled_from([10, 10**6]))
def test_a_person_changes_what_the_proof_allows(table, person, epsilon, nominal_size):
    mechanism = patterns(loss=GaussianLoss(epsilon * MICRO, ATTO_DELTA), rows=3, nominal_size=nominal_size)
    ones, choice, pairs = (Fraction(share, PICO) for share in mechanism.shares)
    part = Fraction(len(person), 3) ** 2
    # any outcome of the first step will do: here one with little noise
    columns = GaussianColumns(CELLS, GaussianLoss(30 * MICRO, 10**15)).release(
        totals_of(mechanism, table)[: sum(CELLS)]
    )
    merges = tuple(merge_rare(c, scale=Fraction(1, 10), noise="gaussian") for c in columns.ones)
    with_person, without = (totals_of(mechanism, each) for each in ([*table, *person], table))

    shift = np.subtract(with_person, without)[: sum(CELLS)]
    assert int((shift**2).sum()) / (2 * mechanism.one_variance) <= ones * part

    joint = [joint_counts(each, CELLS, mechanism.pairs, merges) for each in (with_person, without)]
    squares = [int(((joint[0][pair] - joint[1][pair]) ** 2).sum()) for pair in mechanism.pairs]
    most = sum(sorted(squares)[-mechanism.wanted :])
    assert most / (2 * mechanism.pair_variance) <= pairs * part

    scores = [mechanism._scores(each, columns, merges) for each in joint]
    sequences = permutations(mechanism.pairs, mechanism.wanted)
    logs = np.array([[log_probability_of_choice(s, c, mechanism) for s in scores] for c in sequences])
    logs = logs[np.isfinite(logs[:, 0])]
    assert math.isclose(np.exp(logs[:, 0]).sum(), 1)
    for order in (1.5, 2, 20):
        for one, other in (logs.T, logs.T[::-1]):
            renyi = np.logaddexp.reduce(order * one + (1 - order) * other) / (order - 1)
            assert renyi <= order * float(choice * part) + ROUNDING


@given(tables, persons)
@settings(max_examples=40)
def test_a_person_changes_columns_by_what_their_noise_covers(table, person):
    mechanism = GaussianColumns(CELLS, LOSS, rows=3)
    change = np.subtract(totals_of(mechanism, [*table, *person]), totals_of(mechanism, table))
    assert int((change**2).sum()) / (2 * mechanism.variance) <= LOSS.rho * Fraction(len(person), 3) ** 2


# --- what to expect -----------------------------------------------------------------------------------------


def test_the_error_of_columns_is_predicted_from_their_noise():
    cells = (10,) * 20
    mechanism = GaussianColumns(cells, LOSS)
    rows = np.random.default_rng(5).integers(0, 10, size=(8_000, 20))
    totals = totals_of_array(mechanism, rows)
    noise = [np.subtract(np.concatenate(mechanism.release(totals).ones), totals) for _ in range(20)]
    measured = np.abs(np.array(noise)).sum() / (20 * 20 * 2 * 8_000)
    told = predicted_tv1_of(cells, nominal_size=8_000, deviation=mechanism.one_scale)
    assert abs(told / measured - 1) < 0.05
    assert predicted_tv1_of(cells, nominal_size=1, deviation=mechanism.one_scale) == 1


def test_the_level_rule_goes_by_the_noise_that_will_be_drawn():
    cells = (10,) * 50
    asked = {"nominal_size": 2_000, "micro_epsilon": MICRO}
    deviation_of_one = GaussianColumns(cells, LOSS).one_scale
    assert suggested_level(cells, **asked)[:1] == (1,)
    assert suggested_level(cells, **asked, deviation=deviation_of_one)[:1] == (1,)
    assert suggested_level((10,) * 70, **asked)[:1] == (0,)
    assert suggested_level((10,) * 70, **asked, deviation=deviation_of_one)[:1] == (1,)
