"""Attacks on trained models find what is there to find, and bound what they are said to bound."""

import math

import numpy as np
import pytest

from dpgate.lab.attacks.audit import ERROR, chance, least_epsilon
from dpgate.lab.attacks.model_membership import approx_dp_bound, by_likelihood, by_threshold


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
    assert approx_dp_bound(0, 0) == 0.5
    assert approx_dp_bound(1, 0.01) == pytest.approx((math.e + 0.01) / (1 + math.e))
