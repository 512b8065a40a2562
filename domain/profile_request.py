"""A profile that the worker zone makes of a delivery, for the rights holder alone.

The profile has seen original data, so it leaves the worker zone sealed to a key that only the rights holder
has. What others can see of it, its state, its time and its length, is a step of a fixed ladder each. Nothing
that is visible depends on what the data hold: also why a table could not be read is said inside.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from domain.errors import InvalidRequest
from domain.model import Model, Slug, canonical

KEY_BYTES = 32
MOST_OPEN = 3
"""Profiles of one rights holder that may wait or be made at the same time."""
KEPT = 20
"""Of one rights holder; older ones are forgotten."""
KEPT_FOR = timedelta(days=30)
DELIVERY = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
FIRST_STEP_S = 15.0
"""A profile is ready so many seconds after it was begun, or twice as many, or four times, ..."""
STEPS = 11
"""The last step is after 4 hours and 16 minutes; what was not read by then is left out."""
LADDER = tuple(65_536 << 2 * rung for rung in range(6))
"""Lengths of what is sealed, in bytes: 64 KiB to 64 MiB."""


class ProfileState(StrEnum):
    WAITING = "WAITING"
    READING = "READING"
    SEALED = "SEALED"
    FAILED = "FAILED"

    @property
    def is_open(self) -> bool:
        return bool(MOVES[self])


S = ProfileState
MOVES: dict[ProfileState, frozenset[ProfileState]] = {
    S.WAITING: frozenset({S.READING}),
    # back to WAITING when its worker was lost or lacks something that another may have
    S.READING: frozenset({S.SEALED, S.FAILED, S.WAITING}),
    S.SEALED: frozenset(),
    S.FAILED: frozenset(),
}


class ProfileProblem(StrEnum):
    """Why there is no profile. None of them says anything of what is in the data."""

    NOT_DELIVERED = "the worker zone has no such delivery, or its copy is not finished; deliver it again"
    NO_KEY = (
        "the delivery came without a key, so nothing is sealed to the one that was asked for; deliver with "
        "dpgate twin deliver"
    )
    OTHER_KEY = (
        "the delivery came with another key or name than was asked for: nothing was sealed. If you did not "
        "mistake one for another, somebody on the way did it on purpose"
    )
    NOT_ISOLATED = "the worker cannot read tables in a sandbox on its host; ask the operator: dpgate doctor"
    LOST = "the platform's workers failed repeatedly; ask the operator"


def public_key(text: str) -> str:
    """32 bytes in base64. Raises ValueError."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if len(content) != KEY_BYTES or base64.b64encode(content).decode() != text:
        raise ValueError("must be 32 bytes in base64, as dpgate twin profile prints them")
    return text


PublicKey = Annotated[str, StringConstraints(max_length=64), AfterValidator(public_key)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=1000)]


class ProfileRequest(Model):
    """Which delivery, under which name it is to be registered, and for whose key (X25519, in base64)."""

    name: Slug
    delivery: Annotated[str, Field(pattern=DELIVERY)]
    key: PublicKey
    # the column of people by table, where the platform's guess was wrong
    people: dict[Name, Name] = Field(default_factory=dict, max_length=200)


class DeliveredKey(Model):
    """What lies beside a delivery in the worker zone: whoever delivered says for whom its profile is. It
    never passes the gateway, so nobody there can put another key in its place."""

    name: Slug
    key: PublicKey


class ProfileOnRecord(Model):
    """A profile as the database holds it; what is sealed is read by itself."""

    id: str
    owner: str
    name: str
    delivery: str
    key: str
    people: dict[str, str]
    state: ProfileState
    attempts: int
    problem: str | None
    created_at: datetime
    moved_at: datetime

    @property
    def request(self) -> ProfileRequest:
        return ProfileRequest(name=self.name, delivery=self.delivery, key=self.key, people=self.people)

    @property
    def sentence(self) -> str | None:
        """Why it failed."""
        return None if self.problem is None else ProfileProblem[self.problem].value


def fingerprint(key: str) -> str:
    """Of a public key, for people to compare: 128 bits of its SHA-256 in eight groups."""
    digest = hashlib.sha256(base64.b64decode(key)).hexdigest()[:32]
    return " ".join(digest[start : start + 4] for start in range(0, 32, 4))


def context_of(profile_id: str, name: str, delivery: str) -> bytes:
    """What a sealed profile is of: it opens under the same alone."""
    return canonical({"for": "dpgate profile 1", "id": profile_id, "name": name, "delivery": delivery})


def ends(began: datetime) -> tuple[datetime, ...]:
    """The moments at which a profile that was begun then may become visible."""
    return tuple(began + timedelta(seconds=FIRST_STEP_S * 2**step) for step in range(STEPS))


def next_end(began: datetime, now: datetime) -> datetime:
    """The first of them that is not over; the last, if all are."""
    found = ends(began)
    return next((moment for moment in found if moment >= now), found[-1])


def padded_length(size: int) -> int:
    """The rung of the ladder for so many bytes. Raises ValueError beyond the last."""
    rung = next((length for length in LADDER if length >= size), None)
    if rung is None:
        raise ValueError(f"more than {LADDER[-1]} bytes")
    return rung


def check_profile_id(profile_id: str) -> str:
    """The client chooses it. Raises InvalidRequest for anything that cannot stand in an address."""
    if not (8 <= len(profile_id) <= 64 and profile_id.isascii()) or not all(
        letter.isalnum() or letter in "-_" for letter in profile_id
    ):
        raise InvalidRequest(
            "profile_id", "must be 8 to 64 letters, digits, - or _.", "A UUID is a good choice."
        )
    return profile_id
