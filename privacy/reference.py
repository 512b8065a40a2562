"""Thin reference on diffprivlib, to compare distributions and speed with. UNSAFE FOR RELEASES.

diffprivlib adds floating-point noise whose low bits tell neighbouring data sets apart (its issue #94; hits in
20% of Laplace releases at epsilon 1). Only tests and benchmarks may import this module: the import alone
takes more than a second.
"""

from __future__ import annotations

import numpy as np
from diffprivlib.mechanisms import Geometric, Laplace
from numpy.typing import NDArray


def laplace_unsafe(size: int, *, epsilon: float, sensitivity: float) -> NDArray[np.float64]:
    """`size` draws of diffprivlib's Laplace noise with scale sensitivity / epsilon."""
    mechanism = Laplace(epsilon=epsilon, sensitivity=sensitivity)
    return np.array([mechanism.randomise(0.0) for _ in range(size)], np.float64)


def geometric_unsafe(size: int, *, epsilon: float, sensitivity: int) -> NDArray[np.int64]:
    """`size` draws of diffprivlib's two-sided geometric noise, P(z) ~ exp(-|z| epsilon / sensitivity)."""
    mechanism = Geometric(epsilon=epsilon, sensitivity=sensitivity)
    return np.array([mechanism.randomise(0) for _ in range(size)], np.int64)
