"""Noise of unit size for simulated releases: floats, for previews of a twin and for nothing else."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privacy.keystream import Keystream
from privacy.preview.bootstrap import uniform


def unit_normal(size: int, *, keystream: Keystream) -> NDArray[np.float64]:
    """Independent standard normal numbers (Box and Muller 1958)."""
    radius = np.sqrt(-2 * np.log1p(-uniform(size, keystream=keystream)))
    drawn: NDArray[np.float64] = radius * np.cos(2 * np.pi * uniform(size, keystream=keystream))
    return drawn


def unit_laplace(size: int, *, keystream: Keystream) -> NDArray[np.float64]:
    """Independent Laplace numbers of scale 1: an exponential one with a fair sign."""
    amount = -np.log1p(-uniform(size, keystream=keystream))
    return np.where(uniform(size, keystream=keystream) < 0.5, -amount, amount)
