"""k-anonymity and l-diversity of coded tables: how many share what somebody could know.

The counts of one table are those of `twins.anonymity`, in the words of that page: weaker than differential
privacy, since they bound nothing about what is learnt. Here stands what compares two tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from twins.anonymity.release import Standing, standing
from twins.anonymity.table import classes
from twins.evaluation.sheet import Codes


def anonymity(codes: Codes, quasi: Sequence[int]) -> Standing:
    """Over these columns. Without any, everybody is one group."""
    return standing(_columns(codes, quasi), (), len(codes))


def diversity(codes: Codes, quasi: Sequence[int], secret: int) -> int:
    """l of one column of secrets (distinct l-diversity); 0 for a table without rows."""
    if not len(codes):
        return 0
    found = classes(_columns(codes, quasi), len(codes))
    # pairs, not a table of all values by all groups: both may be as many as there are rows
    pairs = np.unique(classes([found, codes[:, secret]], len(codes)), return_index=True)[1]
    return int(np.bincount(found[pairs]).min())


def unique_in_both(original: Codes, twin: Codes, quasi: Sequence[int]) -> int:
    """Combinations that exactly one row of the original has, and that exactly one row of the twin has too."""
    if not quasi or not len(original) or not len(twin):
        return 0
    together = np.concatenate([original, twin])
    both = classes(_columns(together, quasi), len(together))
    size = int(both.max()) + 1
    first = np.bincount(both[: len(original)], minlength=size)
    second = np.bincount(both[len(original) :], minlength=size)
    return int(((first == 1) & (second == 1)).sum())


def _columns(codes: Codes, quasi: Sequence[int]) -> list[Codes]:
    return [codes[:, place] for place in quasi]
