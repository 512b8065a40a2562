"""The values that a numeric column can hold in a twin, and how they divide into cells: whole numbers all
along.

A column's values lie on a lattice: whole multiples of its resolution (1, a day, or a power of ten) between
the declared bounds. A cell is a run of lattice points, so every cell can be drawn from, and what is drawn
from a cell is counted in that cell again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from domain.dataset import Column

FINEST_DECIMALS = 330  # the smallest float has 324
_MANTISSA = 52


@dataclass(frozen=True)
class Lattice:
    """Points first..last, in units of 10^-decimals."""

    first: int
    last: int
    decimals: int

    @classmethod
    def of(cls, column: Column) -> Lattice:
        """Of a column with bounds: as fine as declared, finer where the bounds leave no two points."""
        lower, upper = (Fraction(repr(bound)) for bound in column.bounds)
        decimals = column.decimals if column.kind == "number" else 0
        while True:
            unit = 10**decimals
            first, last = math.ceil(lower * unit), math.floor(upper * unit)
            if column.kind != "number" or last > first or decimals >= FINEST_DECIMALS:
                return cls(first, max(first, last), decimals)
            decimals += 1

    @property
    def points(self) -> int:
        return self.last - self.first + 1

    @cached_property
    def unit(self) -> int:
        return int(10**self.decimals)

    def value(self, point: int) -> float:
        """The float next to a lattice point."""
        return point / self.unit

    def nearest(self, value: float) -> int:
        """The lattice point next to a number; it may lie beyond the ends."""
        return round(Fraction(value) * self.unit)

    def text(self, point: int) -> str:
        return f"{self.value(point):.{self.decimals}f}" if self.decimals else str(point)

    def point(self, value: float) -> int | None:
        """The lattice point that a number is, or None."""
        found = Fraction(repr(value)) * self.unit
        return int(found) if found.denominator == 1 else None


def starts(lattice: Lattice, *, bins: int, is_log: bool, taken: frozenset[int]) -> tuple[int, ...]:
    """The first point of each cell, in order; the first cell begins with the lattice.

    At most `bins` cells, each with at least one point that is not `taken` (by a special value) and with a
    first point that no float confuses with that of another cell. Equal widths to within a point, or equal
    ratios where is_log.
    """
    if lattice.points <= bins:
        wanted = list(range(lattice.first, lattice.last + 1))
    elif is_log:
        wanted = [lattice.first, *_ratios(lattice, bins)]
    else:
        wanted = [lattice.first - (-number * lattice.points // bins) for number in range(bins)]
    kept: list[int] = []
    for start in sorted(set(wanted)):
        # the cell before must keep a point of its own, and this one a float of its own
        if not kept or (_has_free(kept[-1], start, taken) and lattice.value(start) > lattice.value(kept[-1])):
            kept.append(start)
    while len(kept) > 1 and not _has_free(kept[-1], lattice.last + 1, taken):
        kept.pop()
    return tuple(kept)


def _has_free(start: int, stop: int, taken: frozenset[int]) -> bool:
    return stop - start > sum(start <= point < stop for point in taken)


def _ratios(lattice: Lattice, bins: int) -> list[int]:
    """Inner starts with equal ratios from the smallest positive point on."""
    low, high = math.log2(max(lattice.first, 1)), math.log2(lattice.last + 1)
    found = [_power_of_two(low + (high - low) * number / bins) for number in range(1, bins)]
    return [point for point in found if lattice.first < point <= lattice.last]


def _power_of_two(exponent: float) -> int:
    """2^exponent, rounded up; whole numbers hold what floats cannot."""
    shift = math.floor(exponent) - _MANTISSA
    mantissa = int(2.0 ** (exponent - shift))
    return mantissa << shift if shift >= 0 else -(-mantissa >> -shift)
