"""Which rows and files of a person are kept where they have more than the declaration allows anybody.

A rule that looks at one person alone: the least tickets of the person's own win, whoever else is there. A
ticket is a keyed hash, as those of a trusted query's limit are (`worker/scan/limit.py`): of the person's name
and the number of a row among the person's own. So the choice is fair to rows that count as many, whatever is
in them, and wherever rows of others stand; one that counts as more than others fits less often. The key is
the worker zone's and a cohort's: the same data registered again keep the same rows, and nobody else can
foresee which.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from domain.dataset.person_size import FILE_BYTES, counted_rows


class Winners:
    """The rows of one person, of which no more are held than can be kept."""

    def __init__(self, ticket: Callable[[int], bytes], most: int, unit: int) -> None:
        self._ticket, self._most, self._unit = ticket, most, unit
        self._seen = 0
        self._best: list[tuple[int, int, bytes]] = []  # a heap: the greatest ticket first

    def add(self, row: bytes) -> None:
        number, self._seen = self._seen, self._seen + 1
        if counted_rows(len(row), self._unit) > self._most:
            return  # it fits nowhere
        entry = (-int.from_bytes(self._ticket(number)), number, row)
        if len(self._best) < self._most:
            heapq.heappush(self._best, entry)
        else:
            heapq.heappushpop(self._best, entry)

    def kept(self) -> list[bytes]:
        """In their order: by ticket, up to the first that does not fit any more."""
        won, left = [], self._most
        for _, number, row in sorted(self._best, reverse=True):
            left -= counted_rows(len(row), self._unit)
            if left < 0:
                break
            won.append((number, row))
        return [row for _, row in sorted(won)]


@dataclass(frozen=True)
class Lot:
    """Draws among the rows of one person, or the files."""

    key: bytes = field(repr=False)

    def rows(self, person: str, *, most: int, unit: int, table: str) -> Winners:
        """Of the person's rows, as they come."""
        ticket = self.of_row(table)
        return Winners(lambda number: ticket(person, number), most, unit)

    def files(self, person: str, sizes: Mapping[str, int], *, most: int) -> list[str]:
        """The paths that are kept, in their order. Files that differ only behind the first full stop of their
        path, such as a recording and its header, are kept or left out as one."""
        if sum(map(counted_bytes, sizes.values())) <= most:
            return list(sizes)
        together: dict[str, list[str]] = {}
        for path in sizes:
            together.setdefault(path.partition(".")[0], []).append(path)
        kept: set[str] = set()
        left = most
        for stem in sorted(together, key=lambda stem: self._ticket("files", person, stem)):
            counts = sum(counted_bytes(sizes[path]) for path in together[stem])
            if counts <= left:
                kept.update(together[stem])
                left -= counts
        return [path for path in sizes if path in kept]

    def of_row(self, table: str) -> Callable[[str, int], bytes]:
        """Tickets by a person and the number of a row among the person's own: equal rows have one each."""
        return lambda person, number: self._ticket(table, person, str(number))

    def _ticket(self, *texts: str | bytes) -> bytes:
        """Each text says its length first: no two lists of texts spell the same bytes."""
        digest = hashlib.sha256(self.key.hex().encode())
        for text in texts:
            content = text if isinstance(text, bytes) else text.encode()
            digest.update(b"%d:" % len(content))
            digest.update(content)
        return digest.digest()


def counted_bytes(size: int) -> int:
    """What a file counts."""
    return size + FILE_BYTES
