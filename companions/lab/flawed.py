"""Mechanisms that fail, each with the one mistake that it shows. Never for releases: the attacks break them.

All of them noise a mean whose sensitivity was read off the data by leaving one person out. Write
loo_i = (S - x_i)/(n - 1), S the sum of x, for the mean without person i.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from companions.lab.simulation import Generator

Values = NDArray[np.float64]


def leave_one_out_means(values: Values) -> Values:
    """loo_i for every person."""
    return (values.sum() - values) / (len(values) - 1)


def leave_one_out_scale(values: Values) -> float:
    """The scale that these mechanisms take for their noise: the standard deviation of loo."""
    return float(leave_one_out_means(values).std())


def leave_one_out_reach(values: Values) -> float:
    """What these mechanisms take for the sensitivity: the farthest that one person moves the mean."""
    return float(np.abs(leave_one_out_means(values) - values.mean()).max())


def shared_noise_vector(values: Values, trials: int, generator: Generator, *, reject: bool) -> Values:
    """Mistake: ONE draw of noise for the whole leave-one-out vector, which is released. (trials, people)

    The draw cancels in every difference of two entries. With `reject`, draws smaller than the sensitivity
    are drawn again as well.
    """
    smallest = leave_one_out_reach(values) if reject else 0.0
    noise = _laplace_beyond(smallest, leave_one_out_scale(values), trials, generator)
    return leave_one_out_means(values)[np.newaxis, :] + noise[:, np.newaxis]


def mean_without_small_noise(values: Values, trials: int, generator: Generator) -> Values:
    """Mistake: noise below the sensitivity is drawn again, so the mean never comes out near itself. (trials,)

    An output that lies in the hole around one data set's mean is impossible for it and possible for its
    neighbour: whoever sees it knows which of the two it was.
    """
    reach = leave_one_out_reach(values)
    return values.mean() + _laplace_beyond(reach, leave_one_out_scale(values), trials, generator)


def mean_with_a_shift(values: Values, *, columns: int = 1) -> float:
    """Mistake: the "noise" is a number computed from the data, and no draw at all.

    The sample standard deviation of loo times the root of the number of columns is added to the mean. Two
    jobs give the same output to the last bit.
    """
    return float(values.mean() + leave_one_out_means(values).std(ddof=1) * np.sqrt(columns))


def mean_with_local_noise(values: Values, epsilon: float, trials: int, generator: Generator) -> Values:
    """Mistake: Laplace noise in proportion to a sensitivity that is itself a secret. (trials,)

    No rejection, one number, a proper scale for *this* data set; but its neighbour has another scale, and
    where nobody moves the statistic the scale is zero.
    """
    scale = leave_one_out_reach(values) / epsilon
    return values.mean() + generator.laplace(0.0, scale, trials)


def _laplace_beyond(smallest: float, scale: float, size: int, generator: Generator) -> Values:
    """Laplace noise given that it is at least `smallest` away from zero.

    Drawing again until |z| >= s gives the law of s + E with E exponential, by the exponential law's lack of
    memory, and a uniform sign; a loop would need e^(s/scale) rounds, about a thousand on real data.
    """
    magnitude = smallest + generator.exponential(scale, size)
    return np.where(generator.random(size) < 0.5, -magnitude, magnitude)
