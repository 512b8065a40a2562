"""Level 2: noisy counts of every column and of its strongest pairs, chosen with noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privacy.concentrated import rho_of_pure
from privacy.discrete_laplace import sample
from privacy.keystream import Keystream
from privacy.loss import MICRO, GuaranteeClass, check_micro_epsilon
from privacy.rows_of_a_person import check_rows
from privacy.twin.column_counts import noisy_columns
from privacy.twin.joint import Joint, joint_counts, scores_of
from privacy.twin.mechanism import MAX_COUNTS, RELATION, check_cells, check_counts
from privacy.twin.merging import merge_rare
from privacy.twin.noisy_counts import NoisyCounts, PairCounts
from privacy.twin.selection import Pair, choose_pairs

MAX_COLUMNS = 60
TREE_ALONE_BELOW = 20_000
"""Of rows times epsilon: with fewer, pairs beyond a tree cost more than they tell."""

_PERCENT_OF_CHOICE = 10
_PERCENT_OF_ONES = 30
_PERCENT_OF_ONES_BY_TREE = 45
"""Chosen on one public table (docs/benchmarks.md): where rows are few, cells that the columns' own noise
hides are merged, and no pair can bring them back."""


@dataclass(frozen=True)
class Patterns:
    """Counts of k columns, then a choice of m pairs of columns, then the counts of these pairs, all noised.

    epsilon is cut into three whole numbers of micro-epsilon, `shares`: e1 + e2 + e3 = epsilon.
      1. Columns: every cell of every column, with discrete Laplace noise of scale C k/e1.
      2. Choice: cells that these noisy counts call rare are merged. Each pair has a score, how far its exact
         counts are from what the noisy columns expect of independent ones, less what noise would add. m
         pairs are drawn, first along a tree, each with e2/m (`selection`).
      3. Pairs: every count of the chosen pairs, with discrete Laplace noise of scale C m/e3.

    Theorem. If D' is D with one person added or removed who contributes c <= C rows, the loss between D and
    D' is at most epsilon c/C. In particular the release is epsilon-differentially private.
    Proof. The loss of each step is bounded for every fixed outcome of the steps before it; k, m and the
    shares are public, so the bounds add up (basic composition, which allows each step to depend on earlier
    outcomes: Dwork, Roth 2014, Theorem 3.16 and its remark; here because the ratio of the probabilities of a
    sequence of outcomes is the product of the ratios of its steps).
      1. At most e1 c/C, by the theorem of `ColumnCounts`.
      2. The noisy columns are fixed, and with them the merged cells, the total and what is expected. A row is
         in one merged cell of a pair, by a rule that looks at this row alone, so c rows move the counts by c
         in the L1 norm and every score by at most c (`selection.dependence`). Each of the m draws has a loss
         of at most (e2/m) c/C (`selection.noisy_best`), whatever the draws before it left to choose from.
      3. The pairs and their merged cells are fixed. c rows move the counts of each pair by c in the L1 norm,
         those of m pairs by c m: at most c m/(C m/e3) = e3 c/C, as in `ColumnCounts`.
    The sum is (e1 + e2 + e3) c/C = epsilon c/C. QED. (The scheme is that of McKenna, Miklau, Sheldon 2021,
    "Winning the NIST contest", section 4, with pure noise and without their public data.)

    In zero-concentrated terms the parts are k times e1/k, m times e2/m and m times e3/m: together
    (e1^2/k + e2^2/m + e3^2/m)/2 of rho (`concentrated.rho_of_pure`). Replacing a person costs at most
    2 epsilon.

    How many rows there are is known from the noisy counts alone. One column has no pairs: all of epsilon
    goes into its counts.
    """

    kind: ClassVar[str] = "patterns"
    guarantee: ClassVar[GuaranteeClass] = GuaranteeClass.PURE_DP
    relation: ClassVar[str] = RELATION

    cells: tuple[int, ...]
    micro_epsilon: int
    rows: int = 1
    nominal_size: int = field(kw_only=True)

    def __post_init__(self) -> None:
        check_micro_epsilon(self.micro_epsilon)
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
        tree = columns - 1
        if self.nominal_size * self.micro_epsilon < TREE_ALONE_BELOW * MICRO * self.rows:
            return tree
        return min(2 * columns, len(self.pairs))

    @cached_property
    def shares(self) -> tuple[int, int, int]:
        """Micro-epsilon of the columns, of the choice and of the pairs: they add up to micro_epsilon."""
        if not self.wanted:
            return self.micro_epsilon, 0, 0
        by_tree = self.wanted < len(self.cells)
        ones = self.micro_epsilon * (_PERCENT_OF_ONES_BY_TREE if by_tree else _PERCENT_OF_ONES) // 100
        choice = self.micro_epsilon * _PERCENT_OF_CHOICE // 100
        return ones, choice, self.micro_epsilon - ones - choice

    @property
    def width(self) -> int:
        return width_of(self.cells, self.pairs)

    @property
    def one_scale(self) -> Fraction:
        """Of the noise of each count of one column, in rows."""
        return Fraction(self.rows * len(self.cells) * MICRO, self.shares[0])

    @property
    def pair_scale(self) -> Fraction:
        """Of the noise of each count of a pair; there are pairs from two columns on."""
        return Fraction(self.rows * self.wanted * MICRO, self.shares[2])

    @property
    def rho(self) -> Fraction:
        ones, choice, pairs = (Fraction(share, MICRO) for share in self.shares)
        columns, wanted = len(self.cells), max(self.wanted, 1)
        return (
            columns * rho_of_pure(ones / columns)
            + wanted * rho_of_pure(choice / wanted)
            + wanted * rho_of_pure(pairs / wanted)
        )

    def parameters(self) -> Mapping[str, object]:
        return {
            "columns": len(self.cells),
            "cells": sum(self.cells),
            "pairs": self.wanted,
            "noise": "discrete_laplace",
            "noise_scale": str(self.one_scale),
            "pair_noise_scale": str(self.pair_scale) if self.wanted else None,
            "micro_epsilon_shares": list(self.shares),
            "rows_per_person": self.rows,
        }

    def release(self, totals: Sequence[int], *, keystream: Keystream | None = None) -> NoisyCounts:
        check_counts(totals, width=self.width)
        ones = noisy_columns(totals[: sum(self.cells)], self.cells, scale=self.one_scale, keystream=keystream)
        columns = NoisyCounts(cells=self.cells, ones=ones, one_scale=self.one_scale)
        if not self.wanted:
            return columns
        merges = tuple(merge_rare(column, scale=self.one_scale) for column in ones)
        joint = self._joint(totals, merges)
        chosen = choose_pairs(
            self._scores(joint, columns, merges),
            columns=len(self.cells),
            wanted=self.wanted,
            epsilon=Fraction(self.shares[1], MICRO),
            rows=self.rows,
            keystream=keystream,
        )
        pairs = tuple(self._noised(pair, joint[pair], keystream=keystream) for pair in chosen)
        return replace(columns, merges=merges, pairs=pairs, pair_scale=self.pair_scale)

    def _joint(self, totals: Sequence[int], merges: Sequence[Sequence[int]]) -> dict[Pair, NDArray[np.int64]]:
        return joint_counts(totals, self.cells, self.pairs, merges)

    def _scores(self, joint: Joint, columns: NoisyCounts, merges: Sequence[Sequence[int]]) -> dict[Pair, int]:
        # the mean magnitude of Laplace noise is its scale
        return scores_of(joint, columns, merges, noise_of_count=self.pair_scale)

    def _noised(self, pair: Pair, counts: NDArray[np.int64], *, keystream: Keystream | None) -> PairCounts:
        noise = sample(self.pair_scale, counts.size, keystream=keystream)
        return PairCounts(pair, tuple((counts.ravel() + noise).tolist()))


def check_patterns(nominal_size: int, width: int) -> None:
    """Raises ValueError for no rows, or for pairs with too many cells together."""
    if nominal_size < 1:
        raise ValueError("nominal_size, the declared number of rows, must be at least 1.")
    if width > MAX_COUNTS:
        raise ValueError(
            f"the pairs of columns have {width} cells together, more than {MAX_COUNTS}; declare "
            "wider bins, coarser categories, or leave columns at level 1."
        )


def width_of(cells: Sequence[int], pairs: Sequence[Pair]) -> int:
    """How many counts columns and pairs have together."""
    return sum(cells) + sum(cells[first] * cells[second] for first, second in pairs)
