"""The unsound mechanisms that release one number, and the likelihood that undoes them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from companions.lab.contenders import Contender, laplace_log_density, means_with
from companions.lab.flawed import mean_with_a_shift, mean_with_local_noise, mean_without_small_noise
from companions.lab.simulation import Generator

Values = NDArray[np.float64]

_EXACT = 1e-9
"""Relative distance within which two means are the same output."""


def without_small_noise(values: Values, generator: Generator) -> Contender:
    def log_likelihood(releases: Values, person: int, candidates: Values) -> Values:
        means, reach, spread = _leave_one_out_facts(values, person, candidates)
        distance = np.abs(releases[:, np.newaxis] - means)
        density = laplace_log_density(distance, spread) + reach / spread
        # an output in the hole is impossible
        return np.where(distance < reach * (1 - _EXACT), -np.inf, density)

    return Contender(
        "small noise rejected",
        "none: looks like Laplace noise",
        lambda trials: mean_without_small_noise(values, trials, generator),
        log_likelihood,
    )


def shifted(values: Values) -> Contender:
    def log_likelihood(releases: Values, person: int, candidates: Values) -> Values:
        outputs = np.array([mean_with_a_shift(_replaced(values, person, value)) for value in candidates])
        same = np.isclose(releases[:, np.newaxis], outputs, rtol=_EXACT, atol=0)
        return np.where(same, 0.0, -np.inf)

    return Contender(
        "a shift computed from the data",
        "none: there is no draw",
        lambda trials: np.full(trials, mean_with_a_shift(values)),
        log_likelihood,
    )


def local_noise(values: Values, epsilon: float, generator: Generator) -> Contender:
    def log_likelihood(releases: Values, person: int, candidates: Values) -> Values:
        means, reach, _ = _leave_one_out_facts(values, person, candidates)
        return laplace_log_density(releases[:, np.newaxis] - means, reach / epsilon)

    return Contender(
        "scale read off the data",
        f"none: claims epsilon {epsilon:g}",
        lambda trials: mean_with_local_noise(values, epsilon, trials, generator),
        log_likelihood,
    )


def _leave_one_out_facts(values: Values, person: int, candidates: Values) -> tuple[Values, Values, Values]:
    """For each candidate value of one person: mean, farthest leave-one-out move, and deviation."""
    n = len(values)
    others = np.delete(values, person)
    means = means_with(values, person, candidates)
    farthest = np.maximum.reduce([others.max() - means, means - others.min(), np.abs(candidates - means)])
    squares = (others**2).sum() + candidates**2
    deviation = np.sqrt(np.maximum(squares / n - means**2, 0))
    return means, farthest / (n - 1), deviation / (n - 1)


def _replaced(values: Values, person: int, value: float) -> Values:
    changed = values.copy()
    changed[person] = value
    return changed
