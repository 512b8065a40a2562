"""Values that are counted: the same letters, and behind them every number of a range, as people are listed.

A catalogue of things has gaps, and its numbers keep no width; who numbers the people of a list leaves none
out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MOST_BEGINNINGS = 8
NEARLY_ALL = 0.9
FEWEST = 20
"""Different numbers: fewer are questions, visits or channels as often as people."""

WIDTH = 3
"""Digits, zeros in front among them: what has fewer is counted without a width, as electrodes are."""

DENSE = 2
"""Numbers of the range for each that comes: of a sample of people half may be missing."""

FEW_BUT_ALL = 10
"""Different numbers behind one letter from which on they may be people's, where hardly any is left out."""

_NUMBERED = re.compile(r"([^\W\d]{1,12}[ _.:#/-]?)(\d{1,9})")


@dataclass
class Behind:
    """The numbers behind one beginning: how many cells, how wide they are, and their range."""

    cells: int = 0
    widths: set[int] = field(default_factory=set)
    low: int = 10**9
    high: int = -1

    def add(self, digits: str, times: int) -> None:
        number = int(digits)
        self.cells += times
        self.widths.add(len(digits))
        self.low, self.high = min(self.low, number), max(self.high, number)


@dataclass
class Numbered:
    """What a column's values begin with, for a few beginnings; no value is held."""

    behind: dict[str, Behind] = field(default_factory=dict)

    def add(self, value: str, times: int) -> None:
        """Counts a value that is letters and a number, and no other."""
        match = _NUMBERED.fullmatch(value) if value[-1:].isdigit() and len(value) <= 22 else None
        if match is None:
            return
        beginning = match[1]
        if beginning not in self.behind and len(self.behind) >= MOST_BEGINNINGS:
            # the rarest makes room: whichever came first in a file must not decide
            del self.behind[min(self.behind, key=lambda each: (self.behind[each].cells, each))]
        self.behind.setdefault(beginning, Behind()).add(match[2], times)

    def are_listed(self, present: int, different: int) -> bool:
        """Whether nearly all cells are numbers of one width behind one beginning, with few left out."""
        main = self._main(present)
        return (
            main is not None
            and different >= FEWEST
            and len(main.widths) == 1
            and min(main.widths) >= WIDTH
            and main.high - main.low < DENSE * different
        )

    def may_be_listed(self, present: int, different: int) -> bool:
        """The same of one letter and short numbers, as `s1` to `s14`: people, questions, or visits."""
        main = self._main(present)
        if main is None or different < FEW_BUT_ALL:
            return False
        return len(self._beginning()) == 1 and main.high - main.low < DENSE * different

    def _beginning(self) -> str:
        return max(self.behind, key=lambda each: (self.behind[each].cells, each), default="")

    def _main(self, present: int) -> Behind | None:
        main = self.behind.get(self._beginning())
        return main if main is not None and main.cells >= NEARLY_ALL * present else None
