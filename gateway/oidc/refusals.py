"""How many were not let in, by reason: for metrics, and now and then for the audit trail.

A refusal writes nothing but its count in this process, so that a flood of wrong tokens is no flood of writes;
the first, second, fourth, eighth ... of each reason is an event.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from datetime import UTC, datetime

from domain.errors import RequestError
from store import audit
from store.database import Database

log = logging.getLogger(__name__)
OTHER = "other"


class Refusals:
    """Counts of this process. Thread-safe."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def note(self, database: Database, error: RequestError, *, way: str) -> None:
        """Count, log and, where the count has doubled, put on record. `way` is how they tried to come in."""
        reason = error.reason or OTHER
        with self._lock:
            self._counts[reason] += 1
            count = self._counts[reason]
        log.info("not let in by %s: %s", way, reason)
        if count & (count - 1) == 0:
            with database.transaction() as connection:
                audit.append(
                    connection,
                    at=datetime.now(UTC),
                    actor="gateway",
                    action="login.refused",
                    subject="unknown",
                    why=reason,
                    by=way,
                    count=count,
                )

    def counts(self) -> dict[str, int]:
        with self._lock:
            return dict(sorted(self._counts.items()))
