"""The noise of one number, as a frozen public law: exact integers, independent of what they are added to."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privacy import discrete_gaussian, discrete_laplace
from privacy.keystream import Keystream

_SIGMA_PLACES = 2**10
"""A standard deviation is stated in 1024ths of a unit, rounded up: the exact one is a root."""


class Noise(Protocol):
    """Symmetric integer noise."""

    def __hash__(self) -> int:
        """By value: what a law states is computed once for each."""

    @property
    def scale(self) -> Fraction:
        """What a release states as its noise scale, in units."""

    @property
    def variance(self) -> Fraction:
        """An upper bound on the variance, in squared units, tight for wide noise."""

    def draw(self, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
        """Independent draws."""

    def half_width(self, alpha: Fraction) -> int:
        """An integer h with P(|Z| > h) <= alpha; 1/20 and 1/100 always work."""


@dataclass(frozen=True)
class LaplaceNoise:
    """P(Z = z) ~ exp(-|z| / scale). Raises ValueError for a scale that cannot be drawn exactly."""

    scale: Fraction

    def __post_init__(self) -> None:
        discrete_laplace.check_scale(self.scale)

    @property
    def variance(self) -> Fraction:
        """1 / (2 sinh^2(1/(2 t))) <= 2 t^2."""
        return 2 * self.scale**2

    def draw(self, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
        return discrete_laplace.sample(self.scale, size, keystream=keystream)

    def half_width(self, alpha: Fraction) -> int:
        return discrete_laplace.quantile(alpha, self.scale)


@dataclass(frozen=True)
class GaussianNoise:
    """P(Z = z) ~ exp(-z^2 / (2 variance)). Raises ValueError for a variance that cannot be drawn exactly."""

    variance: Fraction

    def __post_init__(self) -> None:
        discrete_gaussian.check_variance(self.variance)

    @property
    def scale(self) -> Fraction:
        """The standard deviation, rounded up to 1024ths of a unit."""
        return Fraction(discrete_gaussian.ceil_sqrt(self.variance * _SIGMA_PLACES**2), _SIGMA_PLACES)

    def draw(self, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
        return discrete_gaussian.sample(self.variance, size, keystream=keystream)

    def half_width(self, alpha: Fraction) -> int:
        return discrete_gaussian.half_width(self.variance, alpha=alpha)
