"""Randomness of simulated attackers and of unsound mechanisms: repeatable from a seed, which a report states.

The noise of the platform's own mechanisms never comes from here, and cannot be seeded.
"""

from __future__ import annotations

import zlib

import numpy as np

Generator = np.random.Generator


def seeded(seed: int, purpose: str) -> Generator:
    """Independent draws for each purpose, so that leaving one experiment out does not change another."""
    return np.random.default_rng([seed, zlib.crc32(purpose.encode())])
