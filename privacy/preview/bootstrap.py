"""Resamples of a twin's blocks: what other people of the same kind might have answered.

A twin's blocks are drawn with replacement, as many as the release will have (Efron 1979; here the block is
the unit, so nothing is assumed of the pipeline). Repeats of the partition count as copies of the first: their
answers differ by the luck of the partition only, which the preview keeps in full. That errs on the safe side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privacy.keystream import Keystream
from privacy.mechanism import RunOutput

_CHUNK = 2**22
"""Indices drawn at once: bounds the memory, 32 MiB."""


@dataclass(frozen=True)
class Bootstrap:
    """How often each answer stands in each resample: counts of shape (replays, m + 2), summing to `blocks`.

    The last two columns are failed blocks at even and at odd places: a median gives them different defaults.
    """

    blocks: int
    answers: tuple[RunOutput, ...]
    counts: NDArray[np.int32]

    @property
    def replays(self) -> int:
        return len(self.counts)

    def units(self, index: int, *, even: int, odd: int) -> NDArray[np.int64]:
        """Output `index` of every column in grid units, with the defaults of failed blocks at its end."""
        # a failed block's own column is never counted: its place holds any number
        known = [0 if answer is None else answer[index] for answer in self.answers]
        return np.array([*known, even, odd], np.int64)


def draw(answers: Sequence[RunOutput], *, blocks: int, replays: int, keystream: Keystream) -> Bootstrap:
    """`replays` resamples of `blocks` blocks each."""
    columns = len(answers) + 2
    failed = np.array([answer is None for answer in answers])
    odd = np.arange(blocks) % 2
    counts = np.empty((replays, columns), np.int32)
    rows = max(1, _CHUNK // blocks)
    for start in range(0, replays, rows):
        part = counts[start : start + rows]
        chosen = below(len(answers), (len(part), blocks), keystream=keystream)
        chosen = np.where(failed[chosen], len(answers) + odd, chosen)
        chosen += columns * np.arange(len(part))[:, None]
        part[:] = np.bincount(chosen.ravel(), minlength=part.size).reshape(part.shape)
    return Bootstrap(blocks, tuple(answers), counts)


def below(bound: int, shape: tuple[int, ...], *, keystream: Keystream) -> NDArray[np.int64]:
    """Uniform integers below a bound of at most 2^31; off by less than 2^-32 each, which no preview shows."""
    words = keystream.words(int(np.prod(shape)), np.uint32).reshape(shape)
    return ((words.astype(np.uint64) * np.uint64(bound)) >> np.uint64(32)).astype(np.int64)


def uniform(size: int, *, keystream: Keystream) -> NDArray[np.float64]:
    """Uniform floats in [0, 1) with 53 bits."""
    words = keystream.words(size, np.uint64) >> np.uint64(11)
    return words.astype(np.float64) * 2.0**-53
