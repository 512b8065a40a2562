"""What a scan remembers of a column: counts, and a bounded sketch of how many different values there are."""

from __future__ import annotations

import hashlib
import heapq
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from twins.pii.numbered import Numbered
from twins.pii.phones import Asked

SKETCH = 2048
"""Hashes kept: exact below, and within about 2 % above (Bar-Yossef and others 2002, k minimum values)."""

MOST_SHAPES = 64
MOST_FEW = 64
MOST_LETTERS = 3
"""With which values begin, up to which numbers behind them may be those of people in a few groups."""
FULL_NAME = "FULL_NAME"
PERSON = ("GIVEN", "FAMILY", FULL_NAME)
"""Labels of the character model that are names of people."""

_NUMBER = re.compile(r"[-+]?(?:\d{1,20}(?:[.,]\d{0,20})?|[.,]\d{1,20})(?:[eE][-+]?\d{1,3})?", re.ASCII)
_RUNS = re.compile(r"A+|a+|9+|~+")
_SHOWN = frozenset("@.-/:+, _()")


def hash_of(value: str) -> int:
    """64 bits, the same in every process."""
    digest = hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


class Distinct:
    """Counts different values in bounded memory."""

    def __init__(self) -> None:
        self._largest_first: list[int] = []
        self._kept: set[int] = set()

    def add(self, hashed: int) -> None:
        """A value by its `hash_of`."""
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


class Name(NamedTuple):
    """Of one value: the probabilities that it is any name, and a full one; and whether it has that form."""

    any_name: float
    full_name: float
    has_form: bool


@dataclass
class Few:
    """How often each value comes, while a column has few different ones, and how like a name each looks."""

    counts: Counter[int] = field(default_factory=Counter)
    names: dict[int, Name] = field(default_factory=dict)
    is_over: bool = False

    def add(self, hashed: int, times: int) -> None:
        if self.is_over:
            return
        self.counts[hashed] += times
        if len(self.counts) > MOST_FEW:
            self.is_over = True
            self.counts.clear()
            self.names.clear()

    def rare(self) -> list[Name]:
        """How like names those values are that an eighth of the cells or fewer have."""
        most = max(1, sum(self.counts.values()) // 8)
        return [
            self.names[hashed]
            for hashed, times in self.counts.items()
            if times <= most and hashed in self.names
        ]


@dataclass
class Numbers:
    """The values of a column that are numbers."""

    count: int = 0
    whole: int = 0
    precise: int = 0
    """With four decimals or more."""
    computed: int = 0
    """With more decimals than anybody measures: the result of a division or a logarithm."""
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
            self.computed += times * (decimals.isdigit() and len(decimals) > 8)

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
    last_year: int | None = None
    years_up: int = 0
    years_down: int = 0
    """How often the year of a date is larger, or smaller, than that of the date before it."""
    words: int = 0
    spaced: int = 0
    with_letters: int = 0
    small: int = 0
    """With letters of which none is a capital, and no digit."""
    cased: int = 0
    """With letters of which the script has capitals and small ones."""
    sentences: int = 0
    long: int = 0
    short: int = 0
    """Three Latin letters or fewer: abbreviations."""
    distinct: Distinct = field(default_factory=Distinct)
    shapes: Counter[str] = field(default_factory=Counter)
    firsts: set[str] = field(default_factory=set)
    """With what values begin; a few signs are kept."""
    wordings: set[int] = field(default_factory=set)
    """What is left of values without their digits, as hashes; a few are kept."""
    likely: dict[str, float] = field(default_factory=dict)
    scored: float = 0
    known: float = 0
    """The shares of words that are names of people, added up over what the model was asked about."""
    few: Few = field(default_factory=Few)
    phones: Asked = field(default_factory=Asked)
    numbered: Numbered = field(default_factory=Numbered)
    houses: Distinct = field(default_factory=Distinct)
    """The digits of values that have the number of a house."""

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

    def add_year(self, year: int, times: int) -> None:
        if self.last_year is not None:
            self.years_up += year > self.last_year
            self.years_down += year < self.last_year
        self.last_year = year
        self.years[year] += times

    @property
    def is_in_order(self) -> bool:
        """Whether dates go one way, as those of events do and birthdays do not."""
        steps = self.years_up + self.years_down
        return steps >= 5 and max(self.years_up, self.years_down) >= 0.95 * steps

    @property
    def different(self) -> float:
        """Different values for each value that is there: 1 for a key."""
        return min(1.0, self.of_present(self.distinct.count))

    @property
    def words_each(self) -> float:
        return self.of_present(self.words)

    @property
    def known_share(self) -> float:
        """How many words are names that somebody bears: the mean over what the model was asked about."""
        return self.known / self.scored if self.scored else 0.0

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
