"""When the runs of a chunk may start. A run can read the clock, which must not tell it what others took.

Padded: run number n starts n quanta after the first, however short its predecessors were, and none outlasts
its quantum, because the wall limit is shorter. Without a grid runs follow each other at once: on a twin, and
on data whose policy says `coarse`, which every surface that shows such a job explains.
"""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class TimeGrid:
    """`start` on the monotonic clock and `quantum_s`, in seconds, both from public values only."""

    start: float
    quantum_s: float
    padded: bool

    def wait_for(self, turn: int) -> None:
        """Return at the edge of this turn; at once where there is no grid or the edge has passed."""
        edge = self.start + turn * self.quantum_s
        while self.padded and (left := edge - time.monotonic()) > 0:
            time.sleep(left)
