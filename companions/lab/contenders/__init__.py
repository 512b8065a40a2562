"""Ways to release a mean, each as its attacker sees it: what comes out, and how likely that was.

A contender releases the mean of `Subjects`. The attacker of `attacks.reconstruction` is given everything but
one person's value: all the others, the mechanism, its parameters, and secrets that its proof does not rest
on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companions.lab.attacks.reconstruction import LogLikelihood

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Contender:
    """`limit`: by which factor a release may raise the chance to name a value; None for no promise."""

    name: str
    promise: str
    draw: Callable[[int], Values]
    log_likelihood: LogLikelihood
    limit: float | None = None


def means_with(values: Values, person: int, candidates: Values) -> Values:
    """The mean of everybody if this person's value were each of the candidates."""
    return (values.sum() - values[person] + candidates) / len(values)


def laplace_log_density(distance: Values, scale: float | Values) -> Values:
    return -np.abs(distance) / scale - np.log(scale)
