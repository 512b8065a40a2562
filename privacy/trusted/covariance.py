"""The covariance matrix of several columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from typing import ClassVar

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.mechanism import NoisedOutput
from privacy.trusted.count import noised_sum
from privacy.trusted.exact_linear import is_positive_definite
from privacy.trusted.moment_bounds import covariance_bounds
from privacy.trusted.moments import UNIT, Moments, NoisedMoments, OfMoments
from privacy.trusted.ratio import bounds_of_ratio, output_between, output_within

_SHRINK_STEPS = 64
_LEAST_VARIANCE = Fraction(1, 2**20)


@dataclass(frozen=True)
class Covariance(OfMoments):
    """Covariances (upper triangle, row by row, over N), then the means, then the count.

    `Moments` over all pairs is the theorem; everything here is a function of the noised moments. From them
    the covariance of u_i and u_j on the scale -1..1 is p_ij/N - (s_i/N)(s_j/N). Noise can make such a matrix
    impossible, so it is repaired: variances are held inside 2^-20..1, and covariances are shrunk towards zero
    by the least multiple of 1/64 that makes the matrix positive definite (a convex combination with a
    positive diagonal, so shrinking further never loses it, and shrinking fully always reaches it). The half
    widths are `moment_bounds.covariance_bounds`, repair included.
    """

    kind: ClassVar[str] = "covariance"

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        return tuple(combinations_with_replacement(range(len(self.grids)), 2))

    @cached_property
    def moments(self) -> Moments:
        return Moments(self.grids, self.pairs, micro_epsilon=self.micro_epsilon, rows=self.rows)

    @property
    def steps(self) -> tuple[Fraction, ...]:
        grids = self.grids
        covariances = (grids[i].step * grids[j].step * 2**10 for i, j in self.pairs)
        return *covariances, *(grid.step for grid in grids), Fraction(1)

    def release(
        self, totals: Sequence[int], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        moments = self.moments.release(totals, keystream=keystream)
        matrix = _repaired(_covariances(moments, len(self.grids)))
        return (
            *(
                self._covariance(moments, pair, matrix, step)
                for pair, step in zip(self.pairs, self.steps, strict=False)
            ),
            *(self._mean(moments, index) for index in range(len(self.grids))),
            noised_sum(self.moments.noisy, 0, moments.count, step=Fraction(1)),
        )

    def _covariance(
        self,
        moments: NoisedMoments,
        pair: tuple[int, int],
        matrix: list[list[Fraction]],
        step: Fraction,
    ) -> NoisedOutput:
        """In the columns' own units; the half widths are those of the noise and of the repair together."""
        i, j = pair
        unit = half_range(self.grids[i]) * half_range(self.grids[j])

        def bounds(alpha: Fraction) -> tuple[Fraction, Fraction]:
            low, high = covariance_bounds(self.moments, moments, i, j, alpha=alpha)
            return low * unit, high * unit

        return output_between(round(matrix[i][j] * unit / step) * step, bounds, step=step)

    def _mean(self, moments: NoisedMoments, index: int) -> NoisedOutput:
        grid, half = self.grids[index], half_range(self.grids[index])
        middle, total = grid.lower + half, int(moments.sums[index] * UNIT)

        def bounds(alpha: Fraction) -> tuple[Fraction, Fraction]:
            noisy = self.moments.noisy
            low, high = bounds_of_ratio(
                total,
                moments.count,
                slack=noisy.half_width(1 + index, alpha=alpha / 2),
                count_slack=noisy.half_width(0, alpha=alpha / 2),
                limit=UNIT,
            )
            return middle + half * low / UNIT, middle + half * high / UNIT

        value = grid.nearest(middle + half * moments.sums[index] / moments.people)
        return output_within(value, bounds, lower=grid.lower, upper=grid.upper, step=grid.step)


def half_range(grid: OutputGrid) -> Fraction:
    return (grid.upper - grid.lower) / 2


def _covariances(moments: NoisedMoments, size: int) -> list[list[Fraction]]:
    """On the scale -1..1, as the noise left it."""
    means = [total / moments.people for total in moments.sums]
    return [
        [moments.product(i, j) / moments.people - means[i] * means[j] for j in range(size)]
        for i in range(size)
    ]


def _repaired(matrix: list[list[Fraction]]) -> list[list[Fraction]]:
    size = range(len(matrix))
    diagonal = [min(max(matrix[i][i], _LEAST_VARIANCE), Fraction(1)) for i in size]

    def shrunk(steps: int) -> list[list[Fraction]]:
        kept = Fraction(_SHRINK_STEPS - steps, _SHRINK_STEPS)
        return [[diagonal[i] if i == j else kept * matrix[i][j] for j in size] for i in size]

    low, high = 0, _SHRINK_STEPS
    while low < high:
        half = (low + high) // 2
        low, high = (low, half) if is_positive_definite(shrunk(half)) else (half + 1, high)
    return shrunk(low)
