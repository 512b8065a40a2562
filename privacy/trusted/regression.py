"""Linear regression from noised sufficient statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from typing import ClassVar

from privacy.keystream import Keystream
from privacy.mechanism import NoisedOutput
from privacy.trusted.count import noised_sum
from privacy.trusted.covariance import half_range
from privacy.trusted.exact_linear import is_positive_definite, plus_diagonal, solve
from privacy.trusted.moment_bounds import distance_to_solution, root_above, slack
from privacy.trusted.moments import Moments, NoisedMoments, OfMoments

_MARGIN = 4
"""Noise scales by which the smallest eigenvalue stays above zero. Chosen by simulation with 1,000 and 10,000
people at epsilon 1: below, single releases explode; above, the ridge biases those that would be good."""


@dataclass(frozen=True)
class LinearRegression(OfMoments):
    """Intercept, one slope for each feature, and the count; `grids` are those of the features, then the
    target.

    `Moments` over all pairs but that of the target with itself is the theorem. What follows is a function of
    the noised moments alone. On the scale -1..1 let A be the noised matrix Z'Z of (1, features), b the noised
    Z'y and t the noise scale of one entry. Least squares with a ridge solves (A + r I) beta = b, with r the
    first of 0, t, 2t, 4t, ... at which A + r I has no eigenvalue below 4 t: without a ridge, noise that makes
    A nearly singular makes the coefficients huge. Exact fractions throughout; then beta is brought back to
    the columns' own units and rounded to public steps. (Dwork, Talwar, Thakurta, Zhang 2014 noise Z'Z; Wang
    2018, "Revisiting differentially private linear regression", on the ridge.)

    The half widths of intercept and slopes hold for all at once: `moment_bounds.distance_to_solution`.
    They are None where noise may be all there is: with few people, or features that are nearly the same.
    """

    kind: ClassVar[str] = "regression"

    @cached_property
    def moments(self) -> Moments:
        target = len(self.grids) - 1
        every = combinations_with_replacement(range(len(self.grids)), 2)
        pairs = tuple(pair for pair in every if pair != (target, target))
        return Moments(self.grids, pairs, micro_epsilon=self.micro_epsilon, rows=self.rows)

    @cached_property
    def steps(self) -> tuple[Fraction, ...]:
        *features, target = self.grids
        # both steps are powers of two, and so is their quotient
        slopes = (target.step / feature.step / 2**20 for feature in features)
        return target.step, *slopes, Fraction(1)

    def release(
        self, totals: Sequence[int], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        moments = self.moments.release(totals, keystream=keystream)
        matrix, right = self._equations(moments)
        beta = solve(plus_diagonal(matrix, self._ridge(matrix)), right)
        half_widths = [
            self._half_widths(moments, matrix, right, beta, alpha=Fraction(1, share)) for share in (20, 100)
        ]
        return (
            *(
                NoisedOutput(value=round(value / step) * step, half_width_95=wide, half_width_99=wider)
                for value, step, wide, wider in zip(
                    self._in_own_units(beta), self.steps, *half_widths, strict=False
                )
            ),
            noised_sum(self.moments.noisy, 0, moments.count, step=Fraction(1)),
        )

    def _equations(self, moments: NoisedMoments) -> tuple[list[list[Fraction]], list[Fraction]]:
        """A and b on the scale -1..1; of the widths of moments, the widths of both."""
        features = range(len(self.grids) - 1)
        target, sums = len(self.grids) - 1, moments.sums
        matrix = [[Fraction(moments.count), *sums[:target]]]
        matrix += [[sums[i], *(moments.product(i, j) for j in features)] for i in features]
        right = [sums[target], *(moments.product(i, target) for i in features)]
        return matrix, right

    def _half_widths(
        self,
        moments: NoisedMoments,
        matrix: list[list[Fraction]],
        right: list[Fraction],
        beta: list[Fraction],
        *,
        alpha: Fraction,
    ) -> list[Fraction | None]:
        """Of intercept and slopes in own units, for all of them at once; None where noise hides them."""
        matrix_slack, right_slack = self._equations(slack(self.moments, moments, alpha=alpha))
        distance = distance_to_solution(
            matrix, right, beta, matrix_slack=matrix_slack, right_slack=right_slack
        )
        if distance is None:
            return [None] * len(beta)
        *features, target = self.grids
        halves = [half_range(grid) for grid in features]
        levers = [(grid.lower + half) / half for grid, half in zip(features, halves, strict=True)]
        # the intercept moves with every slope, by the middle of its feature (Cauchy, Schwarz)
        lengths = [
            root_above(sum((lever**2 for lever in levers), Fraction(1))),
            *(1 / half for half in halves),
        ]
        return [
            half_range(target) * distance * length + step / 2
            for length, step in zip(lengths, self.steps, strict=False)
        ]

    def _ridge(self, matrix: list[list[Fraction]]) -> Fraction:
        scale, ridge = self.moments.relative_scale, Fraction(0)
        while not is_positive_definite(plus_diagonal(matrix, ridge - _MARGIN * scale)):
            ridge = 2 * ridge or scale
        return ridge

    def _in_own_units(self, beta: list[Fraction]) -> list[Fraction]:
        *features, target = self.grids
        half = half_range(target)
        slopes = [half * value / half_range(grid) for value, grid in zip(beta[1:], features, strict=True)]
        middles = [grid.lower + half_range(grid) for grid in features]
        shift = sum((slope * middle for slope, middle in zip(slopes, middles, strict=True)), Fraction(0))
        return [target.lower + half + half * beta[0] - shift, *slopes]
