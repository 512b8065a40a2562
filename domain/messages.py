"""What the messages to workers are called, which queue each goes to, and which kind of work it is part of.

A message carries ids and nothing else. Gateway and workers know it by this name alone, so each name stands
here once.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from domain.operation import WorkKind


class Queue(StrEnum):
    """Workers look at them in the order of their names: whatever belongs to a job comes first."""

    MAIN = "dpgate"
    LATER = "dpgate-rehearsals"


class Message(StrEnum):
    RUN_JOB = "dpgate.run_job"
    RUN_CHUNK = "dpgate.run_chunk"
    PUBLISH = "dpgate.publish"
    IMPORT_DATASET = "dpgate.import_dataset"
    REHEARSE = "dpgate.rehearse"
    PROFILE = "dpgate.profile"
    SWEEP = "dpgate.sweep"

    @property
    def queue(self) -> Queue:
        return Queue.LATER if self.kind in _LATER else Queue.MAIN

    @property
    def kind(self) -> WorkKind | None:
        """What a worker that takes it takes part in; a sweep is nobody's work."""
        return _KINDS[self]


_KINDS: Mapping[Message, WorkKind | None] = {
    Message.RUN_JOB: WorkKind.JOBS,
    Message.RUN_CHUNK: WorkKind.JOBS,
    Message.PUBLISH: WorkKind.JOBS,
    Message.IMPORT_DATASET: WorkKind.IMPORTS,
    Message.REHEARSE: WorkKind.REHEARSALS,
    Message.PROFILE: WorkKind.PROFILES,
    Message.SWEEP: None,
}
_LATER = (WorkKind.REHEARSALS, WorkKind.PROFILES)


def kind_of(name: str) -> WorkKind | None:
    """By the name that came; workers of another version may send names that are not known here."""
    return Message(name).kind if name in set(Message) else None
