"""Where simulated attackers take their chances from: handed in, so that a report can be repeated."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Draws(Protocol):
    """The part of a generator of numpy that measures need."""

    def integers(self, low: int, high: int, size: int) -> NDArray[np.int64]:
        """Whole numbers from low up to, not including, high."""
        ...

    def permutation(self, x: int) -> NDArray[np.int64]:
        """0 to x - 1 in any order."""
        ...


def some_of(count: int, most: int, draws: Draws) -> NDArray[np.int64]:
    """At most so many of `count` places, ascending, without repetition."""
    chosen: NDArray[np.int64] = np.sort(draws.permutation(count)[:most])
    return chosen
