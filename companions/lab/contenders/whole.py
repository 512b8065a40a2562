"""Mechanisms that release the mean of everybody: a trusted mean, and `stability_calibrated`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from companions.lab.contenders import Contender, laplace_log_density, means_with
from companions.lab.flawed import leave_one_out_means
from companions.lab.subjects import Subjects
from privacy.grid import OutputGrid
from privacy.loss import micro_epsilon
from privacy.mechanism import RunOutput
from privacy.stability import StabilityCalibrated
from privacy.trusted import Mean, TrustedQuery

Values = NDArray[np.float64]

LARGEST_LEAVE_ONE_OUT = 2_000
"""Most people for whom every leave-one-out output is computed here."""


def trusted_totals(query: TrustedQuery, values: Values) -> list[int]:
    """What the platform's scan would add up, row by row, in whole numbers."""
    totals = [0] * query.width
    for value in values:
        for place, amount in query.contribution((query.grids[0].snap(float(value)),)).items():
            totals[place] += amount
    return totals


def trusted_mean(subjects: Subjects, epsilon: float) -> Contender:
    """Both released numbers, mean and count, give the attacker the noised sum back."""
    grid = OutputGrid.build(subjects.lower, subjects.upper)
    mechanism = Mean(grid, micro_epsilon(epsilon))
    totals = trusted_totals(mechanism, subjects.values)
    middle = float((grid.lower + grid.upper) / 2)
    clamped = subjects.clamped()
    scale = float(grid.upper - grid.lower) / epsilon

    def draw(trials: int) -> Values:
        pairs = [mechanism.release(totals) for _ in range(trials)]
        return np.array([(float(mean.value) - middle) * float(count.value) for mean, count in pairs])

    def log_likelihood(releases: Values, person: int, candidates: Values) -> Values:
        kept = np.clip(candidates, subjects.lower, subjects.upper)
        sums = (clamped - middle).sum() - clamped[person] + kept
        return laplace_log_density(releases[:, np.newaxis] - sums, scale)

    return Contender(
        "trusted mean", f"pure_dp, epsilon {epsilon:g}", draw, log_likelihood, limit=math.exp(epsilon)
    )


def leave_one_out_runs(whole: float, without_one: Values, grid: OutputGrid) -> list[RunOutput]:
    """What the runs of `stability_calibrated` say: everybody first, then without each person."""
    return [(grid.snap(float(value)),) for value in (whole, *without_one)]


def stability_calibrated(subjects: Subjects, epsilon_prime: float) -> Contender:
    """The attacker is told the noise scale, a power of two that may be shown."""
    grid = OutputGrid.build(subjects.lower, subjects.upper)
    mechanism = StabilityCalibrated((grid,), subjects.count, micro_epsilon(epsilon_prime))
    runs = leave_one_out_runs(float(subjects.values.mean()), leave_one_out_means(subjects.values), grid)
    scale = float(mechanism.release(runs)[0].noise_scale or 0)

    def log_likelihood(releases: Values, person: int, candidates: Values) -> Values:
        means = np.clip(means_with(subjects.values, person, candidates), subjects.lower, subjects.upper)
        return laplace_log_density(releases[:, np.newaxis] - means, scale)

    return Contender(
        "stability_calibrated",
        f"empirical, noise dial {epsilon_prime:g}",
        lambda trials: np.array([float(mechanism.release(runs)[0].value) for _ in range(trials)]),
        log_likelihood,
    )
