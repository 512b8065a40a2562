"""Counts of bounded size over any number of values. Equal values in equal order give equal counts everywhere.

`Frequent` is the mergeable summary of Misra and Gries ("Mergeable summaries", Agarwal et al., PODS 2012):
every count is at most `short_by` too small. `Distinct` keeps the k smallest hashes (Bar-Yossef et al., RANDOM
2002): relative error about 1/sqrt(k). `Groups` keeps whole groups whose key's hash is small (Gibbons,
"Distinct sampling", VLDB 2001), so that the share of groups of one is unbiased when there are too many.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

Item = TypeVar("Item")

LONGEST_KEPT = 120
_HASHES = 2**64
_SMALLEST = 1024


def hash_of(text: str) -> int:
    """64 bits, the same in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest())


def shortened(text: str) -> str:
    """A huge cell as a short key of its own."""
    if len(text) <= LONGEST_KEPT:
        return text
    return f"{text[:40]}... ({len(text)} characters, {hash_of(text):016x})"


class Frequent:
    """How often which value came, exactly for as long as there are at most `most` of them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.counts: dict[str, int] = {}
        self.short_by = 0

    @property
    def is_exact(self) -> bool:
        return self.short_by == 0

    def add(self, counted: Mapping[str, int]) -> None:
        for value, count in counted.items():
            self.counts[value] = self.counts.get(value, 0) + count
        if len(self.counts) > self.most:
            # after the first overflow room is made for the next chunks at once
            self._reduce(self.most // 2)

    def _reduce(self, keep: int) -> None:
        taken = heapq.nlargest(keep + 1, self.counts.values())[-1]
        self.short_by += taken
        self.counts = {value: count - taken for value, count in self.counts.items() if count > taken}

    def most_common(self, number: int) -> list[tuple[str, int]]:
        """By count, then by name: an order that does not depend on the order of rows."""
        return sorted(self.counts.items(), key=lambda item: (-item[1], item[0]))[:number]


class Distinct:
    """About how many different values there were."""

    def __init__(self, smallest: int = _SMALLEST) -> None:
        self._room = smallest
        self._heap: list[int] = []  # negated, so that the largest is on top
        self._held: set[int] = set()

    def add(self, values: Iterable[str]) -> None:
        heap, held = self._heap, self._held
        for value in values:
            hashed = hash_of(value)
            if hashed in held or (len(heap) == self._room and hashed >= -heap[0]):
                continue
            held.add(hashed)
            if len(heap) < self._room:
                heapq.heappush(heap, -hashed)
            else:
                held.discard(-heapq.heapreplace(heap, -hashed))

    @property
    def estimate(self) -> int:
        if len(self._heap) < self._room:
            return len(self._heap)
        return round((self._room - 1) * _HASHES / -self._heap[0])

    @property
    def hashes(self) -> list[int]:
        """The smallest ones: two columns with the same values have the same."""
        return sorted(-hashed for hashed in self._heap)


class RowSample(Generic[Item]):
    """At most so many rows, chosen by a mix of their numbers: each is as likely as any other."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[int, int, Item]] = []

    def offers(self, number: int) -> bool:
        """Whether this row would be kept now."""
        return len(self._heap) < self._most or _mixed(number) < -self._heap[0][0]

    def keep(self, number: int, row: Item) -> None:
        entry = (-_mixed(number), number, row)
        if len(self._heap) < self._most:
            heapq.heappush(self._heap, entry)
        else:
            heapq.heapreplace(self._heap, entry)

    @property
    def rows(self) -> list[Item]:
        """In the order of the file."""
        return [row for _, _, row in sorted(self._heap, key=lambda entry: entry[1])]


class Groups:
    """The sizes of groups of rows with one key; of very many groups, a fair part of them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._sizes: dict[int, int] = {}
        self._shift = 0
        self.rows = 0

    def add(self, hashed: int) -> None:
        self.rows += 1
        if hashed >> (64 - self._shift):
            return
        self._sizes[hashed] = self._sizes.get(hashed, 0) + 1
        while len(self._sizes) > self._most:
            self._shift += 1
            limit = 64 - self._shift
            self._sizes = {key: size for key, size in self._sizes.items() if not key >> limit}

    @property
    def is_exact(self) -> bool:
        return self._shift == 0

    @property
    def sizes(self) -> list[int]:
        return sorted(self._sizes.values())

    @property
    def number(self) -> int:
        """Of groups; estimated where a part was kept."""
        return len(self._sizes) << self._shift

    @property
    def alone(self) -> int:
        """Groups of one row; estimated where a part was kept."""
        return sum(size == 1 for size in self._sizes.values()) << self._shift


def _mixed(number: int) -> int:
    """The finaliser of splitmix64 (Steele et al., OOPSLA 2014): different numbers stay different."""
    mask = _HASHES - 1
    number = (number + 0x9E3779B97F4A7C15) & mask
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & mask
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & mask
    return number ^ (number >> 31)
