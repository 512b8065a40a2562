"""What every trusted query is: a public description, the integers that a row adds, and one release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Protocol

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.mechanism import NoisedOutput

MECHANISM = "trusted_query"
RELATION = "add or remove one privacy unit"


class TrustedQuery(Protocol):
    """Frozen and public. Constructors raise ValueError that names the parameter and the fix.

    The scan reads every cell into whole steps of its column's grid (`grids`), 0 to `cells`, and leaves out
    rows that lack one. What it then adds up is a function of one row alone, and all of it is integers: a sum
    of floats depends on their order, which moves it by more than any noise that was scaled to the exact sum
    (Casacuberta, Shoemate, Vadhan, Wagaman 2022, "Widespread underestimation of sensitivity").
    """

    @property
    def kind(self) -> str:
        """The name of the query, such as mean."""

    @property
    def micro_epsilon(self) -> int:
        """Loss of the whole release."""

    @property
    def rho(self) -> Fraction:
        """Its zero-concentrated loss, for accounts that count rho; at most epsilon^2/2."""

    @property
    def rows(self) -> int:
        """The most rows that one person contributes, by a choice that looks at this person alone."""

    @property
    def grids(self) -> tuple[OutputGrid, ...]:
        """One grid for each column that the query reads, in the order that it reads them."""

    @property
    def width(self) -> int:
        """How many integers the scan computes."""

    @property
    def steps(self) -> tuple[Fraction, ...]:
        """The grid step of each released number."""

    def contribution(self, units: Sequence[int], /) -> Mapping[int, int]:
        """What a row with these grid units adds: position among the `width` integers, and amount."""

    def parameters(self) -> Mapping[str, object]:
        """Public facts for the certificate, JSON values only."""

    def release(
        self, totals: Sequence[int], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        """Draw the noise, once. `totals` are the `width` exact sums; they do not leave this function."""


def check_totals(totals: Sequence[int], *, width: int) -> None:
    """Raises ValueError for what the scan cannot have meant. Never says which number it was."""
    # type() rather than isinstance: a bool, or a numpy integer that wraps around, must not be noised
    if len(totals) != width or set(map(type, totals)) != {int}:
        raise ValueError("platform bug: the exact sums are not the whole numbers that the query needs.")
