"""Which rows and files of a person are kept where they have more than the declaration allows anybody.

A rule that looks at one person alone: the least tickets of the person's own win, whoever else is there. A
ticket is a keyed hash of the person's name and of the content, as that of a trusted query's limit is
(`worker/scan/limit.py`), so the choice is fair to every value, and no order of a file has a part in it. The
key is the worker zone's and a cohort's: the same data registered again keep the same rows, and nobody else
can foresee which.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from domain.dataset.person_size import FILE_BYTES, counted_rows


@dataclass(frozen=True)
class Lot:
    """Draws among the rows of one person, or the files."""

    key: bytes = field(repr=False)

    def rows(self, person: str, rows: Sequence[bytes], *, most: int, unit: int, table: str) -> list[bytes]:
        """Those that are kept, in their order: by ticket, each that still fits into `most`."""
        if sum(counted_rows(len(row), unit) for row in rows) <= most:
            return list(rows)
        seen: Counter[bytes] = Counter()
        tickets = []
        for row in rows:
            # equal rows are told apart by their number: each of them has a ticket of its own
            tickets.append(self._ticket(table, person, str(seen[row]), row))
            seen[row] += 1
        kept, left = set(), most
        for position in sorted(range(len(rows)), key=tickets.__getitem__):
            counts = counted_rows(len(rows[position]), unit)
            if counts <= left:
                kept.add(position)
                left -= counts
        return [row for position, row in enumerate(rows) if position in kept]

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
