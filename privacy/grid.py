"""The lattice of values that an output may take, fixed from its declared bounds before any data is read.

All mechanisms count in whole grid steps, so that every data set can reach exactly the same outputs and the
low bits of a float cannot tell data sets apart. Nothing here may depend on data: bounds come from a manifest.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

MIN_CELLS = 2**20
"""Fewest cells of a grid; there are always fewer than twice as many."""

# A release is read as a float in the end, so bounds and their distance stay well inside a float's range.
_MAX_MAGNITUDE = Fraction(10) ** 300
_MIN_WIDTH = Fraction(1, 10**290)
_NUMBER = r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?"
_TEXT = re.compile(rf"\s*({_NUMBER}|[+-]?\d+/\d+)\s*", re.ASCII | re.IGNORECASE)
_MAX_TEXT_LENGTH = 400


@dataclass(frozen=True)
class OutputGrid:
    """The points lower, lower + step, ..., upper, with step a power of two and both ends multiples of it.

    The step is the largest power of two at which the bounds, snapped outwards, are at least 2^20 cells
    apart. One step coarser there are at most 2^20 - 1 cells, hence 2^20 <= cells <= 2^21 - 2. Snapping
    outwards at the coarser step commutes with snapping at the finer one (floor(floor(x)/2) = floor(x/2)),
    so the step can be recomputed from the snapped bounds: two Fractions describe a grid completely.

    Use `OutputGrid.build` for declared bounds; the constructor refuses bounds that are not on their grid.
    """

    lower: Fraction
    upper: Fraction

    @classmethod
    def build(cls, lower: float | Fraction | str, upper: float | Fraction | str) -> OutputGrid:
        """Grid for the declared bounds, snapped outwards: the declared range always fits.

        Raises ValueError naming the bound that is not a finite number, or when lower is not below upper.
        """
        low, high = _exact_bound(lower, name="lower"), _exact_bound(upper, name="upper")
        _check_order(low, high)
        step = _step_for(low, high)
        return cls(lower=math.floor(low / step) * step, upper=math.ceil(high / step) * step)

    def __post_init__(self) -> None:
        _check_order(self.lower, self.upper)
        if (self.lower / self.step).denominator != 1 or (self.upper / self.step).denominator != 1:
            raise ValueError("lower and upper are not on their own grid; use OutputGrid.build.")

    @cached_property
    def step(self) -> Fraction:
        """Distance of neighbouring grid points, in the output's own units; a power of two."""
        return _step_for(self.lower, self.upper)

    @cached_property
    def cells(self) -> int:
        """Number of steps from lower to upper: the most that one block can move a sum of grid units."""
        return int((self.upper - self.lower) / self.step)

    @property
    def middle(self) -> int:
        """Grid units that stand for a block which gave no valid output; independent of data."""
        return self.cells // 2

    def snap(self, value: float) -> int:
        """Grid units of a finite number: clamp(floor((value - lower) / step), 0, cells), exactly.

        Raises ValueError for NaN, infinities and anything that is not an int or float. The message does
        not repeat the value, which has seen data.
        """
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("an output must be a number.")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError("an output must be finite.")
        units = math.floor((Fraction(value) - self.lower) / self.step)
        return min(max(units, 0), self.cells)

    def value(self, units: Fraction | int) -> Fraction:
        """The number that lies `units` steps above lower; units may be fractional or outside the bounds."""
        return self.lower + self.step * units

    def nearest(self, value: Fraction) -> Fraction:
        """The multiple of step nearest to value, ties to even; not clamped to the bounds."""
        return round(value / self.step) * self.step


def _step_for(low: Fraction, high: Fraction) -> Fraction:
    ratio = (high - low) / MIN_CELLS
    # floor(log2(ratio)) lies within one of this difference of bit lengths; start above and come down
    exponent = ratio.numerator.bit_length() - ratio.denominator.bit_length() + 2
    while _snapped_cells(low, high, step=_power_of_two(exponent)) < MIN_CELLS:
        exponent -= 1
    return _power_of_two(exponent)


def _snapped_cells(low: Fraction, high: Fraction, *, step: Fraction) -> int:
    return math.ceil(high / step) - math.floor(low / step)


def _power_of_two(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def _check_order(low: Fraction, high: Fraction) -> None:
    if not low < high:
        raise ValueError("lower must be below upper.")
    if high - low < _MIN_WIDTH:
        raise ValueError("lower and upper are closer than 1e-290; declare a wider range or another unit.")


def _exact_bound(bound: object, *, name: str) -> Fraction:
    if isinstance(bound, bool) or not isinstance(bound, int | float | Fraction | str):
        raise ValueError(f"{name} must be a number.")
    if isinstance(bound, float) and not math.isfinite(bound):
        raise ValueError(f"{name} must be finite.")
    if isinstance(bound, str) and (len(bound) > _MAX_TEXT_LENGTH or not _TEXT.fullmatch(bound)):
        raise ValueError(f"{name} must be a number such as 0, 1.5 or 2/3.")
    try:
        exact = Fraction(bound)
    except ZeroDivisionError:
        raise ValueError(f"{name} must be a number: it divides by zero.") from None
    if abs(exact) > _MAX_MAGNITUDE:
        raise ValueError(f"{name} is beyond 1e300; declare a smaller range.")
    return exact
