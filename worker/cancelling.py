"""While a chunk runs: its slot is cancelled within a second of its job, and its lease is kept alive.

The lease is this process's sign of life: renewed as long as it lives, however long it takes. So what a killed
worker held is taken up soon. While data are staged it is four times as long as at the runs, a minute by
default, since one step of staging may hold the interpreter for long; or as long as the chunk should take, if
that is less. What is left to wait for after the runs has the whole time of the chunk.
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
# seconds that a sign of life lasts at least: some looks may come to nothing
LEAST_SIGN_S = 3.0
# A process that hangs is given up after this.
RENEWED_FOR_S = 6 * 3600.0


@contextmanager
def watched(zone: WorkerZone, chunk: Chunk, slot: Slot | None) -> Iterator[None]:
    """Watch the job from a thread of its own: the one that runs blocks is waiting for them. A scan has no
    slot: it goes on to its end, and what it found is kept nowhere if the job has ended meanwhile."""
    done = threading.Event()
    ends_at = chunk.claimed_at + chunk.schedule.longest_s(chunk.number) + zone.settings.lease_margin_s
    watcher = threading.Thread(target=_watch, args=(zone, chunk, slot, done, ends_at), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        try:
            _renew(zone, chunk, for_s=max(ends_at - time.monotonic(), _sign_s(zone)))
        except Exception as error:  # the last sign of life holds, or the chunk is made again
            log.warning("job %s: a lease was not renewed: %s", chunk.job.id, without_its_text(error))


def first_lease_s(zone: WorkerZone, longest_s: float) -> float:
    """Of a claim, in seconds; `longest_s`: of the chunk, on a healthy worker."""
    margin_s = zone.settings.lease_margin_s
    return min(longest_s + margin_s, max(2 * LEAST_SIGN_S, 4 * margin_s))


@contextmanager
def staging(zone: WorkerZone, chunk: Chunk) -> Iterator[None]:
    """Keep the claim while the data of its runs are looked for."""
    done = threading.Event()
    keeper = threading.Thread(target=_keep, args=(zone, chunk, done), daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()


def _keep(zone: WorkerZone, chunk: Chunk, done: threading.Event) -> None:
    lease_s = first_lease_s(zone, chunk.schedule.longest_s(chunk.number))
    while not done.wait(lease_s / 4) and time.monotonic() < chunk.claimed_at + RENEWED_FOR_S:
        try:
            _renew(zone, chunk, for_s=lease_s)
        except Exception as error:  # the database is away for a moment: what is staged is kept
            log.warning("job %s: a lease was not renewed: %s", chunk.job.id, without_its_text(error))


def _sign_s(zone: WorkerZone) -> float:
    return max(LEAST_SIGN_S, zone.settings.lease_margin_s)


def _watch(zone: WorkerZone, chunk: Chunk, slot: Slot | None, done: threading.Event, ends_at: float) -> None:
    sign_s, next_at = _sign_s(zone), 0.0
    while not done.wait(LOOK_EVERY_S):
        try:
            with zone.database.reading() as connection:
                state = jobs.get(connection, chunk.job.id).state
            if next_at <= time.monotonic() < ends_at + RENEWED_FOR_S:
                _renew(zone, chunk, for_s=sign_s)
                next_at = time.monotonic() + sign_s / 3
        except Exception as error:  # the database is away for a moment: the runs go on
            log.warning("job %s cannot be watched: %s", chunk.job.id, without_its_text(error))
            continue
        if state is not JobState.RUNNING:
            if slot is not None:
                slot.cancel()
            return


def _renew(zone: WorkerZone, chunk: Chunk, *, for_s: float) -> None:
    until = zone.now() + timedelta(seconds=for_s)
    with zone.database.transaction() as connection:
        runs.renew(connection, job_id=chunk.job.id, number=chunk.number, claim=chunk.claim, lease_until=until)
