"""Who was a model trained on? By how well it knows somebody, and by how well other models do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from companions.lab.attacks.membership import Success

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


def by_threshold(knows: Values, there: Flags) -> Success:
    """Whoever is known better than half of all people is said to have been in. (Yeom et al. 2018.)

    `knows` are (models, people): the log-odds that the model gives to what is true of somebody. In each model
    half of the people were in, which the attacker knows.
    """
    said = knows > np.median(knows, axis=1, keepdims=True)
    return _success(said, there)


def by_likelihood(knows: Values, there: Flags) -> Success:
    """The likelier of two normal laws, of each person by the other models: with them, without them.

    (Carlini et al. 2022, "Membership Inference Attacks From First Principles", algorithm 1, the online attack
    on log-odds, with one spread for both laws, as there where models are few.) Of two laws with one spread
    the likelier is that with the nearer mean. Of each person half of the models had them.
    """
    said = np.zeros_like(there)
    for model in range(len(knows)):
        others = np.arange(len(knows)) != model
        values, inside = knows[others], there[others]
        mean_in, mean_out = (_mean(values, each) for each in (inside, ~inside))
        said[model] = (knows[model] - mean_in) ** 2 < (knows[model] - mean_out) ** 2
    return _success(said, there)


def approx_dp_bound(epsilon: float, delta: float) -> float:
    """The most that anybody can be right about one person who was in with probability 1/2.

    As `membership.pure_dp_bound`, with p <= e^epsilon q + delta and 1 - q <= e^epsilon (1 - p) + delta.
    """
    grown = float(np.exp(epsilon))
    return (grown + delta) / (1 + grown)


def _mean(values: Values, chosen: Flags) -> Values:
    found: Values = (values * chosen).sum(axis=0) / np.maximum(chosen.sum(axis=0), 1)
    return found


def _success(said: Flags, there: Flags) -> Success:
    return Success(float((said == there).mean()), trials=said.size)
