"""While a chunk runs, somebody may cancel its job: then its slot is cancelled within a second."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from domain.states import JobState
from store import jobs
from worker.failure import without_its_text
from worker.sandbox.protocol import Slot
from worker.zone import WorkerZone

log = logging.getLogger(__name__)
LOOK_EVERY_S = 0.5


@contextmanager
def cancelled_with(zone: WorkerZone, job_id: str, slot: Slot) -> Iterator[None]:
    """Watch the job from a thread of its own: the one that runs blocks is waiting for them."""
    done = threading.Event()
    watcher = threading.Thread(target=_watch, args=(zone, job_id, slot, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _watch(zone: WorkerZone, job_id: str, slot: Slot, done: threading.Event) -> None:
    while not done.wait(LOOK_EVERY_S):
        try:
            with zone.database.reading() as connection:
                state = jobs.get(connection, job_id).state
        except Exception as error:  # the database is away for a moment: the runs go on
            log.warning("job %s cannot be watched: %s", job_id, without_its_text(error))
            continue
        if state is not JobState.RUNNING:
            slot.cancel()
            return
