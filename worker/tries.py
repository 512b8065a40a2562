"""Rehearsals and profiles: one worker claims one, and what it could not finish another tries again.

Jobs have a state table and a sweep of their own: they cost something.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from worker.zone import WorkerZone


class Tried(Protocol):
    """A row on record, as it was when it was read."""

    @property
    def id(self) -> str: ...
    @property
    def attempts(self) -> int: ...
    @property
    def state(self) -> StrEnum: ...


Row = TypeVar("Row", bound=Tried)
Told = TypeVar("Told", bound=str, contravariant=True)
Problem = TypeVar("Problem", bound=str)


class Records(Protocol[Row, Told]):
    """The module of `store` that keeps them. A change is a compare-and-set and says whether it was made."""

    def overdue(self, connection: Any, *, now: datetime) -> list[Row]: ...
    def nudge(self, connection: Any, row: Row, /, *, now: datetime) -> bool: ...
    def put_back(self, connection: Any, row: Row, /, *, now: datetime) -> bool: ...
    def fail(self, connection: Any, row: Row, /, *, problem: Told, now: datetime) -> bool: ...


@dataclass(frozen=True)
class Tries(Generic[Row, Problem]):
    """`claimed` is the state in which one is some worker's, and `lost` what is said when workers died of it
    again and again. `send` sends its message."""

    records: Records[Row, Problem]
    claimed: StrEnum
    lost: Problem
    send: Callable[[WorkerZone, str], None]

    def put_back(self, zone: WorkerZone, row: Row, problem: Problem) -> None:
        """Into the line for another try, or to its end once there were enough."""
        if row.attempts >= zone.settings.max_attempts:
            self.fail(zone, row, problem)
            return
        with zone.database.transaction() as connection:
            self.records.put_back(connection, row, now=zone.now())

    def fail(self, zone: WorkerZone, row: Row, problem: Problem) -> None:
        with zone.database.transaction() as connection:
            self.records.fail(connection, row, problem=problem, now=zone.now())

    def mend(self, zone: WorkerZone) -> None:
        """For the sweep: messages that were lost are sent again, and so is what a dead worker left."""
        with zone.database.reading() as connection:
            overdue = self.records.overdue(connection, now=zone.now())
        for row in overdue:
            if row.state is self.claimed:
                self.put_back(zone, row, self.lost)
                continue
            with zone.database.transaction() as connection:
                is_ours = self.records.nudge(connection, row, now=zone.now())
            if is_ours:
                self.send(zone, row.id)
