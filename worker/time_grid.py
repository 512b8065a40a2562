"""When the runs of a chunk may start. A run can read the clock, which must not tell it what others took.

Padded: run number n starts n quanta after the first, however short its predecessors were. A quantum has room
for the wall limit and for carrying files in and out. Should a busy host need longer all the same, that run
and all after it start whole quanta later, so that lateness shows in whole quanta only. Without a grid runs
follow each other at once: on a twin, and on data whose policy says `coarse`, which every surface that shows
such a job explains.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass

log = logging.getLogger(__name__)

ON_TIME_S = 0.05
"""A start this much behind its edge is the host's own unrest."""


@dataclass
class TimeGrid:
    """`start` on the monotonic clock and `quantum_s`, in seconds, both from public values only."""

    start: float
    quantum_s: float
    padded: bool

    def wait_for(self, turn: int) -> None:
        """Return at the edge of this turn; at once where there is no grid."""
        if not self.padded:
            return
        late_s = time.monotonic() - self._edge(turn)
        if late_s > ON_TIME_S:
            quanta = math.ceil(late_s / self.quantum_s)
            self.start += quanta * self.quantum_s
            log.warning("a turn of the time grid began %d quanta late: this host is too busy for it", quanta)
        while (left := self._edge(turn) - time.monotonic()) > 0:
            time.sleep(left)

    def _edge(self, turn: int) -> float:
        return self.start + turn * self.quantum_s
