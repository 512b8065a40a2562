"""While a chunk runs: its slot is cancelled within a second of its job, and its lease is kept alive.

A lease covers the longest that a chunk should take. Data much larger than usual may take longer to stage: as
long as this process lives and is at it, nobody else need begin anew.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from domain.states import JobState
from store import jobs, runs
from worker.failure import without_its_text
from worker.sandbox.protocol import Slot
from worker.zone import WorkerZone

if TYPE_CHECKING:
    from worker.chunk import Chunk

log = logging.getLogger(__name__)
LOOK_EVERY_S = 0.5
# A process that hangs is given up after this.
RENEWED_FOR_S = 6 * 3600.0


@contextmanager
def watched(zone: WorkerZone, chunk: Chunk, slot: Slot | None) -> Iterator[None]:
    """Watch the job from a thread of its own: the one that runs blocks is waiting for them. A scan has no
    slot: it goes on to its end, and what it found is kept nowhere if the job has ended meanwhile."""
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(zone, chunk, slot, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(zone: WorkerZone, chunk: Chunk, slot: Slot | None, done: threading.Event) -> None:
    margin = zone.settings.lease_margin_s
    ends = chunk.claimed_at + chunk.schedule.longest_s(chunk.number) + margin
    given_up = ends + RENEWED_FOR_S
    while not done.wait(LOOK_EVERY_S):
        try:
            with zone.database.reading() as connection:
                state = jobs.get(connection, chunk.job.id).state
            if ends - margin / 2 < time.monotonic() < given_up:
                _renew(zone, chunk)
                ends = time.monotonic() + margin
        except Exception as error:  # the database is away for a moment: the runs go on
            log.warning("job %s cannot be watched: %s", chunk.job.id, without_its_text(error))
            continue
        if state is not JobState.RUNNING:
            if slot is not None:
                slot.cancel()
            return


def _renew(zone: WorkerZone, chunk: Chunk) -> None:
    until = zone.now() + timedelta(seconds=zone.settings.lease_margin_s)
    with zone.database.transaction() as connection:
        runs.renew(connection, job_id=chunk.job.id, number=chunk.number, claim=chunk.claim, lease_until=until)
