"""The variance of one column, from three noised integer sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from privacy.keystream import Keystream
from privacy.mechanism import NoisedOutput
from privacy.trusted.count import noised_sum
from privacy.trusted.noisy_sums import NoisySums
from privacy.trusted.one_column import OneColumn
from privacy.trusted.ratio import bounds_of_ratio, output_within
from privacy.trusted.sums import mean_of


@dataclass(frozen=True)
class Variance(OneColumn):
    """Variance (over N, not N - 1), mean and count of the clipped values.

    With q grid steps of K and d = 2q - K in -K..K, a row adds 1, d, and 2 floor(d^2/K) - K, which also lies
    in -K..K. `NoisySums` with bounds (1, K, K) is the theorem: each sum takes a third of epsilon.

    In units of the half range R/2, write u = d/K for the distance from the middle. The third sum is that of
    2u^2 - 1 up to rounding: centred, as the square lies between 0 and 1 and not between -1 and 1. That
    halves its sensitivity, and hence its noise, against a sum of u^2. From the noised sums A, B, C,
        mean of u = (B/K)/N,  mean of u^2 = (1 + (C/K)/N)/2,  N = max(1, A),
        variance = (R/2)^2 (mean of u^2 - (mean of u)^2),  held between 0 and (R/2)^2,
    which no variance of numbers inside the bounds exceeds. All of it is post-processing. Rounding the square
    down in each row costs at most (R/2)^2/K of accuracy, K being at least 2^20, and no privacy.
    """

    kind: ClassVar[str] = "variance"
    width: ClassVar[int] = 3

    @property
    def steps(self) -> tuple[Fraction, ...]:
        return self._step, self.grid.step, Fraction(1)

    @property
    def _step(self) -> Fraction:
        # in squared units, a multiple of the square of the step: (R/2)^2 has about K/4 of them
        return self.grid.step**2 * 2**20

    @property
    def _most(self) -> Fraction:
        return ((self.grid.upper - self.grid.lower) / 2) ** 2

    @cached_property
    def _sums(self) -> NoisySums:
        cells = self.grid.cells
        return NoisySums((1, cells, cells), rows=self.rows, micro_epsilon=self.micro_epsilon)

    def contribution(self, units: Sequence[int], /) -> Mapping[int, int]:
        """One, twice the distance from the middle, and the square of that, centred and over K."""
        cells = self.grid.cells
        distance = 2 * units[0] - cells
        return {0: 1, 1: distance, 2: 2 * (distance * distance // cells) - cells}

    def parameters(self) -> Mapping[str, object]:
        scale = self._sums.scale
        return {
            "noise": "discrete_laplace",
            "noise_scale_count": str(scale(0)),
            "noise_scale_sum": str(scale(1) * self.grid.step / 2),
            "noise_scale_squares": str(scale(2) * self._most / (2 * self.grid.cells)),
        }

    def release(
        self, totals: Sequence[int], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        count, distances, squares = self._sums.release(totals, keystream=keystream)
        return (
            self._variance(count, distances, squares),
            mean_of(self._sums, self.grid, count=count, distances=distances),
            noised_sum(self._sums, 0, count, step=Fraction(1)),
        )

    def _variance(self, count: int, distances: int, squares: int) -> NoisedOutput:
        cells, most, people = self.grid.cells, self._most, max(1, count)
        mean = Fraction(distances, people * cells)
        mean_square = (1 + Fraction(squares, people * cells)) / 2
        value = round(most * (mean_square - mean**2) / self._step) * self._step
        return output_within(
            value,
            lambda alpha: self._bounds(count, distances, squares, alpha=alpha),
            lower=Fraction(0),
            upper=most,
            step=self._step,
        )

    def _bounds(
        self, count: int, distances: int, squares: int, *, alpha: Fraction
    ) -> tuple[Fraction, Fraction]:
        """Where the un-noised variance lies, unless one of the three draws is beyond its own alpha/3."""
        cells = self.grid.cells
        ends = [
            bounds_of_ratio(
                total,
                count,
                slack=self._sums.half_width(index, alpha=alpha / 3),
                count_slack=self._sums.half_width(0, alpha=alpha / 3),
                limit=cells,
            )
            for index, total in ((1, distances), (2, squares))
        ]
        (low, high), (low_square, high_square) = ends
        farthest = max(abs(low), abs(high)) / cells
        nearest = Fraction(0) if low <= 0 <= high else min(abs(low), abs(high)) / cells
        # 1/K above: each row's square was rounded down by less than one of K parts
        top = (1 + high_square / cells) / 2 + Fraction(1, cells) - nearest**2
        bottom = (1 + low_square / cells) / 2 - farthest**2
        return self._most * max(bottom, Fraction(0)), self._most * min(top, Fraction(1))
