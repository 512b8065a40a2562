"""What a job's parts amount to together if some delta is tolerated: for information, never a charge.

Only previews may import this module: the import alone takes about a second. The account charges the plain
sum, or rho, whose bounds are exact (`privacy.accounting`); the estimate below is computed with floats.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

from dp_accounting.pld import privacy_loss_distribution as losses

_STEP = 1e-4


def tight_epsilon(parts: Sequence[Fraction], *, delta: float) -> float:
    """An epsilon for which independent parts, pure with these epsilons, are (epsilon, delta)-DP together.

    Whatever an e-differentially private part releases can be drawn from the answer of randomised response
    with the same e (Kairouz, Oh, Viswanath 2015, Theorem 2.1), so the parts together reveal no more than as
    many randomised responses. Their privacy loss distributions are composed numerically, rounded upwards
    ("pessimistic"); the sum of the epsilons is a bound as well, and the smaller of the two is returned.
    """
    if not parts or not all(part > 0 for part in parts):
        raise ValueError("every part of a release has an epsilon above zero.")
    if not 0 < delta <= 0.01:
        raise ValueError("delta must be above zero and at most 0.01.")
    composed = reduce(
        lambda one, other: one.compose(other),
        (_randomised_response(float(part)).self_compose(times) for part, times in Counter(parts).items()),
    )
    return min(float(composed.get_epsilon_for_delta(delta)), float(sum(parts)))


def _randomised_response(epsilon: float) -> losses.PrivacyLossDistribution:
    """Two answers, the wrong one with probability 1 / (1 + e^epsilon)."""
    return losses.from_randomized_response(
        2 / (1 + math.exp(epsilon)), 2, pessimistic_estimate=True, value_discretization_interval=_STEP
    )
