"""Exact draws from a law on {0, ..., m} whose probabilities are whole numbers of 2^-bits.

Every law of this package that is drawn by the million is put together from a few of these: one table look-up
of 16 random bits decides nearly every draw, and the few that 16 bits cannot decide get all the bits they
need.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from privacy.keystream import Keystream

MAX_CELLS = 2**15
"""Most values of one law: each costs one of the 2^16 entries of the table the certainty of a first look."""

_OPEN = 2**16 - 1
"""Stands in the table for "16 bits do not decide this draw"; above every value, as MAX_CELLS is smaller."""

_FEW = 64
"""Below this many draws a search costs less than the table."""


@dataclass(frozen=True, eq=False)
class FiniteLaw:
    """D in {0, ..., m} with P(D >= k) = thresholds[m - k] / 2^bits for k = 1..m: ascending, each at least 1.

    A draw takes U uniform on {0, ..., 2^bits - 1} and counts the thresholds above it:
        D = #{k : U < thresholds[m - k]}, hence D >= k iff U < thresholds[m - k]   (they ascend),
    which has exactly the stated probability. Only as many leading bits of U are drawn as decide this count:
    first 16, and where a threshold has the same 16 bits, 48 more; where even those tie, all the rest. Every
    bit of U is uniform and independent and is drawn at most once, so stopping early changes no probability.
    """

    thresholds: tuple[int, ...]
    bits: int

    def __post_init__(self) -> None:
        if not 0 < len(self.thresholds) < MAX_CELLS or self.bits % 64 or self.bits < 128:
            raise ValueError(f"a law has 2 to {MAX_CELLS} values and a multiple of 64 bits, at least 128.")
        ascending = all(one <= after for one, after in pairwise(self.thresholds))
        if not ascending or not 0 < self.thresholds[0] <= self.thresholds[-1] < 2**self.bits:
            raise ValueError("thresholds ascend, from at least 1 to less than 2^bits.")

    def draw(self, n: int, *, stream: Keystream) -> NDArray[np.uint16]:
        """n independent draws."""
        if n < _FEW:
            return self._decide(stream.words(n, np.uint64), stream=stream)
        words = stream.words(n, np.uint16)
        drawn = _table(self).take(words)
        undecided = np.flatnonzero(drawn == _OPEN)
        if undecided.size:
            following = stream.words(undecided.size, np.uint64) >> np.uint64(16)
            leading = words[undecided].astype(np.uint64) << np.uint64(48) | following
            drawn[undecided] = self._decide(leading, stream=stream)
        return drawn

    def _decide(self, leading: NDArray[np.uint64], *, stream: Keystream) -> NDArray[np.uint16]:
        """Draws of which 64 leading bits are known."""
        not_above = np.searchsorted(self._leading, leading, side="right")
        drawn = (len(self.thresholds) - not_above).astype(np.uint16)
        # [-1] is the largest threshold and ties only with numbers that are not below it
        for tie in np.flatnonzero(self._leading[not_above - 1] == leading):
            drawn[tie] = self._settle(int(leading[tie]), stream=stream)
        return drawn

    def _settle(self, leading: int, *, stream: Keystream) -> int:
        """One draw whose 64 leading bits are those of a threshold: of 10^16 draws about one comes here."""
        uniform = leading
        for word in stream.words(self.bits // 64 - 1, np.uint64):
            uniform = uniform << 64 | int(word)
        return len(self.thresholds) - bisect_right(self.thresholds, uniform)

    @cached_property
    def _leading(self) -> NDArray[np.uint64]:
        return np.array([threshold >> (self.bits - 64) for threshold in self.thresholds], np.uint64)


def law_of_weights(weights: Sequence[int], *, bits: int) -> FiniteLaw:
    """P(D = d) = weights[d] / sum(weights), with P(D >= k) rounded down to a whole number of 2^-bits.

    Each P(D = d) is therefore wrong by less than 2^-bits.
    """
    total, above, thresholds = sum(weights), 0, []
    for weight in reversed(weights[1:]):
        above += weight
        thresholds.append((above << bits) // total)
    return FiniteLaw(tuple(thresholds), bits)


@lru_cache(maxsize=32)
def _table(law: FiniteLaw) -> NDArray[np.uint16]:
    """The draw that 16 leading bits decide, or _OPEN; 128 KiB, so only the latest laws keep theirs.

    The word w stands for all U with w 2^(bits-16) <= U < (w+1) 2^(bits-16). A threshold that begins with v
    lies above all of them if v > w and above none of them if v < w: only v = w leaves the count open.
    """
    begins = np.bincount((law._leading >> np.uint64(48)).astype(np.intp), minlength=2**16)
    table = (len(law.thresholds) - np.cumsum(begins)).astype(np.uint16)
    table[begins > 0] = _OPEN
    return table
