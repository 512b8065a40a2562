"""The sum and the mean of one column, clipped to declared bounds and counted in whole grid steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.mechanism import NoisedOutput
from privacy.trusted.count import noised_sum
from privacy.trusted.noisy_sums import NoisySums
from privacy.trusted.one_column import OneColumn
from privacy.trusted.ratio import bounds_of_ratio, output_within


@dataclass(frozen=True)
class Sum(OneColumn):
    """Sum of the clipped values, plus noise of scale C max(|lower|, |upper|)/epsilon.

    A row of q grid steps above lower adds the whole number lower/step + q (lower is a multiple of step),
    which is at most max(|lower|, |upper|)/step away from zero: `NoisySums` with this one bound is the
    theorem. The bound counts from zero, not from the middle, because a row that is not there adds zero.
    """

    kind: ClassVar[str] = "sum"
    width: ClassVar[int] = 1

    @property
    def steps(self) -> tuple[Fraction, ...]:
        return (self.grid.step,)

    @cached_property
    def lowest(self) -> int:
        """The lower bound in grid steps from zero."""
        return int(self.grid.lower / self.grid.step)

    @cached_property
    def _sums(self) -> NoisySums:
        bound = max(abs(self.lowest), abs(self.lowest + self.grid.cells))
        return NoisySums((bound,), rows=self.rows, micro_epsilon=self.micro_epsilon)

    def contribution(self, units: Sequence[int], /) -> Mapping[int, int]:
        """The value in grid steps from zero."""
        return {0: self.lowest + units[0]}

    def parameters(self) -> Mapping[str, object]:
        scale = self._sums.scale(0) * self.grid.step
        return {"noise": "discrete_laplace", "noise_scale": str(scale)}

    def release(
        self, totals: Sequence[int], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        (total,) = self._sums.release(totals, keystream=keystream)
        return (noised_sum(self._sums, 0, total, step=self.grid.step),)


@dataclass(frozen=True)
class Mean(OneColumn):
    """Mean of the clipped values: a noised sum of distances from the middle over a noised count.

    With q grid steps of K, a row adds 1 to the count and d = 2q - K, which lies in -K..K, to the sum of
    distances from the middle in half steps. `NoisySums` with bounds (1, K) is the theorem: each of the two
    sums takes half of epsilon, the noise of the distances has scale C (R/2)/(epsilon/2) for a range of R.
    Released are
        middle + (step/2) (sum + Z_1) / max(1, count + Z_0),  held inside the bounds, and  count + Z_0,
    functions of the noised sums alone (post-processing). Distances are taken from the middle because the
    error of the count is multiplied by what is divided: the mean's distance from the middle, and no constant.

    A ratio is not unbiased, so nothing is lost by holding it inside the bounds. Its half widths say within
    what distance the mean lies of the un-noised one with 95% (99%) probability; they follow from the noised
    sums.
    """

    kind: ClassVar[str] = "mean"
    width: ClassVar[int] = 2

    @property
    def steps(self) -> tuple[Fraction, ...]:
        return self.grid.step, Fraction(1)

    @cached_property
    def _sums(self) -> NoisySums:
        return NoisySums((1, self.grid.cells), rows=self.rows, micro_epsilon=self.micro_epsilon)

    def contribution(self, units: Sequence[int], /) -> Mapping[int, int]:
        """One, and twice the distance from the middle."""
        return {0: 1, 1: 2 * units[0] - self.grid.cells}

    def parameters(self) -> Mapping[str, object]:
        return {
            "noise": "discrete_laplace",
            "noise_scale_count": str(self._sums.scale(0)),
            "noise_scale_sum": str(self._sums.scale(1) * self.grid.step / 2),
        }

    def release(
        self, totals: Sequence[int], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        count, distances = self._sums.release(totals, keystream=keystream)
        return (
            mean_of(self._sums, self.grid, count=count, distances=distances),
            noised_sum(self._sums, 0, count, step=Fraction(1)),
        )


def mean_of(sums: NoisySums, grid: OutputGrid, *, count: int, distances: int) -> NoisedOutput:
    """The mean from the noised count (sum 0) and distances in half steps (sum 1)."""
    middle, half_step = (grid.lower + grid.upper) / 2, grid.step / 2

    def bounds(alpha: Fraction) -> tuple[Fraction, Fraction]:
        low, high = bounds_of_ratio(
            distances,
            count,
            slack=sums.half_width(1, alpha=alpha / 2),
            count_slack=sums.half_width(0, alpha=alpha / 2),
            limit=grid.cells,
        )
        return middle + half_step * low, middle + half_step * high

    value = grid.nearest(middle + half_step * Fraction(distances, max(1, count)))
    return output_within(value, bounds, lower=grid.lower, upper=grid.upper, step=grid.step)
