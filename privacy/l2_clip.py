"""Vectors of a block's outputs drawn back into a ball, in whole grid units: what Gaussian noise has to cover.

Clipped vectors are un-noised numbers and must never leave a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt

MIN_NORM = Fraction(1, 1000)

_FINE = 2**32
"""Norms are compared in units of 2^-32."""


@dataclass(frozen=True)
class L2Clip:
    """The ball of radius C = `norm` around the middle of the bounds, of vectors in half-ranges.

    Output k has K_k = `cells` grid cells, so its point q_k is in 0..K_k. Its middle is c_k = floor(K_k/2),
    its half-range H_k = K_k - c_k = ceil(K_k/2), and its place e_k = q_k - c_k, with |e_k| <= H_k. A
    vector's norm is |e|_H = sqrt(sum_k (e_k/H_k)^2): at most sqrt(p), which is the C that clips nothing.

    Clip. With S = 2^32: y_k = ceil(|e_k| S/H_k), n = ceil(sqrt(sum_k y_k^2)), L = floor(C S). If n <= L, e
    stays. Otherwise each |e_k| becomes floor(|e_k| L/n), with its sign. (The ball is that of gradient
    clipping, Abadi et al. 2016, section 3.1; the whole numbers are what makes its proof exact.)

    Theorem. Each clipped vector e' has |e'|_H <= C. Proof. n >= S |e|_H, as y_k >= S |e_k|/H_k. Where e
    stays, |e|_H <= n/S <= L/S <= C. Otherwise |e'_k| <= |e_k| L/n for each k, so |e'|_H <= |e|_H L/n <= L/S
    <= C. QED.

    Theorem. Let a neighbour exchange at most one vector of each of r repeats for any other. Then discrete
    Gaussian noise of variance v_k = (2 r H_k C)^2/(2 rho) on the sum of each output k, over the runs of all
    repeats, makes all sums together rho-zCDP. Proof. Let s_k be by how much sum k moves. In each repeat one
    vector of norm <= C takes the place of another, so |s|_H <= r (C + C) = 2 r C by the triangle inequality.
    Noise on output k costs exactly s_k^2/(2 v_k) (Canonne, Kamath, Steinke 2020, Proposition 5), and
    independent noise adds up (Bun, Steinke 2016, Lemma 2.3):
        sum_k s_k^2/(2 v_k) = rho sum_k (s_k/H_k)^2/(2 r C)^2 = rho (|s|_H/(2 r C))^2 <= rho. QED.

    2 C and not C: a block's vector may be anywhere in the ball, with the person and without. At C = sqrt(p)
    this is the noise of p outputs that share rho equally, each moved by its range; a smaller C narrows all
    of them by C/sqrt(p). A failed run counts as the middle of all bounds, the centre of the ball.

    Raises ValueError for a norm that is no exact fraction, below 1/1000, or above sqrt(p).
    """

    cells: tuple[int, ...]
    norm: Fraction

    def __post_init__(self) -> None:
        outputs = len(self.cells)
        if not isinstance(self.norm, Fraction | int) or isinstance(self.norm, bool):
            raise ValueError("clip_norm must be an exact fraction.")
        if not self.norm >= MIN_NORM or self.norm**2 > outputs:
            raise ValueError(
                "clip_norm must be from 0.001 to the root of the number of outputs "
                f"({outputs}), where nothing is clipped; choose one in between, or leave it out."
            )

    @cached_property
    def half_ranges(self) -> tuple[int, ...]:
        """H_k, in grid units."""
        return tuple(cells - cells // 2 for cells in self.cells)

    def variance(self, index: int, *, repeats: int, rho: Fraction) -> Fraction:
        """v_k of the second theorem, in squared grid units of the sum over all runs."""
        return (2 * repeats * self.half_ranges[index] * self.norm) ** 2 / (2 * rho)

    def clips(self, units: Sequence[int]) -> bool:
        """Whether the vector lies outside the ball, as far as whole numbers tell."""
        return self._norm(self._places(units)) > self._limit

    def clip(self, units: Sequence[int]) -> tuple[int, ...]:
        """The vector of grid units, drawn back to the ball along the line to the middle."""
        places = self._places(units)
        norm, limit = self._norm(places), self._limit
        if norm <= limit:
            return tuple(units)
        shrunk = (_towards_zero(place * limit, norm) for place in places)
        return tuple(place + cells // 2 for place, cells in zip(shrunk, self.cells, strict=True))

    @cached_property
    def _limit(self) -> int:
        """L."""
        return int(self.norm * _FINE)

    def _places(self, units: Sequence[int]) -> list[int]:
        """e."""
        return [unit - cells // 2 for unit, cells in zip(units, self.cells, strict=True)]

    def _norm(self, places: Sequence[int]) -> int:
        """n."""
        parts = (-(-abs(place) * _FINE // half) for place, half in zip(places, self.half_ranges, strict=True))
        return _ceil_isqrt(sum(part * part for part in parts))


def _towards_zero(numerator: int, denominator: int) -> int:
    return numerator // denominator if numerator >= 0 else -(-numerator // denominator)


def _ceil_isqrt(square: int) -> int:
    return isqrt(square - 1) + 1 if square else 0
