"""Can this gateway do its work now? The database answers in the right form, the broker answers, and neither
the database nor a worker is out of room.

Words only, the same for everybody: whoever routes requests asks without a token.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta

from domain.operation import MOST_SKEW_S, WorkerState, is_full
from gateway.queue import Queue
from store import sweeps, workers
from store.clock import ahead_s, database_time
from store.database import Database
from store.operation import database_words, free_for_database

log = logging.getLogger(__name__)
# a crowd that asks costs one look
KEPT_S = 2.0


@dataclass(frozen=True)
class Readiness:
    """Each is `ok`, or one word on what is wrong."""

    database: str
    schema: str
    broker: str
    # where SQLite writes, and in the zones of workers
    disk: str
    # whether a worker takes up what others left: `none` asks for that, or it is `late`; without one jobs are
    # taken and kept, as without the broker
    sweeps: str
    # whether one takes new jobs
    workers: str
    # whether the gateway's goes as the database's, and that one only forward. Those of workers are for their
    # operator: whoever keeps a worker busy moves what it measures
    clock: str
    # how identity providers answered last; nobody is asked for this word, and nothing but logins waits for it
    logins: str

    @property
    def is_ready(self) -> bool:
        # without the broker jobs are taken and kept: the sweep sends their messages. On a full disk they
        # would be charged, and what they give could not be written
        return self.database == "ok" and self.schema == "ok" and self.disk != "full"

    @property
    def wrong(self) -> str:
        """What keeps it from being ready, by the name of its field."""
        if self.database != "ok":
            return "database"
        return "tables" if self.schema != "ok" else "disk"

    def __str__(self) -> str:
        parts = {"database": self.database, "tables": self.schema, "broker": self.broker, "disk": self.disk}
        more = {"sweeps": self.sweeps, "workers": self.workers, "clock": self.clock, "logins": self.logins}
        return ", ".join(f"{name} {word}" for name, word in {**parts, **more}.items())


class Looks:
    """Looks at both at most every few seconds, whoever asks."""

    def __init__(
        self, database: Database, queue: Queue, *, least_free_mib: int, logins: Callable[[], str]
    ) -> None:
        self._logins = logins
        self._least_free_mib = least_free_mib
        self._database = database
        self._queue = queue
        self._lock = threading.Lock()
        self._looked_at = float("-inf")
        self._found = Readiness(*["unknown"] * len(fields(Readiness)))

    def now(self) -> Readiness:
        with self._lock:
            if time.monotonic() - self._looked_at > KEPT_S:
                self._found = self._look()
                self._looked_at = time.monotonic()
            return self._found

    def _look(self) -> Readiness:
        database, schema = database_words(self._database)
        broker = "ok" if self._queue.answers() else "unreachable"
        parts = self._parts() if {database, schema} == {"ok"} else ("unknown",) * 4
        found = Readiness(database, schema, broker, *parts, self._logins())
        if found != self._found and {database, schema, broker, found.disk, found.clock} != {"ok"}:
            log.warning("not all is well: %s", found)
        return found

    def _parts(self) -> tuple[str, str, str, str]:
        free = free_for_database(self._database)
        with self._database.reading() as connection:
            now = database_time(connection)
            known = workers.listed(connection, now=now)
            ahead = timedelta(seconds=ahead_s(connection, datetime.now(UTC)))
            swept, word = sweeps.last(connection), sweeps.word(connection)
        there = [one for one in known if one.is_there]
        is_any_full = any(one.storage.get("full") for one in there) or (
            free is not None and is_full(free=free, least_mib=self._least_free_mib)
        )
        return (
            "full" if is_any_full else "ok",
            word,
            "ok" if any(one.state is WorkerState.LIVE for one in there) else "none",
            "off"
            if max(abs(ahead), (swept.asked_at if swept else now) - now) > timedelta(seconds=MOST_SKEW_S)
            else "ok",
        )
