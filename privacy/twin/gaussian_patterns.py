"""Level 2 with Gaussian noise: counts of every column and of its strongest pairs, for a delta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privacy.cost import PICO, Currency, format_amount
from privacy.keystream import Keystream
from privacy.loss import MICRO, GuaranteeClass
from privacy.rows_of_a_person import check_rows
from privacy.twin.gaussian import GaussianLoss, deviation, draw, epsilon_of_choice, variance_of
from privacy.twin.gaussian_columns import gaussian_columns
from privacy.twin.joint import Joint, joint_counts, scores_of
from privacy.twin.mechanism import RELATION, check_cells, check_counts
from privacy.twin.merging import merge_rare
from privacy.twin.noisy_counts import NoisyCounts, PairCounts
from privacy.twin.patterns import MAX_COLUMNS, TREE_ALONE_BELOW, check_patterns, width_of
from privacy.twin.selection import Pair, choose_pairs_concentrated

_PERCENT_OF_CHOICE = 10
_PERCENT_OF_ONES = 20
_PERCENT_OF_ONES_BY_TREE = 45
_PAIRS_PER_COLUMN = 2
"""Chosen on one public table (docs/benchmarks.md)."""


@dataclass(frozen=True)
class GaussianPatterns:
    """Counts of k columns, then a choice of m pairs of columns, then the counts of these pairs, all noised.

    rho of the table is cut into three whole numbers of pico-rho, `shares`: r1 + r2 + r3 = rho.
      1. Columns: every cell of every column, with discrete Gaussian noise of variance C^2 k/(2 r1).
      2. Choice: cells that these noisy counts call rare are merged. m pairs are drawn by their scores, as in
         `Patterns`, but by the exponential mechanism with e each, where m e^2/8 <= r2.
      3. Pairs: every count of the chosen pairs, with discrete Gaussian noise of variance C^2 m/(2 r3).

    Theorem. The release is rho (c/C)^2-zCDP for a person who comes or goes with c <= C rows. So it is
    rho-zCDP, and all tables of the job are (epsilon, delta)-differentially private together.
    Proof. Each step is bounded for every fixed outcome of the steps before it, and k, m and the shares are
    public; so the bounds add up (Bun, Steinke 2016, Lemma 2.3, as `accounting` proves it).
      1. k histograms of declared cells: r1 (c/C)^2 by `gaussian.variance_of`.
      2. The noisy columns are fixed, and with them the merged cells, the total and what is expected. A row is
         in one merged cell of a pair, by a rule that looks at this row alone, so c rows move every score by
         at most c (`selection.dependence`). Each of m draws is (e c/C)^2/8-zCDP
         (`selection.exponential_best`), whatever the draws before it left to choose from: r2 (c/C)^2.
      3. The pairs and their merged cells are fixed: m histograms, r3 (c/C)^2 by `gaussian.variance_of`.
    The sum is rho (c/C)^2. Then `GaussianLoss`. QED. (McKenna, Miklau, Sheldon 2021, section 4.)

    Replacing a person costs at most 4 rho. One column has no pairs: all of rho goes into its counts.
    """

    kind: ClassVar[str] = "patterns"
    guarantee: ClassVar[GuaranteeClass] = GuaranteeClass.APPROX_DP
    relation: ClassVar[str] = RELATION

    cells: tuple[int, ...]
    loss: GaussianLoss
    rows: int = 1
    nominal_size: int = field(kw_only=True)

    def __post_init__(self) -> None:
        check_rows(self.rows)
        check_cells(self.cells, most=MAX_COLUMNS, what="a twin of patterns")
        check_patterns(self.nominal_size, self.width)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        return tuple(combinations(range(len(self.cells)), 2))

    @property
    def wanted(self) -> int:
        """m: a tree, and k + 1 pairs more where there are rows enough to tell their counts from noise."""
        columns = len(self.cells)
        share = Fraction(self.loss.micro_epsilon, self.loss.parts * MICRO * self.rows)
        if self.nominal_size * share < TREE_ALONE_BELOW:
            return columns - 1
        return min(_PAIRS_PER_COLUMN * columns, len(self.pairs))

    @cached_property
    def shares(self) -> tuple[int, int, int]:
        """Pico-rho of the columns, of the choice and of the pairs: they add up to that of the table."""
        whole = self.loss.pico_rho
        if not self.wanted:
            return whole, 0, 0
        by_tree = self.wanted < len(self.cells)
        ones = whole * (_PERCENT_OF_ONES_BY_TREE if by_tree else _PERCENT_OF_ONES) // 100
        choice = whole * _PERCENT_OF_CHOICE // 100
        return ones, choice, whole - ones - choice

    @property
    def micro_epsilon(self) -> int:
        """Of all tables of the job together, beside the delta of `loss`."""
        return self.loss.micro_epsilon

    @property
    def rho(self) -> Fraction:
        return self.loss.rho

    @property
    def width(self) -> int:
        return width_of(self.cells, self.pairs)

    @property
    def one_variance(self) -> Fraction:
        """Of the noise of each count of one column, in squared rows."""
        return variance_of(len(self.cells), rows=self.rows, rho=Fraction(self.shares[0], PICO))

    @property
    def pair_variance(self) -> Fraction:
        """Of the noise of each count of a pair; there are pairs from two columns on."""
        return variance_of(self.wanted, rows=self.rows, rho=Fraction(self.shares[2], PICO))

    @property
    def one_scale(self) -> Fraction:
        """Standard deviation of the noise of each count of one column, in rows, rounded up."""
        return deviation(self.one_variance)

    @property
    def choice_epsilon(self) -> Fraction:
        """Of each of the choices."""
        return epsilon_of_choice(Fraction(self.shares[1], PICO), wanted=self.wanted)

    def parameters(self) -> Mapping[str, object]:
        return {
            "columns": len(self.cells),
            "cells": sum(self.cells),
            "pairs": self.wanted,
            "noise": "discrete_gaussian",
            "noise_variance": str(self.one_variance),
            "pair_noise_variance": str(self.pair_variance) if self.wanted else None,
            "rho_shares": [format_amount(Currency.RHO, share) for share in self.shares],
            "rows_per_person": self.rows,
        }

    def release(self, totals: Sequence[int], *, keystream: Keystream | None = None) -> NoisyCounts:
        check_counts(totals, width=self.width)
        columns = gaussian_columns(
            totals[: sum(self.cells)], self.cells, variance=self.one_variance, keystream=keystream
        )
        if not self.wanted:
            return columns
        merges = tuple(merge_rare(c, scale=columns.one_scale, noise="gaussian") for c in columns.ones)
        joint = joint_counts(totals, self.cells, self.pairs, merges)
        chosen = choose_pairs_concentrated(
            self._scores(joint, columns, merges),
            columns=len(self.cells),
            wanted=self.wanted,
            epsilon=self.choice_epsilon,
            rows=self.rows,
            keystream=keystream,
        )
        variance = self.pair_variance
        pairs = tuple(_noised(pair, joint[pair], variance, keystream=keystream) for pair in chosen)
        return replace(columns, merges=merges, pairs=pairs, pair_scale=deviation(variance))

    def _scores(self, joint: Joint, columns: NoisyCounts, merges: Sequence[Sequence[int]]) -> dict[Pair, int]:
        # the mean magnitude of Gaussian noise is sqrt(2/pi) of its standard deviation
        return scores_of(
            joint, columns, merges, noise_of_count=deviation(self.pair_variance) * Fraction(4, 5)
        )


def _noised(
    pair: Pair, counts: NDArray[np.int64], variance: Fraction, *, keystream: Keystream | None
) -> PairCounts:
    noise = draw(variance, counts.size, keystream=keystream)
    return PairCounts(pair, tuple((counts.ravel() + noise).tolist()))
