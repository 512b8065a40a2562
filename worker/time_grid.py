"""When the runs of a chunk may start. A run can read the clock, which must not tell it what others took.

Padded: run number n starts n quanta after the first, however short its predecessors were, or not at all. A
quantum has room for the wall limit and for carrying files in and out. What is not ready at its turn, because
its place is not free or the worker is late, is not made: it counts as a failed run, and those after it keep
their turns. One that has not ended at the end of its turn has failed, and dies elsewhere than the next is
made. Only the first turn of a chunk can be put off, in steps of PUT_OFF_S and with all that follow: before it
nothing but the platform's own code has worked, within bounds that are public. The schedule has room for one.

Without a grid runs follow each other at once: on a twin, and on data whose policy says `coarse`, which every
surface that shows such a job explains.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass, field

from domain.schedule import PUT_OFF_S

# Of each turn, for what the worker itself does between a run and the next edge.
COLLECTING_S = 0.1
log = logging.getLogger(__name__)


@dataclass
class TimeGrid:
    """`start` on the monotonic clock and `quantum_s`, in seconds, both from public values only."""

    start: float
    quantum_s: float
    padded: bool
    _has_begun: bool = field(default=False, init=False)

    def wait_for(self, turn: int) -> bool:
        """Return at the edge of this turn, and whether all was ready by then; without a grid at once, and it
        was."""
        if not self.padded:
            return True
        if not self._has_begun:
            self._has_begun = True
            self._put_off(turn, step_s=min(PUT_OFF_S, self.quantum_s))
        is_ready = time.monotonic() <= self._edge(turn)
        self._sleep_until(turn)
        return is_ready

    def left_s(self, turn: int) -> float | None:
        """Seconds within which a run of this turn has to have ended; None without a grid."""
        return self._edge(turn + 1) - COLLECTING_S - time.monotonic() if self.padded else None

    def end(self, turns: int, *, dying_s: float = 0) -> None:
        """Return when so many turns are over and the time is too that a run may take to die; where it took
        longer, whole quanta later, for whoever has the host next reads the clock. Called when the slot is
        closed: what its last run left is waited for there, and must not show in when this returns."""
        if self.padded:
            self.start += dying_s
            self._put_off(turns, step_s=self.quantum_s)
            self._sleep_until(turns)

    def _put_off(self, turn: int, *, step_s: float) -> None:
        late_s = time.monotonic() - self._edge(turn)
        if late_s > 0:
            by_s = math.ceil(late_s / step_s) * step_s
            self.start += by_s
            log.warning("a chunk is put off by %.1f s: this host is too busy for its time grid", by_s)

    def _sleep_until(self, turn: int) -> None:
        while (left := self._edge(turn) - time.monotonic()) > 0:
            time.sleep(left)

    def _edge(self, turn: int) -> float:
        return self.start + turn * self.quantum_s
