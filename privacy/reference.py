"""Thin reference on diffprivlib, to compare distributions and speed with. UNSAFE FOR RELEASES.

diffprivlib adds floating-point noise whose low bits tell neighbouring data sets apart (its issue #94; hits in
20% of Laplace releases at epsilon 1). Tests, benchmarks and the mechanisms that are marked as references may
import this module, nothing else: the import alone takes more than a second.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from diffprivlib.mechanisms import GaussianAnalytic, Geometric, Laplace, LaplaceBoundedNoise
from numpy.typing import NDArray

_MECHANISMS = {"laplace": Laplace, "bounded": LaplaceBoundedNoise, "gaussian": GaussianAnalytic}


def laplace_unsafe(size: int, *, epsilon: float, sensitivity: float) -> NDArray[np.float64]:
    """`size` draws of diffprivlib's Laplace noise with scale sensitivity / epsilon."""
    mechanism = Laplace(epsilon=epsilon, sensitivity=sensitivity)
    return np.array([mechanism.randomise(0.0) for _ in range(size)], np.float64)


def geometric_unsafe(size: int, *, epsilon: float, sensitivity: int) -> NDArray[np.int64]:
    """`size` draws of diffprivlib's two-sided geometric noise, P(z) ~ exp(-|z| epsilon / sensitivity)."""
    mechanism = Geometric(epsilon=epsilon, sensitivity=sensitivity)
    return np.array([mechanism.randomise(0) for _ in range(size)], np.int64)


def randomised_unsafe(
    values: Iterable[float], *, law: str, epsilon: float, delta: float, sensitivity: float
) -> NDArray[np.float64]:
    """What diffprivlib makes of each value, one at a time: Laplace (which takes a delta here), "bounded" for
    LaplaceBoundedNoise, "gaussian" for GaussianAnalytic. Its own ValueError for what it refuses."""
    mechanism = _MECHANISMS[law](epsilon=epsilon, delta=delta, sensitivity=sensitivity)
    return np.array([mechanism.randomise(float(value)) for value in values], np.float64)
