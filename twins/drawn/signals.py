"""What the writers of recordings share: samples as whole steps, and marks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from domain.dataset.twin_content import RecordedChannel

Samples = NDArray[np.int16]
"""Steps: a row for each channel."""

Mark = tuple[int, int]
"""The sample that it stands at, counted from 1, and the number of its marker."""


def resolution(channel: RecordedChannel) -> float:
    """Units of a channel for a step of one; not of magnetic ones. A stimulus channel holds whole codes."""
    return 1.0 if channel.type == "TRIG" else 0.1
