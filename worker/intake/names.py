"""The people of the privacy unit's table, by the hashes of their names: eight bytes for each of them.

A name is known if its hash is. Two names of one hash are told apart where a difference would refuse a
delivery; that a stranger's hash is a known one happens once in 2^64 / people.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

BATCH = 65_536
LONGEST = 128
# of a million people, hardly any is looked at letter by letter
_USUAL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+-]{0,127}")
SIGNS = "_.@+-'\N{RIGHT SINGLE QUOTATION MARK}\N{MIDDLE DOT}"


def why_no_name(name: str) -> str | None:
    """Why this cannot stand for one person in every table, or None. Letters may be of any script.

    A person is found by the very characters of their name. So one that can be written in two ways is taken in
    one of them alone, and nothing that nobody sees is part of it."""
    if _USUAL.fullmatch(name):
        return None
    if unicodedata.normalize("NFC", name) != name:
        return "it is not in Unicode's composed form (NFC); write the tables in that form"
    if len(name) > LONGEST:
        return f"it has over {LONGEST} characters"
    if not unicodedata.category(name[0]).startswith(("L", "N")):
        return "it begins with neither a letter nor a digit"
    if "  " in name:
        return "it holds two spaces in a row"
    if wrong := next((letter for letter in name if not (is_of_a_name(letter) or letter == " ")), None):
        return f"it holds {unicodedata.name(wrong, 'a character without a name')}"
    return None


def is_of_a_name(letter: str) -> bool:
    """Letters, the marks on them and digits of any script, and a few signs; no space."""
    return letter in SIGNS or unicodedata.category(letter)[0] in "LMN"


class Names:
    """A set of names, by their sorted hashes."""

    def __init__(self, hashes: NDArray[np.int64]) -> None:
        first = np.ones(len(hashes), bool)
        np.not_equal(hashes[1:], hashes[:-1], out=first[1:])
        self._hashes = hashes[first]

    def __len__(self) -> int:
        return len(self._hashes)

    def first_unknown(self, names: Sequence[str]) -> int | None:
        """The position of the first name that is none of these."""
        known = self.known(names)
        return None if known.all() else int(np.argmin(known))

    def known(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the names are among these."""
        wanted = np.fromiter(map(hash, names), np.int64, len(names))
        found = np.searchsorted(self._hashes, wanted)
        known = np.zeros(len(names), bool)
        inside = found < len(self._hashes)
        known[inside] = self._hashes[found[inside]] == wanted[inside]
        return known

    def knows_all(self, names: Sequence[str]) -> bool:
        return self.first_unknown(names) is None


class Seen:
    """Names as they come by."""

    def __init__(self) -> None:
        self._hashes = array("q")

    def add(self, names: Iterable[str]) -> None:
        """Not after any of the others was asked for."""
        self._hashes.extend(map(hash, names))

    def names(self) -> Names:
        return Names(self._sorted())

    def repeated(self) -> frozenset[int]:
        """Hashes that came by more than once: of a name that did, or of two names."""
        hashes = self._sorted()
        return frozenset(hashes[1:][hashes[1:] == hashes[:-1]].tolist())

    def _sorted(self) -> NDArray[np.int64]:
        # in place: of many people there is no room for them twice
        hashes = np.frombuffer(self._hashes, np.int64) if self._hashes else np.zeros(0, np.int64)
        hashes.sort()
        return hashes


def first_repeated(rows: Iterable[tuple[int, str]], suspects: frozenset[int]) -> tuple[int, str] | None:
    """The first (line, name) whose very name came by before; only names of these hashes are looked at."""
    seen: set[str] = set()
    for line, name in rows:
        if hash(name) in suspects:
            if name in seen:
                return line, name
            seen.add(name)
    return None


def batches(rows: Iterable[tuple[int, str]]) -> Iterator[tuple[list[int], list[str]]]:
    """Lines and names, so many at a time."""
    lines: list[int] = []
    names: list[str] = []
    for line, name in rows:
        lines.append(line)
        names.append(name)
        if len(names) == BATCH:
            yield lines, names
            lines, names = [], []
    if names:
        yield lines, names
