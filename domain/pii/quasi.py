"""Quasi-identifiers together: how many people stand alone with their combination of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class QuasiReport:
    """`k` is the size of the smallest group that shares all values; `unique` the people in groups of one."""

    columns: tuple[str, ...]
    rows: int
    k: int
    unique: int
    groups: int


def quasi_report(columns: Sequence[str], codes: Sequence[npt.ArrayLike]) -> QuasiReport:
    """Of one array of whole numbers for each column, all of one length: equal numbers are equal values.

    k-anonymity as in Sweeney 2002. Raises ValueError where lengths differ or names and arrays do not match.
    """
    arrays = [np.asarray(each) for each in codes]
    if len(arrays) != len(columns) or len({len(each) for each in arrays}) > 1:
        raise ValueError("give one array of codes for each column, all of one length")
    if not arrays or not len(arrays[0]):
        return QuasiReport(tuple(columns), 0, 0, 0, 0)
    group = np.zeros(len(arrays[0]), dtype=np.int64)
    for each in arrays:
        # renumbered after every column, so that the product cannot overflow
        own = np.unique(each, return_inverse=True)[1].astype(np.int64)
        group = np.unique(group * (int(own.max()) + 1) + own, return_inverse=True)[1].astype(np.int64)
    sizes = np.bincount(group)
    return QuasiReport(tuple(columns), len(group), int(sizes.min()), int((sizes == 1).sum()), len(sizes))
