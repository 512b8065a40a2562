"""The error of a number with normal noise, when what it would be without noise is one of several."""

from __future__ import annotations

import math
from collections.abc import Sequence

_HALVINGS = 60


def mixture_quantile(share: float, offsets: Sequence[float], deviation: float) -> float:
    """The x with P(|offset + Z| <= x) = share, Z normal of this deviation above 0, the offset one of these,
    each as likely; found by halving, with no random number."""

    def inside(x: float) -> float:
        return sum(
            _normal((x - offset) / deviation) - _normal((-x - offset) / deviation) for offset in offsets
        ) / len(offsets)

    low, high = 0.0, max(map(abs, offsets)) + 10 * deviation
    for _ in range(_HALVINGS):
        between = (low + high) / 2
        low, high = (between, high) if inside(between) < share else (low, between)
    return high


def _normal(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2
