"""What is on record of an erased data set: what is gone, what stays and why, and what is out of reach."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

from domain.release import statement

PREDICATE_TYPE = "urn:dpgate:predicate:deletion:v1"


class Held(StrEnum):
    """What the worker zone waits for before it erases; the value is what its rights holder reads."""

    UNSIGNED = (
        "your signature: type `dpgate dataset erase NAME` where the key is that guards these data; if you "
        "have, name the deliveries folder of this platform, --deliveries FOLDER"
    )


GONE = (
    "The key that sealed this data set in the worker zone, in all versions: it was drawn at random, follows "
    "from no other key, and was overwritten and removed.",
    "With it whatever it sealed: snapshots, outcomes of participant levels, outputs of runs. Without that "
    "key none of it opens. Its files are removed after this was signed, some at each round of the workers.",
    "Scrambled copies, from the platform's database.",
)
STAYS = (
    ("what was spent of the budget, in both ledgers", "a budget must not be reset"),
    ("fingerprints of people, under a key of the zone", "the same people must not get a second budget"),
    ("the name of each snapshot, a digest under a key of the zone", "ledgers and mandates refer to it"),
    ("releases with their certificates, and twins", "they were given out under the guarantee they name"),
    ("declarations, policies, jobs with their code, and the audit trail", "they are the record of all that"),
)
NOT_REACHED = (
    "A backup, or a copy of the worker zone's folder, that holds this data set's key: the data in it open "
    "with that key and the zone's, until that copy of the key is destroyed too. A worker of this platform "
    "that starts from such a copy destroys it there.",
    "What a disk keeps of the key after it was overwritten: a solid-state disk, a journal or a snapshot of a "
    "file system may write elsewhere.",
    "What the rights holder and those who took scrambled copies have themselves.",
)


def deletion(
    *,
    dataset: str,
    versions: Sequence[int],
    key: str | None,
    erasure_id: str,
    asked_by: str,
    asked_at: str,
    now: datetime,
) -> dict[str, Any]:
    """The statement for the zone to sign. `key`: the name of the one that is gone, drawn at random.
    Nothing in it depends on data."""
    return statement(
        subjects={dataset: hashlib.sha256(f"{dataset} {erasure_id}".encode()).hexdigest()},
        predicate={
            "dataset": dataset,
            "versions": list(versions),
            "key": key,
            "askedBy": asked_by,
            "askedAt": asked_at,
            "erasedAt": now.isoformat(),
            "gone": list(GONE),
            "stays": [{"what": what, "why": why} for what, why in STAYS],
            "notReached": list(NOT_REACHED),
        },
        predicate_type=PREDICATE_TYPE,
    )
