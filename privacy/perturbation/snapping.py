"""Numbers of an array to whole grid steps and back, exactly: float operations that round nothing.

The same map as OutputGrid.snap, a chunk at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privacy.grid import OutputGrid

MAX_UNITS = 2**61
"""Grid points and noise both stay below this, so that their sum fits into 64 bits."""


@dataclass(frozen=True)
class Snapping:
    """Values as whole multiples of the grid's step. Raises ValueError for a grid too fine for 64 bits.

    Multiplying a float by a power of two, and rounding one down to a whole number, are exact; the clip to the
    nearest floats outside the bounds, before, keeps the product in range, and the clip of the whole numbers,
    after, is the exact one. So the result is lower/step + clamp(floor((value - lower)/step), 0, cells); and
    whatever it is, it depends on that value alone and spans `cells`, which is all that local privacy needs.
    """

    grid: OutputGrid

    def __post_init__(self) -> None:
        if max(abs(self.grid.lower), abs(self.grid.upper)) / self.grid.step >= MAX_UNITS:
            raise ValueError(
                "the grid between lower and upper is too fine for 64-bit numbers so far from zero; "
                "subtract a public constant from the values and the bounds first."
            )

    def units(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Multiples of the step, for values that are no NaN."""
        scaled = np.empty(values.shape, np.float64)
        self._floors(values, out=scaled)
        units = scaled.astype(np.int64)
        if self._rounds_bounds:
            np.clip(units, self._ends[0], self._ends[1], out=units)
        return units

    @cached_property
    def fits_floats(self) -> bool:
        """Whether floats hold every grid point as a whole number, and with noise of up to 2^52 as well."""
        return max(map(abs, self._ends)) <= 2**52

    def units_as_floats(self, values: NDArray[np.float64], *, out: NDArray[np.float64]) -> None:
        """The numbers of `units` as floats, where the grid `fits_floats`; `out` may be `values`.

        The bounds of such a grid are floats, so the clip to them is the exact one.
        """
        self._floors(values, out=out)

    def _floors(self, values: NDArray[np.float64], *, out: NDArray[np.float64]) -> None:
        np.clip(values, self._bounds[0], self._bounds[1], out=out)
        np.multiply(out, self._per_step, out=out)
        np.floor(out, out=out)

    def values(self, units: NDArray[np.int64] | NDArray[np.float64], *, out: NDArray[np.float64]) -> None:
        """The floats that are so many multiples of the step; `out` may be `units`.

        Whole numbers from 2^53 on are rounded to a double: a fixed map of the noised integer, so it is free.
        """
        np.multiply(units, self._step, out=out)

    @cached_property
    def _bounds(self) -> tuple[float, float]:
        """The nearest floats that are not inside the bounds."""
        low, high = float(self.grid.lower), float(self.grid.upper)
        return (
            low if Fraction(low) <= self.grid.lower else math.nextafter(low, -math.inf),
            high if Fraction(high) >= self.grid.upper else math.nextafter(high, math.inf),
        )

    @cached_property
    def _rounds_bounds(self) -> bool:
        """Whether the floats of the bounds are not the bounds; otherwise the first clip is the exact one."""
        return any(
            Fraction(near) != bound
            for near, bound in zip(self._bounds, (self.grid.lower, self.grid.upper), strict=True)
        )

    @cached_property
    def _per_step(self) -> float:
        return float(1 / self.grid.step)

    @cached_property
    def _step(self) -> float:
        return float(self.grid.step)

    @cached_property
    def _ends(self) -> tuple[int, int]:
        return int(self.grid.lower / self.grid.step), int(self.grid.upper / self.grid.step)
