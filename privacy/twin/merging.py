"""Which cells of a column share one, from noisy counts alone: pairs are counted for the merged cells.

A cell whose count is lost in its noise would only add noise to every pair that it is part of.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privacy.twin.noisy_counts import VARIANCE, NoiseName

RARE_BELOW = 2
"""In standard deviations of the noise."""


def merge_rare(counts: Sequence[int], *, scale: Fraction, noise: NoiseName = "laplace") -> tuple[int, ...]:
    """For each cell the number of its merged cell: those below two standard deviations share the last one.

    A single rare cell stays what it is. `counts` are noisy, with noise of this `scale`: that of discrete
    Laplace noise, whose standard deviation is at most sqrt(2) times as much, or a standard deviation.
    """
    # count < 2 sqrt(2) scale, exactly and without a root
    rare = [count < 0 or count * count < VARIANCE[noise] * (RARE_BELOW * scale) ** 2 for count in counts]
    if sum(rare) <= 1:
        return tuple(range(len(counts)))
    kept = len(counts) - sum(rare)
    numbers = iter(range(kept))
    return tuple(kept if is_rare else next(numbers) for is_rare in rare)


def merged(counts: NDArray[np.int64], first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.int64]:
    """Joint counts of merged cells from those of declared cells: whole numbers, added up exactly.

    `counts` has shape (cells of a, cells of b); `first` and `second` say for each cell its merged one.
    """
    width = int(second.max()) + 1
    places = first[:, None] * width + second[None, :]
    out = np.zeros((int(first.max()) + 1) * width, np.int64)
    np.add.at(out, places.ravel(), counts.ravel())
    return out.reshape(-1, width)
