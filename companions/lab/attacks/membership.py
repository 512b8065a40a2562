"""Membership inference: was this person in the data that a release came from?

The attacker has releases of both worlds to learn from (with the person and without), sees one more, and says
which world it was. Nobody who knows no more than this can do better than to follow the likelier world for
every range of outputs, which is what is done here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

RANGES = 60
SIGMAS = 4.9
"""Half width of the interval of a success rate, in standard errors: it misses once in a million."""


@dataclass(frozen=True)
class Success:
    """How often the attacker was right when either world was equally likely: from 0.5 to 1."""

    rate: float
    trials: int

    @property
    def margin(self) -> float:
        """The true rate is within this of `rate`, but for one time in a million."""
        return SIGMAS * 0.5 / math.sqrt(self.trials)


def attack_membership(with_person: Values, without: Values) -> Success:
    """Learn on the first half of each world's releases, guess on the second."""
    half = len(with_person) // 2
    edges = _edges(np.concatenate([with_person[:half], without[:half]]))
    says_with = _counts(with_person[:half], edges) > _counts(without[:half], edges)
    tested = with_person[half:], without[half:]
    right = [says_with[_place(tested[0], edges)].mean(), (~says_with[_place(tested[1], edges)]).mean()]
    return Success(float(np.mean(right)), trials=len(tested[0]) + len(tested[1]))


def pure_dp_bound(epsilon: float) -> float:
    """The most that anybody can be right about one person under pure differential privacy.

    For a guess G and worlds of equal probability, P(G = with | with) = p and P(G = with | without) = q
    satisfy p <= e^epsilon q and 1 - q <= e^epsilon (1 - p). So the success (p + 1 - q)/2 is at most
    e^epsilon / (1 + e^epsilon), reached at p = 1 - q. (Kairouz, Oh, Viswanath 2017, Theorem 2.1 gives the
    region.)"""
    return 1 / (1 + math.exp(-epsilon))


def laplace_best(shift_in_scales: float) -> float:
    """What the best attacker reaches against Laplace noise, if the person moves the value by so many scales.

    The likelier world is the nearer one, so the success is P(Z < shift/2) = 1 - exp(-shift/2)/2.
    """
    return 1 - math.exp(-shift_in_scales / 2) / 2


def impossible_share(values: Values, other_centre: float, reach: float) -> float:
    """Share of releases that the other world could not have given: it never releases near its centre."""
    return float((np.abs(values - other_centre) < reach).mean())


def _edges(both: Values) -> Values:
    """Cuts between ranges that hold equally many releases, halfway between outputs: atoms stay whole."""
    outputs = np.unique(both)
    if len(outputs) <= RANGES:
        return (outputs[1:] + outputs[:-1]) / 2
    return np.unique(np.quantile(both, np.arange(1, RANGES) / RANGES))


def _place(values: Values, edges: Values) -> NDArray[np.intp]:
    return np.searchsorted(edges, values)


def _counts(values: Values, edges: Values) -> NDArray[np.intp]:
    return np.bincount(_place(values, edges), minlength=len(edges) + 1)
