"""Repeatable draws for twins: whoever knows the seed can draw them again, so they must never be noise."""

from __future__ import annotations

from hashlib import sha256

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

_AES_BLOCK_BYTES = 16

_BELOW_ONE = 1 - 1e-10
"""Keeps a place inside its group of weights through every rounding of a float below 2^16."""


class SeededDraws:
    """Uniform numbers that follow from a seed: an AES-CTR stream under a key that is the seed's digest.

    The same seed gives the same numbers with every version of numpy, which promises that for none of its own.
    """

    def __init__(self, seed: int) -> None:
        key = sha256(b"dpgate twin rows %d" % seed).digest()
        self._encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(_AES_BLOCK_BYTES))).encryptor()

    def uniform(self, size: int) -> NDArray[np.float64]:
        """Independent multiples of 2^-53 in [0, 1)."""
        words = np.frombuffer(self._encryptor.update(bytes(8 * size)), np.uint64)
        return np.asarray((words >> np.uint64(11)) * 2.0**-53, np.float64)

    def order(self, size: int) -> NDArray[np.intp]:
        """A permutation of 0..size-1: by 32 random bits each, 16 at a time, which numpy sorts by counting."""
        words = np.frombuffer(self._encryptor.update(bytes(4 * size)), np.uint16)
        order: NDArray[np.intp] = np.argsort(words[:size], kind="stable")
        again = np.argsort(words[size:][order], kind="stable")
        return np.take(order, again)

    def spread(self, weights: NDArray[np.float64], size: int) -> NDArray[np.intp]:
        """`size` >= 1 draws of positions with these weights, in random order, and as even as whole numbers
        allow: each position is drawn as often as expected, up to one (systematic sampling). What weighs
        nothing is never drawn."""
        ends = np.cumsum(weights)
        at = (np.arange(size) + self.uniform(1)) * (ends[-1] * _BELOW_ONE / size)
        drawn: NDArray[np.intp] = np.searchsorted(ends, at, side="right")
        return np.take(drawn, self.order(size))

    def spread_within(self, groups: NDArray[np.int32], weights: NDArray[np.float64]) -> NDArray[np.intp]:
        """For each of `groups`, all below 2^16, a position drawn with the weights of its row of `weights`;
        within each group as even as in `spread`."""
        size = len(groups)
        order = self.order(size)
        order = order[np.argsort(groups[order].astype(np.uint16), kind="stable")]
        sorted_groups = groups[order].astype(np.intp)
        present = np.bincount(sorted_groups, minlength=len(weights))
        begins = np.cumsum(present) - present
        ends = np.cumsum(weights, axis=1)
        ends /= ends[:, -1:]
        offset = self.uniform(len(weights))
        at = (np.arange(size) - begins[sorted_groups] + offset[sorted_groups]) / present[sorted_groups]
        at *= _BELOW_ONE
        flat = (ends + np.arange(len(weights))[:, None]).ravel()
        found = np.searchsorted(flat, sorted_groups + at, side="right") - sorted_groups * weights.shape[1]
        drawn = np.empty(size, np.intp)
        drawn[order] = found
        return drawn
