"""k-anonymity and l-diversity of a table's quasi-identifiers: how many share what somebody could know.

k is the size of the smallest group of rows that agree in all quasi-identifiers (L. Sweeney, "k-Anonymity",
2002), l the fewest different secret values within one group (A. Machanavajjhala et al., "l-Diversity", 2007,
distinct l-diversity). Both are weaker than differential privacy: they bound nothing about what is learnt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from domain.evaluation.sheet import Codes


@dataclass(frozen=True)
class Anonymity:
    """Of one table; 0 for a table without rows."""

    k: int
    groups: int
    unique: int
    """Rows that nobody shares their quasi-identifiers with."""
    rows: int


def anonymity(codes: Codes, quasi: Sequence[int]) -> Anonymity:
    """Over these columns. Without any, everybody is one group."""
    sizes = np.bincount(groups(codes, quasi)) if len(codes) else np.zeros(0, np.int64)
    smallest = int(sizes.min()) if len(sizes) else 0
    return Anonymity(smallest, len(sizes), int((sizes == 1).sum()), len(codes))


def diversity(codes: Codes, quasi: Sequence[int], secret: int) -> int:
    """l of one column of secrets; 0 for a table without rows."""
    if not len(codes):
        return 0
    pairs = np.unique(np.stack([groups(codes, quasi), codes[:, secret]], axis=1), axis=0)
    return int(np.bincount(pairs[:, 0]).min())


def groups(codes: Codes, quasi: Sequence[int]) -> Codes:
    """The number of each row's group, from 0."""
    if not quasi:
        return np.zeros(len(codes), np.int64)
    found: Codes = np.unique(codes[:, list(quasi)], axis=0, return_inverse=True)[1].reshape(-1)
    return found


def unique_in_both(original: Codes, twin: Codes, quasi: Sequence[int]) -> int:
    """Combinations that exactly one row of the original has, and that exactly one row of the twin has too."""
    if not quasi or not len(original) or not len(twin):
        return 0
    both = groups(np.concatenate([original, twin]), quasi)
    size = int(both.max()) + 1
    first = np.bincount(both[: len(original)], minlength=size)
    second = np.bincount(both[len(original) :], minlength=size)
    return int(((first == 1) & (second == 1)).sum())
