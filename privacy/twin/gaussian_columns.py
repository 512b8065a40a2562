"""Level 1 with Gaussian noise: one noisy histogram per column, for a delta."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

from privacy.keystream import Keystream
from privacy.loss import GuaranteeClass
from privacy.rows_of_a_person import check_rows
from privacy.twin.column_counts import MAX_COLUMNS, check_width
from privacy.twin.gaussian import GaussianLoss, deviation, draw, variance_of
from privacy.twin.mechanism import RELATION, check_cells, check_counts, starts
from privacy.twin.noisy_counts import NoisyCounts


@dataclass(frozen=True)
class GaussianColumns:
    """Rows in each cell of each of k columns, plus independent noise P(Z = z) ~ exp(-z^2/(2 v)).

    Theorem. With v = C^2 k/(2 rho) the release is rho-zCDP for adding or removing one person who contributes
    up to C rows, and all tables of the job are (epsilon, delta)-differentially private together.
    Proof. The cells are declared, so both data sets have the same k histograms, and every row is in one cell
    of each, by a rule that looks at this row alone. The rest is `gaussian.variance_of`, then `GaussianLoss`.
    QED.

    Replacing a person costs at most 4 rho. How many rows there are is released by the noisy counts alone.
    """

    kind: ClassVar[str] = "column_counts"
    guarantee: ClassVar[GuaranteeClass] = GuaranteeClass.APPROX_DP
    relation: ClassVar[str] = RELATION
    pairs: ClassVar[tuple[tuple[int, int], ...]] = ()

    cells: tuple[int, ...]
    loss: GaussianLoss
    rows: int = 1

    def __post_init__(self) -> None:
        check_rows(self.rows)
        check_cells(self.cells, most=MAX_COLUMNS, what="a twin of column counts")
        check_width(self.width)

    @property
    def width(self) -> int:
        return sum(self.cells)

    @property
    def micro_epsilon(self) -> int:
        """Of all tables of the job together, beside the delta of `loss`."""
        return self.loss.micro_epsilon

    @property
    def rho(self) -> Fraction:
        return self.loss.rho

    @property
    def variance(self) -> Fraction:
        return variance_of(len(self.cells), rows=self.rows, rho=self.rho)

    @property
    def one_scale(self) -> Fraction:
        """Standard deviation of the noise of each count, in rows, rounded up."""
        return deviation(self.variance)

    def parameters(self) -> Mapping[str, object]:
        return {
            "columns": len(self.cells),
            "cells": sum(self.cells),
            "noise": "discrete_gaussian",
            "noise_variance": str(self.variance),
            "rows_per_person": self.rows,
        }

    def release(self, totals: Sequence[int], *, keystream: Keystream | None = None) -> NoisyCounts:
        check_counts(totals, width=self.width)
        return gaussian_columns(totals, self.cells, variance=self.variance, keystream=keystream)


def gaussian_columns(
    totals: Sequence[int], cells: tuple[int, ...], *, variance: Fraction, keystream: Keystream | None
) -> NoisyCounts:
    """The counts of all columns, in order, with noise of this variance."""
    noise = draw(variance, sum(cells), keystream=keystream).tolist()
    noised = [total + drawn for total, drawn in zip(totals, noise, strict=True)]
    ones = tuple(tuple(noised[start:end]) for start, end in pairwise(starts(cells)))
    return NoisyCounts(cells=cells, ones=ones, one_scale=deviation(variance), noise="gaussian")
