"""Names that people bear somewhere in the world: how many of a value's words are among them.

The list is packed as the differences of sorted 24-bit hashes, seven bits a byte, and read into one bit for
each hash: 2 MiB. About one word in a hundred that is no name is taken for one. It is made by
`benchmarks/pii_names.py`, which also says from what.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

import numpy as np

BITS = 24
MOST_BYTES = 4
"""Of a step: it is shorter than the largest hash."""

FEWEST_LETTERS = 3
"""Of a word in Latin letters: shorter ones are names of somebody in nearly any language."""

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_PLAIN = str.maketrans("’‘ʻʼıłøđ", "''''ilod")
"""Signs that are written in several ways, and do not come apart into a letter and its accent."""

_NO_NAMES_TEXT = """
del der den van von dos das bin ibn ten ter mrs miss prof sra srta frau herr mme mlle dhr mevr
"""
_NO_NAMES = frozenset(_NO_NAMES_TEXT.split())
"""What stands before names, and is none."""


class Names:
    """A list of names, held as hashes."""

    def __init__(self, packed: bytes) -> None:
        """Raises ValueError for bytes that `packed` did not make."""
        signs = np.frombuffer(packed, np.uint8)
        ends = np.flatnonzero(signs < 128)
        if len(signs) and (not len(ends) or ends[-1] != len(signs) - 1):
            raise ValueError("the list of names ends within a hash; install the package anew")
        starts = np.concatenate(([0], ends[:-1] + 1)) if len(ends) else ends
        places = np.arange(len(signs)) - np.repeat(starts, ends - starts + 1)
        if len(signs) and places.max() >= MOST_BYTES:
            raise ValueError("the list of names holds a step that is too long; install the package anew")
        parts = (signs & 127).astype(np.int64) << (7 * places)
        hashes = np.cumsum(np.add.reduceat(parts, starts)) if len(ends) else parts
        if len(hashes) and hashes[-1] >= 2**BITS:
            raise ValueError("the list of names goes beyond its hashes; install the package anew")
        bits = np.zeros(2**BITS // 8, np.uint8)
        np.bitwise_or.at(bits, hashes >> 3, (1 << (hashes & 7)).astype(np.uint8))
        self._bits = bits.tobytes()

    def share(self, value: str) -> float:
        """The share of a value's words that somebody is called by. 0 without a word."""
        words = words_of(value)
        return sum(map(self._has, words)) / len(words) if words else 0.0

    def _has(self, word: str) -> bool:
        at = _hash(word)
        return bool(self._bits[at >> 3] & 1 << (at & 7))


def words_of(value: str) -> list[str]:
    """Words without case and accents, but for short ones and for what stands before names."""
    return [word for word in _WORD.findall(_folded(value)) if _is_long(word) and word not in _NO_NAMES]


def packed(words: Iterable[str]) -> bytes:
    """What `Names` reads, of words as `words_of` gives them."""
    content = bytearray()
    last = 0
    for at in sorted({_hash(word) for word in words}):
        step, last = at - last, at
        while step > 127:
            content.append(step & 127 | 128)
            step >>= 7
        content.append(step)
    return bytes(content)


def _folded(value: str) -> str:
    lower = value.casefold()
    if lower.isascii():
        return lower
    parts = unicodedata.normalize("NFKD", lower.translate(_PLAIN))
    return "".join(sign for sign in parts if not unicodedata.combining(sign))


def _is_long(word: str) -> bool:
    return len(word) >= FEWEST_LETTERS or (len(word) > 1 and not "a" <= word[0] <= "z")


def _hash(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=3).digest())
