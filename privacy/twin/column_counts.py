"""Level 1: one noisy histogram per column, and nothing about how columns belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from privacy.concentrated import rho_of_pure
from privacy.discrete_laplace import sample
from privacy.keystream import Keystream
from privacy.loss import MICRO, GuaranteeClass, check_micro_epsilon
from privacy.rows_of_a_person import check_rows
from privacy.twin.mechanism import MAX_COUNTS, RELATION, check_cells, check_counts, starts
from privacy.twin.noisy_counts import NoisyCounts

MAX_COLUMNS = 5000


@dataclass(frozen=True)
class ColumnCounts:
    """Rows in each cell of each of k columns, plus independent noise P(Z = z) ~ exp(-|z|/t), t = C k/epsilon.

    Theorem. If D' is D with one person added or removed who contributes c <= C rows, the loss between D and
    D' is at most epsilon c/C. In particular the release is epsilon-differentially private.
    Proof. The cells are declared, so D and D' have the same counts to release. Every row adds one to exactly
    one cell of each column, by a rule that looks at this row alone, and the rows of all others are chosen and
    read alike in both: c rows move the vector of all counts by c k in the L1 norm, in one direction. So for
    every vector s of integers P(S + Z = s) / P(S' + Z = s) <= exp(c k/t) = e^(epsilon c/C). QED.
    (Dwork, McSherry, Nissim, Smith 2006, Prop. 1 and section 3.2; Ghosh, Roughgarden, Sundararajan 2009.)

    In zero-concentrated terms each column is (epsilon c/(C k))-differentially private by itself, so together
    they take k (epsilon/k)^2/2 = epsilon^2/(2 k) of rho. Replacing a person costs at most 2 epsilon.

    How many rows there are is released by the same noisy counts, and by nothing else: each column's counts
    add up to it.
    """

    kind: ClassVar[str] = "column_counts"
    guarantee: ClassVar[GuaranteeClass] = GuaranteeClass.PURE_DP
    relation: ClassVar[str] = RELATION
    pairs: ClassVar[tuple[tuple[int, int], ...]] = ()

    cells: tuple[int, ...]
    micro_epsilon: int
    rows: int = 1

    def __post_init__(self) -> None:
        check_micro_epsilon(self.micro_epsilon)
        check_rows(self.rows)
        check_cells(self.cells, most=MAX_COLUMNS, what="a twin of column counts")
        check_width(self.width)

    @property
    def width(self) -> int:
        return sum(self.cells)

    @property
    def scale(self) -> Fraction:
        """t, in rows."""
        return Fraction(self.rows * len(self.cells) * MICRO, self.micro_epsilon)

    @property
    def rho(self) -> Fraction:
        columns = len(self.cells)
        return columns * rho_of_pure(Fraction(self.micro_epsilon, MICRO * columns))

    def parameters(self) -> Mapping[str, object]:
        return {
            "columns": len(self.cells),
            "cells": sum(self.cells),
            "noise": "discrete_laplace",
            "noise_scale": str(self.scale),
            "rows_per_person": self.rows,
        }

    def release(self, totals: Sequence[int], *, keystream: Keystream | None = None) -> NoisyCounts:
        check_counts(totals, width=self.width)
        ones = noisy_columns(totals, self.cells, scale=self.scale, keystream=keystream)
        return NoisyCounts(cells=self.cells, ones=ones, one_scale=self.scale)


def noisy_columns(
    totals: Sequence[int], cells: Sequence[int], *, scale: Fraction, keystream: Keystream | None
) -> tuple[tuple[int, ...], ...]:
    """The counts of all columns, in order, with noise of this scale."""
    noise = sample(scale, sum(cells), keystream=keystream).tolist()
    noised = [total + drawn for total, drawn in zip(totals, noise, strict=True)]
    return tuple(tuple(noised[start:end]) for start, end in pairwise(starts(cells)))


def check_width(width: int) -> None:
    """Raises ValueError for columns with too many cells together."""
    if width > MAX_COUNTS:
        raise ValueError(
            f"the columns have {width} cells together, more than {MAX_COUNTS}; declare wider bins."
        )
