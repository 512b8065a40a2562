"""Can this gateway do its work now? The database answers in the right form, and the broker answers.

Words only, the same for everybody: whoever routes requests asks without a token.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass

from gateway.queue import Queue
from store.database import Database
from store.operation import database_words

log = logging.getLogger(__name__)
# a crowd that asks costs one look
KEPT_S = 2.0


@dataclass(frozen=True)
class Readiness:
    """Each is `ok`, or one word on what is wrong."""

    database: str
    schema: str
    broker: str

    @property
    def is_ready(self) -> bool:
        # without the broker jobs are taken and kept: the sweep sends their messages
        return self.database == "ok" and self.schema == "ok"


class Looks:
    """Looks at both at most every few seconds, whoever asks."""

    def __init__(self, database: Database, queue: Queue) -> None:
        self._database = database
        self._queue = queue
        self._lock = threading.Lock()
        self._looked_at = float("-inf")
        self._found = Readiness("unknown", "unknown", "unknown")

    def now(self) -> Readiness:
        with self._lock:
            if time.monotonic() - self._looked_at > KEPT_S:
                self._found = self._look()
                self._looked_at = time.monotonic()
            return self._found

    def _look(self) -> Readiness:
        database, schema = database_words(self._database)
        broker = "ok" if self._queue.answers() else "unreachable"
        found = Readiness(database, schema, broker)
        if found != self._found and (database, schema, broker) != ("ok", "ok", "ok"):
            log.warning("not ready: database %s, schema %s, broker %s", database, schema, broker)
        return found
