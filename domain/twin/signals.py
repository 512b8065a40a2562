"""What the writers of recordings share: samples as whole steps, and marks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.int16]
"""Steps: a row for each channel."""

Mark = tuple[int, int]
"""The sample that it stands at, counted from 1, and the number of its marker."""

RESOLUTION = 0.1
"""Units of a channel for a step of one; not of magnetic ones."""
