"""Quantiles of one column by the exponential mechanism, which pays by ranks and not by the declared range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from privacy.concentrated import rho_of_bounded_range
from privacy.exponential import choose, levels
from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.loss import MICRO, check_micro_epsilon
from privacy.mechanism import NoisedOutput
from privacy.median import rank_segments
from privacy.rows_of_a_person import check_rows
from privacy.trusted.query import check_totals

MAX_PROBABILITIES = 20
CELL_BITS = 5
"""A cell is 2^5 steps of the column's grid, so that there are at most 2^16 of them: what the scan keeps."""

MAX_LEVELS = 2**18
"""Longest table of weights: bounds time and memory of a release by public numbers."""


@dataclass(frozen=True)
class Quantile:
    """A grid point near each of the wanted quantiles; each of them takes an equal share of epsilon.

    Theorem. The release is epsilon-differentially private; if a person contributes c <= C rows, the loss is
    at most epsilon c/C.
    Proof. Let n/D be one of the quantiles and e its share of epsilon. A row falls into one cell, a function
    of this row alone. With below(v) values under cell v, upto(v) at most v, and m in all, v is
        d(v) = max(0, D below(v) - n m, n m - D upto(v))
    away from the best (`median.rank_segments`). Adding c rows adds c to m and some a in 0..c to below(v), all
    in one direction: D below(v) - n m moves by D a - n c, which lies in -n c..(D - n) c, and so does the same
    of upto(v). So d(v) moves by at most s c with s = max(n, D - n). The weights are made for the sensitivity
    s C; by the lemma of `exponential.weights`, in whose proof g is raised to the power s c, two weights that
    are s c apart have a ratio of at most exp(e c/(2C)). As in `exponential.choose`, the loss is at most twice
    the exponent, e c/C, and shares add up to epsilon (basic composition). The quantiles are then put in
    ascending order, which is post-processing. QED. In zero-concentrated terms each takes (e c/C)^2/8
    (`concentrated.rho_of_bounded_range`).

    For the median s = 1 where D = 2: weights for a CHANGE of rows would have to be made for D C, twice as
    flat. Changing a person's rows therefore costs up to 2 epsilon here, as it does for every kind of trusted
    query.

    The error is one of ranks: with 95% probability a quantile misses the wanted rank by at most (2 C/e) (s/D)
    (ln points + ln 20) rows, however wide the declared range is (McSherry, Talwar 2007, section 3).
    """

    kind: ClassVar[str] = "quantile"

    grid: OutputGrid
    probabilities: tuple[Fraction, ...]
    micro_epsilon: int
    rows: int = 1

    def __post_init__(self) -> None:
        check_micro_epsilon(self.micro_epsilon)
        check_rows(self.rows)
        if not 1 <= len(self.probabilities) <= MAX_PROBABILITIES:
            raise ValueError(f"ask for 1 to {MAX_PROBABILITIES} quantiles; they share epsilon.")
        if list(self.probabilities) != sorted(set(self.probabilities)) or not all(
            0 < probability < 1 for probability in self.probabilities
        ):
            raise ValueError("the probabilities of quantiles must ascend, strictly between 0 and 1.")
        if max(levels(self._share / (2 * self._sensitivity(p))) for p in self.probabilities) > MAX_LEVELS:
            raise ValueError(
                "epsilon is too small for quantiles this fine; raise epsilon, lower rows, ask for fewer "
                "quantiles, or for rounder ones such as 1/4 or 0.9."
            )

    @property
    def grids(self) -> tuple[OutputGrid, ...]:
        return (self.grid,)

    @property
    def cells(self) -> int:
        """Number of the highest cell; cell 0 begins at the lower bound."""
        return self.grid.cells >> CELL_BITS

    @property
    def width(self) -> int:
        return self.cells + 1

    @property
    def steps(self) -> tuple[Fraction, ...]:
        return (self.grid.step * 2**CELL_BITS,) * len(self.probabilities)

    @property
    def _share(self) -> Fraction:
        return Fraction(self.micro_epsilon, MICRO * len(self.probabilities))

    @property
    def rho(self) -> Fraction:
        return len(self.probabilities) * rho_of_bounded_range(self._share)

    def _sensitivity(self, probability: Fraction) -> int:
        """s C of the proof."""
        return self.rows * max(probability.numerator, probability.denominator - probability.numerator)

    def contribution(self, units: Sequence[int], /) -> Mapping[int, int]:
        """One in the cell of the value."""
        return {units[0] >> CELL_BITS: 1}

    def parameters(self) -> Mapping[str, object]:
        return {"noise": "exponential_mechanism", "points": self.width, "epsilon_each": str(self._share)}

    def release(
        self, totals: Sequence[int], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        check_totals(totals, width=self.width)
        counts = [(cell, count) for cell, count in enumerate(totals) if count]
        drawn = [self._draw(counts, probability, keystream=keystream) for probability in self.probabilities]
        return tuple(NoisedOutput(value=self.grid.value(cell << CELL_BITS)) for cell in sorted(drawn))

    def _draw(
        self, counts: Sequence[tuple[int, int]], probability: Fraction, *, keystream: Keystream | None
    ) -> int:
        return choose(
            rank_segments(counts, cells=self.cells, quantile=probability),
            epsilon=self._share,
            sensitivity=self._sensitivity(probability),
            keystream=keystream,
        )
