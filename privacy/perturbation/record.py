"""Record-level perturbation of an array: every value clipped, put on the grid and noised on its own.

What it promises is promised for ONE value. A person with many values is protected by that much less, and
`person_loss` says by how much.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from privacy.cost import ATTO, Cost, Currency, format_amount
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.loss import GuaranteeClass, format_epsilon
from privacy.perturbation.laws import FastLaplace, Law, guarantee, make_law
from privacy.perturbation.snapping import Snapping

Missing = Literal["refuse", "clip", "keep-mask"]

_CHUNK = 2**15


@dataclass(frozen=True)
class PersonLoss:
    """What all values of one person cost together, by plain addition; `epsilon`, `delta` as exact text."""

    values: int
    micro_epsilon: int
    atto_delta: int

    @property
    def epsilon(self) -> str:
        return format_epsilon(self.micro_epsilon)

    @property
    def delta(self) -> str:
        return format_amount(Currency.DELTA, self.atto_delta)

    @property
    def means_something(self) -> bool:
        """Whether the sum still bounds anything that a person would call protection."""
        return self.micro_epsilon <= 10_000_000 and self.atto_delta < ATTO // 10


@dataclass(frozen=True)
class RecordPerturbation:
    """Adds integer noise to the grid units of every value, independently.

    Parameters, all public and fixed before the array is read: the grid of the declared clip range, the law of
    the noise, micro-epsilon per value, delta per value (bounded and Gaussian noise) in units of 10^-18, the
    variant, and what becomes of values that are no numbers. Raises ValueError otherwise.

    Theorem. With respect to replacing one value of the array by any other, releasing the perturbed array is
    (epsilon, delta)-DP, with delta = 0 for exact Laplace noise.
    Proof. Snapping maps each value, by itself, to {0..K}, K = grid.cells: two values differ by at most K
    units whatever they were, so the sensitivity is the declared range and nothing about the data is assumed.
    The noise of the law in question makes one noised unit (epsilon, delta)-DP at sensitivity K (the theorems
    of discrete_laplace/sample_aggregate, BoundedNoise and AnalyticGaussian); all other values keep their
    distribution, and noise is drawn independently of all values. Turning units into floats is a fixed map of
    the sum (post-processing). QED. (Warner 1965; Kasiviswanathan et al. 2008 for the local model.)

    With m values of one person, replacing all of them is m replacements: (m epsilon, m delta) by basic
    composition, each value being noised on its own (Dwork, Roth 2014, Thm 3.16): `person_loss`. This is a
    plain sum and it is tight for a signal whose values an attacker can average; nothing better can be
    claimed for Laplace noise.

    "keep-mask" leaves NaN where it was: WHICH values are missing is then published as it is. "clip" puts the
    middle of the range in place of NaN and a bound in place of an infinity, and protects this too.
    """

    mechanism: ClassVar[str] = "record_perturbation"
    relation: ClassVar[str] = "replace one value by any other value"

    grid: OutputGrid
    law: str
    micro_epsilon: int
    atto_delta: int | None = None
    fast: bool = False
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        if self.missing not in ("refuse", "clip", "keep-mask"):
            raise ValueError("missing must be refuse, clip or keep-mask.")
        _ = self.noise, self._snapping

    @cached_property
    def noise(self) -> Law:
        return make_law(
            self.law,
            sensitivity=self.grid.cells,
            micro_epsilon=self.micro_epsilon,
            atto_delta=self.atto_delta,
            fast=self.fast,
        )

    @property
    def guarantee(self) -> GuaranteeClass:
        return guarantee(self.noise)

    @property
    def cost(self) -> Cost:
        """Of one value."""
        micro_epsilon, atto_delta = self.noise.price
        amounts = {Currency.EPSILON: micro_epsilon}
        return Cost.of(amounts | ({Currency.DELTA: atto_delta} if atto_delta else {}))

    def person_loss(self, values: int) -> PersonLoss:
        """Of a person to whom so many values of the array belong; delta is at most 1."""
        if isinstance(values, bool) or not isinstance(values, int) or values < 1:
            raise ValueError("the number of values of one person is a positive whole number.")
        micro_epsilon, atto_delta = self.noise.price
        return PersonLoss(values, values * micro_epsilon, min(values * atto_delta, ATTO))

    def parameters(self) -> Mapping[str, object]:
        """Public facts for the certificate, JSON values only."""
        return {
            "law": self.law,
            "variant": "fast" if self.fast else "exact",
            "lower": str(self.grid.lower),
            "upper": str(self.grid.upper),
            "step": str(self.grid.step),
            "sensitivity_units": self.grid.cells,
            "missing": self.missing,
            "noise": dict(self.noise.parameters()),
        }

    def perturb(
        self,
        values: NDArray[np.number],
        *,
        out: NDArray[np.float64] | None = None,
        keystream: Keystream | None = None,
    ) -> NDArray[np.float64]:
        """Noised grid values of an array of any shape, in `out` if given, which may be `values` itself.

        Works a chunk at a time: beside a contiguous array and `out` it takes about a megabyte. Raises
        ValueError for an array that is empty or holds no real numbers; and, unless `missing` says what stands
        for them, for one that holds NaN or infinities, in which case `out` is partly written.
        """
        check_array(values)
        out = np.empty(values.shape, np.float64) if out is None else _checked_out(out, values)
        source, target = values.reshape(-1), out.reshape(-1)
        for start in range(0, source.size, _CHUNK):
            piece = slice(start, start + _CHUNK)
            self._perturb_chunk(source[piece], target[piece], keystream=keystream)
        return out

    def _perturb_chunk(
        self, values: NDArray[np.number], out: NDArray[np.float64], *, keystream: Keystream | None
    ) -> None:
        numbers, absent = self.present(values.astype(np.float64, copy=False))
        if isinstance(self.noise, FastLaplace) and self._snapping.fits_floats:
            # the same numbers without a way through integers and back
            self._snapping.units_as_floats(numbers, out=out)
            self.noise.add_to(out, keystream=keystream)
            self._snapping.values(out, out=out)
        else:
            units = self._snapping.units(numbers)
            units += self.noise.sample(units.size, keystream=keystream)
            self._snapping.values(units, out=out)
        if absent is not None and self.missing == "keep-mask":
            out[absent] = np.nan

    def present(self, numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None]:
        """The numbers with the middle of the range where NaN is, and where that is, if anywhere.

        Infinities stay, to be clipped as any number. ValueError if `missing` refuses either.
        """
        if np.isfinite(numbers).all():
            return numbers, None
        if self.missing == "refuse":
            raise ValueError(
                "the array holds values that are no numbers; say what stands for them: missing=clip (the "
                "middle of the range, or a bound) or missing=keep-mask (which are missing is then published)."
            )
        absent = np.isnan(numbers)
        return np.where(absent, float(self.grid.value(self.grid.middle)), numbers), absent

    @cached_property
    def _snapping(self) -> Snapping:
        return Snapping(self.grid)


def check_array(values: NDArray[np.number]) -> None:
    """Raise ValueError unless this is a non-empty array of integers or of floats of at most 64 bits."""
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "iuf" or values.dtype.itemsize > 8:
        raise ValueError("the array must hold integers, or floats of at most 64 bits.")
    if not values.size:
        raise ValueError("the array is empty.")


def _checked_out(out: NDArray[np.float64], values: NDArray[np.number]) -> NDArray[np.float64]:
    if out.shape != values.shape or out.dtype != np.float64 or not out.flags.c_contiguous:
        raise ValueError("out must be a contiguous array of 64-bit floats, of the shape of the values.")
    return out
