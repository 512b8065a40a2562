"""The laws of noise to choose from, each with its own price. Values move by at most `sensitivity` units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privacy import discrete_laplace, fast_laplace
from privacy.analytic_gaussian import AnalyticGaussian
from privacy.bounded_noise import BoundedNoise
from privacy.keystream import Keystream
from privacy.loss import MICRO, GuaranteeClass, check_micro_epsilon

LAWS = ("laplace", "bounded", "gaussian")


class Law(Protocol):
    """Integer noise that depends on no value, and what adding it to one value costs."""

    @property
    def price(self) -> tuple[int, int]:
        """(micro-epsilon, atto-delta); atto-delta is 0 for pure differential privacy only."""

    def sample(self, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
        """Independent draws."""

    def parameters(self) -> Mapping[str, object]:
        """Public facts for the certificate, in grid units."""


@dataclass(frozen=True)
class ExactLaplace:
    """Discrete Laplace noise of scale sensitivity/epsilon: pure epsilon-DP (discrete_laplace.sample)."""

    sensitivity: int
    micro_epsilon: int

    def __post_init__(self) -> None:
        self.sample(0)  # refuses a scale that cannot be drawn, now rather than at the first draw

    @property
    def scale(self) -> Fraction:
        return Fraction(self.sensitivity * MICRO, self.micro_epsilon)

    @property
    def price(self) -> tuple[int, int]:
        return self.micro_epsilon, 0

    def sample(self, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
        return discrete_laplace.sample(self.scale, size, keystream=keystream)

    def parameters(self) -> Mapping[str, object]:
        return {"law": "discrete Laplace", "scale_units": str(self.scale)}


@dataclass(frozen=True)
class FastLaplace(ExactLaplace):
    """The same through floats, at the price that fast_laplace.price states."""

    def __post_init__(self) -> None:
        _ = self.price  # refuses an epsilon that has none

    @property
    def price(self) -> tuple[int, int]:
        return fast_laplace.price(self.micro_epsilon, self.scale)

    def sample(self, size: int, *, keystream: Keystream | None = None) -> NDArray[np.int64]:
        return fast_laplace.sample(self.scale, size, keystream=keystream)

    def add_to(self, units: NDArray[np.float64], *, keystream: Keystream | None = None) -> None:
        """Noise of the same law to whole numbers within 2^52 of zero, kept as floats."""
        fast_laplace.add_to(units, self.scale, keystream=keystream)

    def parameters(self) -> Mapping[str, object]:
        return {"law": "rounded Laplace through floats", "scale_units": str(self.scale)}


@dataclass(frozen=True)
class TruncatedLaplace(BoundedNoise):
    """Bounded noise as it is offered here."""

    @property
    def price(self) -> tuple[int, int]:
        return self.micro_epsilon, self.atto_delta

    def parameters(self) -> Mapping[str, object]:
        return {
            "law": "truncated discrete Laplace",
            "scale_units": str(self.scale),
            "bound_units": str(self.bound),
        }


@dataclass(frozen=True)
class DiscreteGaussian(AnalyticGaussian):
    """Analytic Gaussian noise as it is offered here."""

    @property
    def price(self) -> tuple[int, int]:
        return self.micro_epsilon, self.atto_delta

    def parameters(self) -> Mapping[str, object]:
        return {"law": "discrete Gaussian", "variance_units": str(self.variance)}


def make_law(name: str, *, sensitivity: int, micro_epsilon: int, atto_delta: int | None, fast: bool) -> Law:
    """The law of this name. Raises ValueError for a combination that does not exist."""
    check_micro_epsilon(micro_epsilon)
    if name not in LAWS:
        raise ValueError(f"the mechanism must be one of {', '.join(LAWS)}.")
    if name == "laplace":
        if atto_delta is not None:
            raise ValueError("Laplace noise takes no delta: it needs none; leave delta out.")
        return FastLaplace(sensitivity, micro_epsilon) if fast else ExactLaplace(sensitivity, micro_epsilon)
    if atto_delta is None:
        raise ValueError(f"{name} noise needs a delta, such as 1e-9.")
    if fast:
        raise ValueError("only Laplace noise has a fast variant; use the exact variant.")
    if name == "bounded":
        return TruncatedLaplace(sensitivity, micro_epsilon, atto_delta)
    return DiscreteGaussian(sensitivity, micro_epsilon, atto_delta)


def guarantee(law: Law) -> GuaranteeClass:
    """The class of what is promised for one value."""
    return GuaranteeClass.APPROX_DP if law.price[1] else GuaranteeClass.PURE_DP
