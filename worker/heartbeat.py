"""What a worker says of itself to the platform: that it is there, and which kinds of work it takes part in.

A kind is said from the first message on until the public state of that job, import or profile ends, not until
this worker's own part is done: when a part ends may depend on data. For the same reason a worker that drains
counts as drained only when every job that it took part in has gone on, or when no job is with the workers
at all.
"""

from __future__ import annotations

import logging
import platform
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from importlib.metadata import version
from types import MappingProxyType
from typing import Any

from domain.messages import WhyDropped, kind_of
from domain.operation import WorkKind
from store import workers
from store.clock import database_time
from store.database import Database
from store.workers import Presence, Subjects
from worker.config import WorkerSettings
from worker.host_turns import Place

log = logging.getLogger(__name__)
NOTHING: Mapping[WhyDropped, int] = MappingProxyType({})


class Orders(Enum):
    """What the worker is to do about messages."""

    TAKE = "take all"
    FINISH = "take those of jobs that run; nobody else would"
    LEAVE = "take none"
    END = "take none and end"


@dataclass
class Heartbeat:
    """Of one start of a worker. Lives in its main process, which hears of every message."""

    settings: WorkerSettings
    features: Mapping[str, bool]
    place: Place | None = None
    start: str = field(default_factory=lambda: str(uuid.uuid4()))
    _on: Subjects = field(default_factory=lambda: {kind: set() for kind in workers.PUBLIC})
    _started_at: datetime | None = None

    def took(self, message: str, subject: str) -> None:
        """A message has come; its work is public until its public state says that it ended."""
        if (kind := kind_of(message)) in self._on:
            self._on[kind].add(subject)

    def announce(self, database: Database, *, name: str | None = None) -> None:
        """Before the worker takes its first message: from then on others of its host know of it."""
        presence = Presence(
            name=name or self.settings.name,
            start=self.start,
            version=version("dpgate"),
            python=platform.python_version(),
            profile=self.settings.isolation.value,
            sandbox=self.settings.sandbox,
            slots=self.settings.own_slots,
            features=self.features,
            host=self.place.host if self.place else None,
            door=self.place.door if self.place else None,
        )
        with database.transaction() as connection:
            now = database_time(connection)
            workers.announce(connection, presence, now=now, skew_s=_skew_s(now))
        self._started_at = now

    def beat(
        self, database: Database, *, at_work: Mapping[str, str], dropped: Mapping[WhyDropped, int] = NOTHING
    ) -> None:
        """`at_work`: what processes have in hand just now, by message; only rehearsals are told from it.
        `dropped`: how many messages were none of ours since the start, by why."""
        with database.transaction() as connection:
            self._on = workers.still_on(connection, self._on)
            now = database_time(connection)
            name = self._name(connection)
            known = workers.beat(
                connection,
                name=name,
                start=self.start,
                kinds=self._kinds(at_work),
                now=now,
                skew_s=_skew_s(now),
                dropped=dropped,
            )
            is_replaced = not known and workers.is_on_record(connection, self.settings.name)
            # by one that does not see its turns: under a name of its own it is seen
            goes_aside = is_replaced and self._is_apart_from_its_name(connection)
        if is_replaced or name != self.settings.name:
            log.error("another worker is called %s; give each a DPGATE_WORKER_NAME", self.settings.name)
        if goes_aside:
            self.announce(database, name=workers.name_aside(self.settings.name, self.start))
        elif not known and not is_replaced:
            self.announce(database)  # an operator forgot it while it could not be heard

    def orders(self, database: Database, *, at_work: Mapping[str, str]) -> Orders:
        """What an operator has asked of this worker, as far as it has got."""
        with database.reading() as connection:
            name = self._name(connection)
            asked = workers.drain_asked(connection, name)
            if asked is None:
                return Orders.TAKE
            now = database_time(connection)
            others = workers.others_take_jobs(connection, name, now=now)
            left = {kind for kind, subjects in workers.still_on(connection, self._on).items() if subjects}
            if not others and workers.any_job_taken(connection):
                left.add(WorkKind.JOBS)
        if (left or at_work) and others:
            return Orders.LEAVE
        if left or at_work:
            self._note_takes_again(database)  # first: others of its host look for it before they begin
            return Orders.FINISH
        self._note_drained(database)
        asked_at, ends = asked
        # a drain that outlived a restart does not end the worker again: whoever started it wants it there
        is_new = self._started_at is None or asked_at > self._started_at
        return Orders.END if ends and is_new else Orders.LEAVE

    def note_end(self, database: Database) -> None:
        with database.transaction() as connection:
            now = database_time(connection)
            workers.note_end(connection, name=self._name(connection), start=self.start, now=now)

    def _note_drained(self, database: Database) -> None:
        with database.transaction() as connection:
            now = database_time(connection)
            workers.note_drained(connection, name=self._name(connection), start=self.start, now=now)

    def _note_takes_again(self, database: Database) -> None:
        with database.transaction() as connection:
            workers.note_takes_again(connection, name=self._name(connection), start=self.start)

    def _name(self, connection: Any) -> str:
        """Its own, unless a later start took that."""
        return workers.called(connection, self.start) or self.settings.name

    def _is_apart_from_its_name(self, connection: Any) -> bool:
        place = self.place
        return place is not None and workers.is_from_apart(
            connection, self.settings.name, host=place.host, door=place.door
        )

    def _kinds(self, at_work: Mapping[str, str]) -> set[WorkKind]:
        found = {kind for kind, subjects in self._on.items() if subjects}
        # the twin has seen no data: when its runs end is no secret
        return found | ({WorkKind.REHEARSALS} & {kind_of(message) for message in at_work.values()})


def _skew_s(database_now: datetime) -> float:
    return (datetime.now(UTC) - database_now).total_seconds()
