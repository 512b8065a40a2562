"""The same query in each of several declared groups, at the price of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from privacy.grid import OutputGrid
from privacy.keystream import Keystream
from privacy.mechanism import NoisedOutput
from privacy.trusted.query import TrustedQuery

MAX_GROUPS = 1000


@dataclass(frozen=True)
class Groups:
    """A query once for each of a fixed list of public groups; a row is in at most one of them.

    Theorem. The release of all groups together is epsilon-differentially private, epsilon being that of the
    query. Proof. Each query proves more than its epsilon: if D and D' differ by a person who contributes c
    rows, its loss is at most epsilon c/C. Rows are chosen and put into groups by rules that look at one
    person alone, so of the c <= C rows of the person who differs some c_g are in group g, with sum_g c_g <=
    c, and nothing else differs in any group. Noise is independent, losses add up: sum_g epsilon c_g/C <=
    epsilon. QED. (With C = 1 this is parallel composition: McSherry 2009.) The groups come from the
    declaration: a list taken from the data would show by itself who is there. Groups that nobody is in are
    released too.

    The same for rho: (c_g/C)^2 rho in group g, and sum_g (c_g/C)^2 <= 1.

    Only for adding and removing: a person who moves between groups differs in two, at 2 epsilon.
    """

    query: TrustedQuery
    groups: int

    def __post_init__(self) -> None:
        if not 1 <= self.groups <= MAX_GROUPS:
            raise ValueError(f"a query may have up to {MAX_GROUPS} groups; declare fewer categories.")

    @property
    def kind(self) -> str:
        return self.query.kind

    @property
    def micro_epsilon(self) -> int:
        return self.query.micro_epsilon

    @property
    def rho(self) -> Fraction:
        return self.query.rho

    @property
    def rows(self) -> int:
        return self.query.rows

    @property
    def grids(self) -> tuple[OutputGrid, ...]:
        return self.query.grids

    @property
    def width(self) -> int:
        return self.query.width * self.groups

    @property
    def steps(self) -> tuple[Fraction, ...]:
        return self.query.steps * self.groups

    def contribution(self, units: Sequence[int], /) -> Mapping[int, int]:
        """Of a row whose group number comes first, before its units."""
        group, *rest = units
        start = group * self.query.width
        return {start + place: amount for place, amount in self.query.contribution(rest).items()}

    def parameters(self) -> Mapping[str, object]:
        return {**self.query.parameters(), "groups": self.groups}

    def release(
        self, totals: Sequence[int], *, keystream: Keystream | None = None
    ) -> tuple[NoisedOutput, ...]:
        """All groups, one after the other."""
        if len(totals) != self.width:
            raise ValueError("platform bug: there is not one list of exact sums for each group.")
        width = self.query.width
        return tuple(
            output
            for start in range(0, self.width, width)
            for output in self.query.release(totals[start : start + width], keystream=keystream)
        )
