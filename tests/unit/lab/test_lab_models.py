"""Attacks on trained models find what is there to find, and bound what they are said to bound."""

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest

from companions.lab.attacks.audit import ERROR, chance, least_epsilon
from companions.lab.attacks.model_membership import approx_dp_bound, by_likelihood, by_threshold

PRINTED = (
    (100, 100, 75, 0, 0.702),
    (100, 100, 75, 1e-4, 0.699),
    (1_000, 100, 75, 1e-4, 0.673),
    (100_000, 1_510, 1_439, 1e-5, 2.675),
)
"""Tries, guesses, those that are right, delta, and the epsilon that the paper prints at 95 %."""


def test_an_audit_bounds_the_mechanism_that_gives_away_the_most():
    """Randomised response of one bit for each: its epsilon is come near to, and not passed."""
    random, tries, epsilon = np.random.default_rng(2), 400, 2.0
    found = []
    for _ in range(6):
        there = random.random(tries) < 0.5
        kept = random.random(tries) < 1 / (1 + math.exp(-epsilon))
        scores = np.where(kept, there, ~there) + random.random(tries) / 2
        found.append(least_epsilon(scores, there, delta=0))
    assert 1 < np.mean(found) < max(found) <= epsilon
    # all right, of 100: (1/(1 + e^-epsilon))^100 is the chance; with a delta it is more
    bound = chance(100, 100, 100, epsilon=1, delta=0)
    assert bound == pytest.approx((1 / (1 + math.exp(-1))) ** 100)
    assert bound < chance(100, 100, 100, epsilon=1, delta=1e-3) < 1
    for tries, guesses, right, delta, printed in PRINTED:
        below, above = (
            chance(tries, guesses, right, epsilon=epsilon, delta=delta)
            for epsilon in (printed - 5e-4, printed + 1e-3)
        )
        assert below < 0.05 < above
    share, delta = Fraction(3, 4), Fraction(1, 1000)
    law = [math.comb(20, k) * share**k * (1 - share) ** (20 - k) for k in range(21)]
    slopes = [sum(law[17 - i : 17]) * 2 / i for i in range(1, 18)]
    exact = sum(law[17:]) + max(slopes) * 50 * delta
    assert chance(50, 20, 17, epsilon=math.log(3), delta=1e-3) == pytest.approx(float(exact), rel=1e-12)
    nothing = np.zeros(10)
    assert least_epsilon(nothing, np.arange(10) % 2 == 0, delta=0) == 0
    assert ERROR < 0.01


def test_likelihoods_tell_what_a_threshold_does_not():
    """Some are known well whether they were in or not: their own laws tell."""
    random = np.random.default_rng(4)
    there = np.array([random.permutation(16) < 8 for _ in range(200)]).T
    knows = random.normal(0, 20, 200) + there + random.normal(0, 0.2, there.shape)
    assert by_threshold(knows, there).rate < 0.6
    assert by_likelihood(knows, there).rate > 0.95
    # one person by densities written out
    said = []
    for model in range(16):
        values, inside = np.delete(knows[:, 0], model), np.delete(there[:, 0], model)
        laws = (statistics.NormalDist(values[of].mean(), 0.2) for of in (inside, ~inside))
        with_them, without = (law.pdf(knows[model, 0]) for law in laws)
        said.append(with_them > without)
    assert by_likelihood(knows[:, :1], there[:, :1]).rate == np.mean(np.array(said) == there[:, 0])
    assert approx_dp_bound(0, 0) == 0.5
    assert approx_dp_bound(1, 0.01) == pytest.approx((math.e + 0.01) / (1 + math.e))
