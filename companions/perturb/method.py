"""What people type - mechanism, bounds, epsilon, delta - made into something that perturbs an array."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from domain.loss import units
from dpgate.errors import DpgateError
from privacy.bounded_noise import check_atto_delta
from privacy.cost import ATTO, Currency, format_amount
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.loss import MICRO, format_epsilon
from privacy.perturbation import LAWS, RecordPerturbation
from privacy.perturbation.record import Missing

REFERENCE = "reference-"
MECHANISMS = (*LAWS, *(REFERENCE + law for law in LAWS))

UNSAFE = (
    "UNSAFE: diffprivlib's floating-point noise. Its low bits can tell the true value whatever epsilon says; "
    "for comparison only, never for a release."
)


@dataclass(frozen=True)
class Request:
    """One perturbation as people write it. Raises DpgateError with a sentence for what cannot be done."""

    lower: float | str
    upper: float | str
    epsilon: float | str
    delta: float | str | None = None
    mechanism: str = "laplace"
    fast: bool = False
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        try:
            _ = self.method
        except ValueError as error:
            raise DpgateError(str(error)) from None

    @property
    def is_reference(self) -> bool:
        return self.mechanism.startswith(REFERENCE)

    @cached_property
    def exact(self) -> RecordPerturbation | None:
        """Our own mechanism; None for a reference, which promises nothing."""
        return None if self.is_reference else self._own(self.mechanism)

    @cached_property
    def method(self) -> RecordPerturbation | ReferencePerturbation:
        if self.mechanism not in MECHANISMS:
            raise ValueError(f"the mechanism must be one of {', '.join(MECHANISMS)}.")
        if self.exact is not None:
            return self.exact
        if self.fast:
            raise ValueError("only our own Laplace noise has a fast variant.")
        # bounds, epsilon and missing are checked as for our own
        checked = RecordPerturbation(self.grid, "laplace", self.micro_epsilon, missing=self.missing)
        return ReferencePerturbation(
            law=self.mechanism.removeprefix(REFERENCE), checked=checked, atto_delta=self.atto_delta
        )

    @cached_property
    def grid(self) -> OutputGrid:
        return OutputGrid.build(self.lower, self.upper)

    @cached_property
    def micro_epsilon(self) -> int:
        return units(Currency.EPSILON, self.epsilon)

    @cached_property
    def atto_delta(self) -> int | None:
        if self.delta is None:
            return None
        if str(self.delta).strip() in ("0", "0.0"):
            raise ValueError("delta must be above 0 where it is given; leave it out for Laplace noise.")
        atto_delta = units(Currency.DELTA, self.delta)
        check_atto_delta(atto_delta)
        return atto_delta

    def warnings(self, values: int) -> list[str]:
        """What to say about this request for an array of so many values."""
        found = []
        if self.is_reference:
            found.append(UNSAFE)
        if self.atto_delta is not None and self.atto_delta * values > ATTO:
            found.append(
                f"delta {format_amount(Currency.DELTA, self.atto_delta)} is above 1/{values}, one over the "
                "number of values: some values may be expected to be published as they are."
            )
        if self.micro_epsilon > 10 * MICRO:
            found.append(
                f"epsilon {format_epsilon(self.micro_epsilon)} per value is a weak promise: above 10."
            )
        return found

    def _own(self, law: str) -> RecordPerturbation:
        return RecordPerturbation(
            self.grid, law, self.micro_epsilon, self.atto_delta, fast=self.fast, missing=self.missing
        )


@dataclass(frozen=True)
class ReferencePerturbation:
    """diffprivlib on every clipped value, one at a time. UNSAFE, and hundreds of times slower."""

    law: str
    checked: RecordPerturbation
    atto_delta: int | None

    def __post_init__(self) -> None:
        if self.law != "laplace" and self.atto_delta is None:
            raise ValueError(f"{self.law} noise needs a delta, such as 1e-9.")
        if self.law == "gaussian" and self.checked.micro_epsilon > 500 * MICRO:
            raise ValueError("the reference's Gaussian noise takes an epsilon of at most 500.")

    def perturb(
        self,
        values: np.ndarray[Any, Any],
        *,
        out: np.ndarray[Any, Any] | None = None,
        keystream: Keystream | None = None,  # noqa: ARG002 - it draws from the system's generator
    ) -> np.ndarray[Any, Any]:
        from privacy.reference import randomised_unsafe

        grid = self.checked.grid
        result = np.empty(values.shape, np.float64) if out is None else out
        numbers, absent = self.checked.present(values.astype(np.float64))
        clipped = np.clip(numbers, float(grid.lower), float(grid.upper)).reshape(-1)
        result.reshape(-1)[:] = randomised_unsafe(
            clipped,
            law=self.law,
            epsilon=self.checked.micro_epsilon / MICRO,
            delta=(self.atto_delta or 0) / ATTO,
            sensitivity=float(grid.upper - grid.lower),
        )
        if absent is not None and self.checked.missing == "keep-mask":
            result[absent] = np.nan
        return result
