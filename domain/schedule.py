"""When a job's runs happen and when its release becomes visible, from public values only.

A job of k blocks is cut into chunks; a chunk runs its blocks one after the other on a fixed grid of
`quantum` seconds, whatever each run does. So the end of the last chunk is known before the first run.
"""

from __future__ import annotations

import math

from domain.model import Model

# What a run may cost beyond its wall limit: start, kill ladder, collection.
RUN_OVERHEAD_S = 0.5
# What a job may cost beyond its runs: opening the snapshot (by public nominal size) and the release.
JOB_OVERHEAD_S = 2.0
# Of this, for opening the snapshot: no padded run starts earlier, however little there was to open. The rest
# is for messages and the release.
OPENING_S = 1.0
STAGING_S_PER_PERSON = 1 / 20_000
# No chunk runs longer, so that a redelivered or re-queued chunk never waits for hours.
LONGEST_CHUNK_S = 900.0


class Schedule(Model):
    """`blocks` runs of at most `wall_s` seconds each, over `slots` parallel slots."""

    blocks: int
    wall_s: float
    slots: int
    nominal_size: int

    @property
    def quantum_s(self) -> float:
        return self.wall_s + RUN_OVERHEAD_S

    @property
    def chunk_size(self) -> int:
        even = math.ceil(self.blocks / self.slots)
        return max(1, min(even, int(LONGEST_CHUNK_S // self.quantum_s)))

    @property
    def chunks(self) -> int:
        return math.ceil(self.blocks / self.chunk_size)

    def blocks_of(self, chunk: int) -> range:
        return range(chunk * self.chunk_size, min((chunk + 1) * self.chunk_size, self.blocks))

    @property
    def staging_s(self) -> float:
        return JOB_OVERHEAD_S + self.nominal_size * STAGING_S_PER_PERSON

    @property
    def first_run_s(self) -> float:
        """Seconds from the claim of a chunk to its first run, padded mode."""
        return OPENING_S + self.nominal_size * STAGING_S_PER_PERSON

    @property
    def chunk_s(self) -> float:
        """The longest that one chunk takes on a healthy worker: a lease that ran out means a dead one."""
        return self.staging_s + self.chunk_size * self.quantum_s

    @property
    def visible_after_s(self) -> float:
        """Seconds from the charge to the release, padded mode."""
        return math.ceil(self.chunks / self.slots) * self.chunk_s


def padded_time(*, due: float, finished: float, late_tick_s: float) -> float:
    """The public time of a release: `due`, or the first tick after it that the platform could make.

    A job misses `due` only when the platform was busy or broken, since runs cannot outlast their grid.
    """
    if finished <= due:
        return due
    return due + math.ceil((finished - due) / late_tick_s) * late_tick_s


def coarse_time(*, finished: float, step_s: float) -> float:
    """The next multiple of `step_s` at or after the end of the runs."""
    return math.ceil(finished / step_s) * step_s
