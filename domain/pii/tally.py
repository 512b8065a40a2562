"""What a scan remembers of a column: counts, and a bounded sketch of how many different values there are."""

from __future__ import annotations

import hashlib
import heapq
import math
import re
from collections import Counter
from dataclasses import dataclass, field

SKETCH = 2048
"""Hashes kept: exact below, and within about 2 % above (Bar-Yossef and others 2002, k minimum values)."""

MOST_SHAPES = 64
_NUMBER = re.compile(r"[-+]?(?:\d{1,20}(?:[.,]\d{0,20})?|[.,]\d{1,20})(?:[eE][-+]?\d{1,3})?", re.ASCII)
_RUNS = re.compile(r"A+|a+|9+|~+")
_SHOWN = frozenset("@.-/:+, _()")


class Distinct:
    """Counts different values in bounded memory. The hash is the same in every process."""

    def __init__(self) -> None:
        self._largest_first: list[int] = []
        self._kept: set[int] = set()

    def add(self, value: str) -> None:
        digest = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        hashed = int.from_bytes(digest, "big")
        if hashed in self._kept:
            return
        if len(self._kept) < SKETCH:
            heapq.heappush(self._largest_first, -hashed)
            self._kept.add(hashed)
        elif hashed < -self._largest_first[0]:
            self._kept.remove(-heapq.heappushpop(self._largest_first, -hashed))
            self._kept.add(hashed)

    @property
    def count(self) -> int:
        if len(self._kept) < SKETCH:
            return len(self._kept)
        return int((SKETCH - 1) * 2**64 / -self._largest_first[0])


@dataclass
class Numbers:
    """The values of a column that are numbers."""

    count: int = 0
    whole: int = 0
    precise: int = 0
    """With four decimals or more."""
    leading_zero: int = 0
    low: float = math.inf
    high: float = -math.inf
    total: float = 0.0
    lengths: Counter[int] = field(default_factory=Counter)

    def add(self, value: str, times: int) -> None:
        """Counts a value that is a number, and no other. A decimal comma counts as a point."""
        if len(value) > 44 or _NUMBER.fullmatch(value) is None:
            return
        number = float(value.replace(",", "."))
        self.count += times
        self.total += number * times
        self.low, self.high = min(self.low, number), max(self.high, number)
        if value.isdigit():
            self.whole += times
            self.lengths[len(value)] += times
            self.leading_zero += times * (value[0] == "0" and len(value) > 1)
        elif value[1:].isdigit():
            self.whole += times
        else:
            decimals = re.split(r"[.,]", value)[-1]
            self.precise += times * (decimals.isdigit() and len(decimals) >= 4)

    @property
    def mean(self) -> float:
        return self.total / self.count if self.count else 0.0


@dataclass
class Tally:
    """One column, counted. `marks` says how many values meet each rule; no value is held."""

    missing: int = 0
    present: int = 0
    marks: Counter[str] = field(default_factory=Counter)
    numbers: Numbers = field(default_factory=Numbers)
    years: Counter[int] = field(default_factory=Counter)
    with_time: int = 0
    words: int = 0
    spaced: int = 0
    with_letters: int = 0
    sentences: int = 0
    long: int = 0
    distinct: Distinct = field(default_factory=Distinct)
    shapes: Counter[str] = field(default_factory=Counter)
    likely: dict[str, float] = field(default_factory=dict)
    scored: float = 0

    def share(self, *marks: str) -> float:
        """The largest share of values that one of these rules has."""
        return max(self.marks[mark] for mark in marks) / self.present if self.present else 0.0

    def largest(self, prefix: str) -> tuple[str, float]:
        """The rule of this family that most values meet, and its share."""
        best = max(
            (mark for mark in self.marks if mark.startswith(prefix)),
            key=lambda mark: (self.marks[mark], mark),
            default="",
        )
        return best, self.share(best) if best else 0.0

    def of_present(self, count: float) -> float:
        return count / self.present if self.present else 0.0

    @property
    def different(self) -> float:
        """Different values for each value that is there: 1 for a key."""
        return min(1.0, self.of_present(self.distinct.count))

    @property
    def words_each(self) -> float:
        return self.of_present(self.words)

    def mean(self, *labels: str) -> float:
        """The model's mean probability of these labels, over the values that it was asked about."""
        return sum(self.likely.get(label, 0.0) for label in labels) / self.scored if self.scored else 0.0


def shape_of(value: str) -> str:
    """`Jane-Mary 1982` is `Aa***-Aa*** 9***`: classes of characters, runs cut short, no letter or digit."""
    classes = "".join(
        "A"
        if sign.isupper()
        else "a"
        if sign.isalpha()
        else "9"
        if sign.isdigit()
        else sign
        if sign in _SHOWN
        else "~"
        for sign in value[:40]
    )
    return _RUNS.sub(lambda run: run[0][0] + ("***" if len(run[0]) > 1 else ""), classes)[:40]
