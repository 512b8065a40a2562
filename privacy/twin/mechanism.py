"""What every mechanism of twins is: a public description, the exact counts that it wants, and one release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Protocol

from privacy.keystream import Keystream
from privacy.loss import GuaranteeClass
from privacy.twin.noisy_counts import MAX_CELLS, NoisyCounts

MECHANISM = "twin_counts"
RELATION = "add or remove one privacy unit"
MAX_COUNTS = 2**22
"""Most counts that a release works on: bounds its time and memory by public numbers."""

MAX_COUNT = 2**40
"""Above every table; below it no sum of counts leaves 64 bits."""


class TwinMechanism(Protocol):
    """Frozen and public. Constructors raise ValueError that names the parameter and the fix.

    The scan reads every cell of a row as a cell number of its column, a function of this row alone; every row
    has one cell in every column. What is counted are whole rows, so all of it is integers.
    """

    @property
    def kind(self) -> str:
        """column_counts or patterns."""

    @property
    def cells(self) -> tuple[int, ...]:
        """How many cells each column has, as declared."""

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs (a, b), a < b, of columns whose joint counts are wanted too."""

    @property
    def rows(self) -> int:
        """The most rows that one person contributes, by a choice that looks at this person alone."""

    @property
    def micro_epsilon(self) -> int:
        """Loss of the whole release; with Gaussian noise, and beside a delta, of all tables of the job."""

    @property
    def rho(self) -> Fraction:
        """Its zero-concentrated loss, for accounts that count rho."""

    @property
    def guarantee(self) -> GuaranteeClass:
        """The class of the promise."""

    @property
    def relation(self) -> str:
        """What neighbouring data sets differ by, in words."""

    @property
    def width(self) -> int:
        """How many exact counts `release` takes."""

    def parameters(self) -> Mapping[str, object]:
        """Public facts for the certificate, JSON values only."""

    def release(self, totals: Sequence[int], *, keystream: Keystream | None = None) -> NoisyCounts:
        """Draw the noise, once. `totals` are exact counts, which do not leave this function: those of column
        0's cells, of column 1's, ...; then for each of `pairs` those of its cells[a] cells[b] combinations,
        the cells of a outermost."""


def check_cells(cells: Sequence[int], *, most: int, what: str) -> None:
    """Raises ValueError unless there are 1 to `most` columns of 1 to MAX_CELLS cells each."""
    if not 1 <= len(cells) <= most:
        raise ValueError(f"{what} takes 1 to {most} columns, not {len(cells)}; leave some at level 0.")
    for column, count in enumerate(cells):
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= MAX_CELLS:
            raise ValueError(
                f"column {column} must have 1 to {MAX_CELLS} cells; declare wider bins or coarser categories."
            )


def check_counts(totals: Sequence[int], *, width: int) -> None:
    """Raises ValueError for what cannot be counts of rows. Never says which number it was."""
    # type() rather than isinstance: a bool, or a numpy integer that wraps around, must not be noised
    if len(totals) != width or not all(type(total) is int and 0 <= total < MAX_COUNT for total in totals):
        raise ValueError("platform bug: the exact counts are not the whole numbers that the twin needs.")


def starts(widths: Sequence[int]) -> list[int]:
    """Where each part of a flat list begins, and where the last one ends."""
    return list(accumulate(widths, initial=0))
