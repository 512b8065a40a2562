"""What an operator sees of workers and of things that are stuck: public facts, and how coarse they are.

Nothing here may tell how long a run took or how much it wrote. So a worker says which kinds of work it takes
part in, and says it until the public state of that work ends, not until its own part is done; sizes of what
rests on data are classes, one for each power of ten; there is no count of messages, chunks or free slots.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

BEAT_S = 30
LOST_AFTER = timedelta(minutes=2)
# beyond this, leases and times of release that one part sets look wrong to another
MOST_SKEW_S = 5.0
FORGOTTEN_AFTER = timedelta(days=7)
GIB = 1024**3
_CLASSES = (
    (0, "nothing"),
    (GIB // 10, "under 100 MiB"),
    (GIB, "100 MiB to 1 GiB"),
    (10 * GIB, "1 to 10 GiB"),
    (100 * GIB, "10 to 100 GiB"),
    (1000 * GIB, "100 GiB to 1 TiB"),
)
LITTLE_LEFT = 0.1
LEAST_FREE_MIB = 256
"""With less, a disk counts as full: what is written next may fail halfway."""


class WorkKind(StrEnum):
    """What a worker takes part in."""

    JOBS = "jobs"
    IMPORTS = "imports"
    REHEARSALS = "rehearsals"
    PROFILES = "profiles"


class WorkerState(StrEnum):
    """Of a worker as the platform sees it."""

    LIVE = "live"
    DRAINING = "draining"  # takes no new job; what runs is finished
    DRAINED = "drained"  # takes nothing, has nothing
    ENDED = "ended"  # stopped in order
    LOST = "lost"  # not seen for too long


class StuckKind(StrEnum):
    """What can be stuck, and what the button does."""

    QUEUED = "queued"
    PREPARING = "preparing"
    LEASE = "lease"
    OVERDUE = "overdue"
    IMPORT = "import"
    REHEARSAL = "rehearsal"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]

    @property
    def button(self) -> str:
        return _BUTTONS[self]


_SENTENCES = {
    StuckKind.QUEUED: "A job may run and waits for a worker: no slot is free, or its message was lost.",
    StuckKind.PREPARING: "A job is being prepared for too long: its worker is gone. No data were touched.",
    StuckKind.LEASE: "A worker ended while it held a part of a job. The part is done again by another one.",
    StuckKind.OVERDUE: "The public time of a release has passed. Look whether workers run and are isolated.",
    StuckKind.IMPORT: "An import has not ended. Large data take long; otherwise its message was lost.",
    StuckKind.REHEARSAL: "A rehearsal does not go on: jobs come first, or its worker or message was lost.",
}
_BUTTONS = {
    StuckKind.QUEUED: "Send its message again",
    StuckKind.PREPARING: "Sweep now",
    StuckKind.LEASE: "Sweep now",
    StuckKind.OVERDUE: "Sweep now",
    StuckKind.IMPORT: "Import again",
    StuckKind.REHEARSAL: "Send its message again",
}
STUCK_AFTER: dict[StuckKind, timedelta] = {
    StuckKind.QUEUED: timedelta(minutes=2),
    StuckKind.PREPARING: timedelta(minutes=2),
    # a sweep that runs takes it up at once
    StuckKind.LEASE: timedelta(minutes=1),
    StuckKind.OVERDUE: timedelta(minutes=10),
    StuckKind.IMPORT: timedelta(minutes=10),
    # it waits behind jobs, and another one may take as long
    StuckKind.REHEARSAL: timedelta(minutes=15),
}


@dataclass(frozen=True)
class Stuck:
    """Something that does not move. `subject`: the id of a job, data set or rehearsal; `name`: what people
    call it; `sentence`: why, as far as it is on record."""

    kind: StuckKind
    subject: str
    name: str
    since: datetime
    sentence: str


def size_class(octets: int) -> str:
    """The power of ten that a number of bytes falls into, in words."""
    for most, words in _CLASSES:
        if octets <= most:
            return words
    return "over 1 TiB"


def room(*, total: int, free: int, participants: int) -> str:
    """Whether a volume fills up, in words.

    What participant levels of pipelines wrote counts as free: code of data users decides how much that is,
    and could say something by it.
    """
    return "under a tenth left" if free + participants < LITTLE_LEFT * total else "enough left"


def is_full(*, free: int, least_mib: int, participants: int = 0) -> bool:
    """Whether a volume has no room for what the platform writes next. `participants` as for `room`."""
    return free + participants < least_mib * 2**20
