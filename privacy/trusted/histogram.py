"""Counts of one column's values in fixed public bins."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.mechanism import NoisedOutput
from privacy.trusted.count import noised_sum
from privacy.trusted.noisy_sums import NoisySums
from privacy.trusted.query import check_totals

MAX_BINS = 1000


@dataclass(frozen=True)
class Histogram:
    """Rows in each bin, plus independent noise of scale C/epsilon in every bin.

    `edges` are the inner edges in grid steps above lower, ascending: bin 0 lies below the first, the last bin
    from the last edge on. Clipped values fall into the outer bins.

    Theorem. The release is epsilon-differentially private; if a person contributes c <= C rows, the loss is
    at most epsilon c/C. Proof. The edges are public and every row adds one to exactly one bin, so c rows move
    the vector of counts by at most c in the L1 norm, whatever the number of bins; each count has noise of
    scale C/epsilon, and the product of the ratios is at most exp(c epsilon/C), as in `NoisySums`. QED.
    Bin b takes (epsilon c_b/C)^2/2 of rho, with sum_b (c_b/C)^2 <= (c/C)^2: epsilon^2/2 in all.
    (Dwork, McSherry, Nissim, Smith 2006, section 3.2.) Moving a person between bins costs 2 epsilon.
    """

    kind: ClassVar[str] = "histogram"

    grid: OutputGrid
    edges: tuple[int, ...]
    micro_epsilon: int
    rows: int = 1

    def __post_init__(self) -> None:
        if not 1 <= len(self.edges) < MAX_BINS:
            raise ValueError(f"a histogram has 2 to {MAX_BINS} bins.")
        if not all(low < high for low, high in pairwise((0, *self.edges, self.grid.cells))):
            raise ValueError("the inner edges of the bins must ascend, strictly between lower and upper.")
        _ = self._bin

    @property
    def grids(self) -> tuple[OutputGrid, ...]:
        return (self.grid,)

    @property
    def width(self) -> int:
        return len(self.edges) + 1

    @property
    def steps(self) -> tuple[Fraction, ...]:
        return (Fraction(1),) * self.width

    @cached_property
    def _bin(self) -> NoisySums:
        """The law of one bin: each takes all of epsilon, since no row is in two."""
        return NoisySums((1,), rows=self.rows, micro_epsilon=self.micro_epsilon)

    @property
    def rho(self) -> Fraction:
        return self._bin.rho

    def contribution(self, units: Sequence[int], /) -> Mapping[int, int]:
        """One in the bin of the value."""
        return {bisect_right(self.edges, units[0]): 1}

    def parameters(self) -> Mapping[str, object]:
        return {
            "bins": self.width,
            "noise": "discrete_laplace",
            "noise_scale": str(self._bin.scale(0)),
        }

    def release(
        self, totals: Sequence[int], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        check_totals(totals, width=self.width)
        noised = [self._bin.release([total], keystream=keystream)[0] for total in totals]
        return tuple(noised_sum(self._bin, 0, count, step=Fraction(1)) for count in noised)
