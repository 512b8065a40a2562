"""What the worker zone's own ledger holds, line by line."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Head = tuple[int, str]


class Kind(StrEnum):
    """What an entry says, and of what; with each, once for the same subject."""

    OPENING = "opening"  # of a cohort: what the platform had spent when this ledger was begun
    CHARGE = "charge"  # of a job: from now on it counts as spent
    VOID = "void"  # of a job: the platform never charged it and gave its budget back; no data were touched
    TOUCHED = "touched"  # of a job: its first chunk is about to see data
    DRAW = "draw"  # of a job: noise was drawn, for the only time
    STATE = "state"  # of a job: what its release told of a cohort's PAC secret is on record
    REFUSED = "refused"  # of a job and a reason: what the platform's rows asked for, and did not get
    ENROLLED = "enrolled"  # of a delivery and a key: its data are used under mandates of that key
    MANDATE = "mandate"  # of a key, a data set's name and a number: what a rights holder signed
    ORDER = "order"  # of a key, a data set's name and a number: what a rights holder signed to have it erased
    APPROVAL = "approval"  # of a key and what it signed: that a job may run
    ERASED = "erased"  # of an erasure: the key of a data set is destroyed from now on, whatever rows say
    RESTORED = "restored"  # of a number: both ledgers came out of a backup, and something may be missing
    CAUGHT_UP = "caught up"  # of a head: an operator has looked at what a restored database has forgotten


@dataclass(frozen=True)
class Entry:
    """One line of the ledger. `head` is the newest event of the audit trail when it was written."""

    number: int
    kind: Kind
    subject: str
    cohort: str | None
    body: dict[str, Any]
    head: Head | None
    code: str
