"""An epsilon that one run of a mechanism refutes: some are put in by coins, and guessed from what came out.

(Steinke, Nasr, Jagielski 2023, "Privacy Auditing with One (1) Training Run", arXiv 2305.08846v1: the bound
for guesses with abstentions of section 5, corollary 5.4, as appendix D computes it. Tests hold `chance` to
the epsilons printed there.)
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

ERROR = 1e-3
"""How often a mechanism that keeps its epsilon is said to break it."""

_MOST = 20.0
_HALVINGS = 30
_GUESSES = (8, 4, 2, 1)


def least_epsilon(scores: Values, there: NDArray[np.bool_], *, delta: float) -> float:
    """An epsilon below which no (epsilon, delta)-private mechanism gives such scores, but once in 1,000 runs.

    `there` are fair coins, each for itself. Guessed are an eighth, a quarter, a half and all of them, those
    whose scores are farthest out; each of the four is asked at a quarter of the error.
    """
    order, found = np.argsort(scores), 0.0
    for share in _GUESSES:
        half = max(1, len(scores) // share // 2)
        right = int(there[order[-half:]].sum() + (~there[order[:half]]).sum())
        bound = _refuted(len(scores), 2 * half, right, delta=delta, error=ERROR / len(_GUESSES))
        found = max(found, bound)
    return found


def chance(tries: int, guesses: int, right: int, *, epsilon: float, delta: float) -> float:
    """At most how often an (epsilon, delta)-private mechanism lets so many of the guesses be right."""
    share = 1 / (1 + math.exp(-epsilon))
    beta = sum(_binomial(guesses, k, share) for k in range(right, guesses + 1))
    alpha = below = 0.0
    for i in range(1, right + 1):
        below += _binomial(guesses, right - i, share)
        alpha = max(alpha, below / i)
    return min(1.0, beta + 2 * tries * delta * alpha)


def _refuted(tries: int, guesses: int, right: int, *, delta: float, error: float) -> float:
    """The largest epsilon at which that chance is at most `error`, rounded down; 0 for none."""
    low, high = 0.0, _MOST
    if chance(tries, guesses, right, epsilon=low, delta=delta) > error:
        return 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if chance(tries, guesses, right, epsilon=middle, delta=delta) <= error:
            low = middle
        else:
            high = middle
    return low


def _binomial(tries: int, hits: int, share: float) -> float:
    log = math.lgamma(tries + 1) - math.lgamma(hits + 1) - math.lgamma(tries - hits + 1)
    return math.exp(log + hits * math.log(share) + (tries - hits) * math.log1p(-share))
