"""What the messages to workers are called, which queue each goes to, and which kind of work it is part of.

A message carries ids, a code over both, and nothing else. Gateway and workers know it by this name alone, so
each name stands here once.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from pydantic import SecretStr

from domain.errors import NotReady
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


CODE = "dpgate-code"
"""The header in which a message carries its code."""
_KEY = re.compile(r"[0-9a-f]{64}")


class WhyDropped(StrEnum):
    """Why a worker has dropped a message."""

    UNREADABLE = "unreadable"  # no message of the form that ours have, or a very long one
    UNKNOWN = "unknown"  # it names no kind of ours
    MORE = "more"  # it sets a limit of time, or says what follows
    CODE = "code"  # it has none, or that of another key, kind or row


def key_of(setting: SecretStr | None) -> bytes:
    """The key of messages, as set. Raises NotReady where there is none; what was set is not repeated."""
    text = "" if setting is None else setting.get_secret_value()
    if _KEY.fullmatch(text) is None:
        raise NotReady(
            "DPGATE_MESSAGE_KEY is needed, the same for gateways and workers: the 64 letters that "
            "`openssl rand -hex 32` prints"
        )
    return bytes.fromhex(text)


def code_of(key: bytes, name: str, ids: Iterable[str | int]) -> str:
    """What a message of this kind about this row carries, in hexadecimal digits."""
    return hmac.new(key, json.dumps([name, *ids]).encode("ascii"), hashlib.sha256).hexdigest()
