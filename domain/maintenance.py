"""Maintenance: what a platform that is being worked on refuses, and for how long.

Default deny: what changes something waits for the end, unless it is named here. Reading goes on, and so do
jobs that run, and what only stops something, takes it back, or lets people and operators in.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, StringConstraints

from domain.model import Model
from domain.permissions import Permission

GOES_ON = frozenset(
    {
        Permission.SELF_READ,
        Permission.TOKENS_OWN,
        Permission.JOB_CANCEL,
        Permission.TWIN_WITHDRAW,
        Permission.IMAGE_APPROVE,
        Permission.USER_ADD,
        Permission.USER_DISABLE,
        Permission.OPERATION_CHANGE,
    }
)
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
# asked again after this long where no end is planned, or the planned one has passed
RETRY = timedelta(minutes=5)
SHORTEST_RETRY = timedelta(seconds=30)
MAX_REASON = 300


def _ordinary(text: str) -> str:
    if not all(letter.isprintable() or letter in "\t\r\n" for letter in text):
        raise ValueError("must hold ordinary characters only")
    return text


Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=3, max_length=MAX_REASON),
    AfterValidator(_ordinary),
]


class PlannedMaintenance(Model):
    """Why the platform takes nothing new, in words that everybody reads, and until when it is planned."""

    reason: Reason
    until: AwareDatetime | None = None


@dataclass(frozen=True)
class Maintenance:
    """Maintenance that goes on now."""

    reason: str
    since: datetime
    until: datetime | None
    by: str

    def retry_after_s(self, now: datetime) -> int:
        """When it is worth asking again, in seconds."""
        left = RETRY if self.until is None or self.until <= now else self.until - now
        return round(max(left, SHORTEST_RETRY).total_seconds())


def waits(permission: Permission, method: str) -> bool:
    """Whether a request of this kind is refused during maintenance."""
    return method not in SAFE_METHODS and permission not in GOES_ON
