"""How useful a perturbed array still is. For the holder of the data alone: every number here has seen it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

_CHUNK = 2**15


@dataclass
class Summary:
    """Running sums over pieces of an array before and after; values missing on either side are left out.

    Values are taken relative to `centre`, a public number near them, so that the sums of squares keep their
    digits.
    """

    lower: float
    upper: float
    count: int = 0
    clipped: int = 0
    squared_error: float = 0.0
    sums: tuple[float, float] = (0.0, 0.0)
    squares: tuple[float, float] = (0.0, 0.0)
    product: float = 0.0

    def add(self, before: np.ndarray[Any, Any], after: np.ndarray[Any, Any]) -> None:
        x, y = before.reshape(-1), after.reshape(-1)
        for start in range(0, x.size, _CHUNK):
            self._add_chunk(*_present(x[start : start + _CHUNK], y[start : start + _CHUNK]))

    def _add_chunk(self, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> None:
        self.count += x.size
        self.clipped += int(np.count_nonzero(x < self.lower) + np.count_nonzero(x > self.upper))
        centre = (self.lower + self.upper) / 2
        error, x, y = y - x, x - centre, y - centre
        self.squared_error += _product(error, error)
        self.sums = (self.sums[0] + float(x.sum()), self.sums[1] + float(y.sum()))
        self.squares = (self.squares[0] + _product(x, x), self.squares[1] + _product(y, y))
        self.product += _product(x, y)

    def merge(self, other: Summary) -> None:
        self.count += other.count
        self.clipped += other.clipped
        self.squared_error += other.squared_error
        self.sums = (self.sums[0] + other.sums[0], self.sums[1] + other.sums[1])
        self.squares = (self.squares[0] + other.squares[0], self.squares[1] + other.squares[1])
        self.product += other.product

    def facts(self) -> dict[str, float | None]:
        """Root mean square error against the raw values, share outside the bounds, correlation; None if there
        is none (nothing but missing values, or a constant)."""
        if not self.count:
            return {"rmse": None, "clipped_share": None, "correlation": None}
        spread = [s - t * t / self.count for s, t in zip(self.squares, self.sums, strict=True)]
        together = self.product - self.sums[0] * self.sums[1] / self.count
        varies = min(spread) > 0
        return {
            "rmse": math.sqrt(self.squared_error / self.count),
            "clipped_share": self.clipped / self.count,
            "correlation": together / math.sqrt(spread[0] * spread[1]) if varies else None,
        }


def _present(
    before: np.ndarray[Any, Any], after: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    x = before.astype(np.float64)
    there = np.isfinite(x) & np.isfinite(after)
    return (x, after) if there.all() else (x[there], after[there])


def _product(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
    # not x @ y: the linear algebra library would start threads of its own for so small a product
    return float(np.einsum("i,i", x, y))
