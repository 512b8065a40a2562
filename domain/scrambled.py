"""A reviewed scramble, level 3 of a twin: what it is, who answers for it, and when it may be handed out.

It holds real values in mixed order. No guarantee class covers it, it is never called anonymous, and the
platform takes it as a release by named people: off by default, signed for, and with a last day of use.

People sign before a byte of it comes near the platform. What they sign are two digests, of the folder's
record and of the leak report; both texts hold a number drawn by lot, so that the digests tell nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from domain.errors import Conflict, InvalidRequest, TooLarge
from domain.model import InsidePath, Model, Whole

RECORD = "scramble.json"
NOTE = "NOT-ANONYMOUS.md"
LABEL = (
    "NOT anonymous: real values in mixed order. Treat as personal data. Outside the guarantee: class none."
)
"""Wherever such a folder is spoken of."""
METHODS = ("stub", "permute", "swap", "jitter", "bidscramble")
MOST_DAYS = 366
"""From the offer to the last day of use: whoever needs it longer signs again."""
PART_BYTES = 1 << 20
"""Of every part of an archive but the last."""
MOST_PARTS = 64

Method = Literal["stub", "permute", "swap", "jitter", "bidscramble"]
Line = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=2, max_length=500, pattern=r"^[^\n\r]*$")
]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class Agreement(Model):
    """A named person's signature. `expires` is the last day on which the folder may be used."""

    signed_by: Line
    agreement: Line
    expires: date


class Written(Model):
    """One file as it was handed over."""

    path: InsidePath
    sha256: Sha256


class Record(Model):
    """scramble.json: what the folder is, and what was in it when it was handed over. `leak_report` is the
    digest of the report that was written with it; `lot` makes the record's own digest tell nothing."""

    format: Literal[1] = 1
    guarantee: Literal["none"] = "none"
    label: str
    method: Method
    made: date
    agreement: Agreement
    files: tuple[Written, ...]
    leak_report: Sha256 | None = None
    lot: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")] | None = None


class Offer(Model):
    """What the platform is told before anybody has signed: no name of a file, no count, nothing of the data
    but how many MiB there are. `record` and `leak_report` are digests."""

    record: Annotated[Sha256, Field(description="SHA-256 of scramble.json")]
    leak_report: Annotated[Sha256, Field(description="SHA-256 of the leak report, which stays where it is")]
    method: Method
    made: date
    agreement: Agreement
    parts: Annotated[Whole, Field(ge=1, description="Of its archive, each of 1 MiB but the last")]

    def check(self, today: date) -> None:
        """Raises InvalidRequest for a day that is over or too far, TooLarge."""
        expires = self.agreement.expires
        if expires < today:
            raise InvalidRequest(
                "agreement.expires", f"{expires} is over.", "Scramble it again with a day that is to come."
            )
        if (expires - today).days > MOST_DAYS:
            raise InvalidRequest(
                "agreement.expires",
                f"{expires} is more than {MOST_DAYS} days away.",
                "Scramble it again with an earlier day; sign again when it is over.",
            )
        if self.parts > MOST_PARTS:
            raise TooLarge(
                "parts",
                f"the archive has {self.parts} MiB; at most {MOST_PARTS} MiB are taken.",
                "Leave tables or rows out, or hand it over without the platform.",
            )

    @classmethod
    def of(cls, record: Record, digest: str, *, parts: int) -> Offer:
        """What a folder's record says. Raises Conflict for one that names no leak report."""
        if record.leak_report is None or record.lot is None:
            raise Conflict(
                "leak_report", "the record names no leak report.", "Scramble it again with this version."
            )
        return cls(
            record=digest,
            leak_report=record.leak_report,
            method=record.method,
            made=record.made,
            agreement=record.agreement,
            parts=parts,
        )


class ScrambleState(StrEnum):
    WAITING = "waiting"  # for signatures
    SIGNED = "signed"  # its files may come
    ATTACHED = "attached"  # handed out to whoever takes the terms
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"

    @property
    def is_open(self) -> bool:
        return self in OPEN


OPEN = (ScrambleState.WAITING, ScrambleState.SIGNED, ScrambleState.ATTACHED)


@dataclass(frozen=True)
class Signature:
    """One reviewer's word. It cannot be changed."""

    signer: str
    signs: bool
    reason: str
    at: datetime


@dataclass(frozen=True)
class Scramble:
    """One folder that was offered for a version of a data set, and where it stands."""

    id: str
    dataset_id: str
    offered_by: str
    offered_at: datetime
    offer: Offer
    state: ScrambleState
    moved_at: datetime
    signatures: tuple[Signature, ...] = ()
    size: int | None = None  # bytes of the archive, once it is here

    @property
    def signers(self) -> tuple[str, ...]:
        return tuple(each.signer for each in self.signatures if each.signs)

    @property
    def expires(self) -> date:
        return self.offer.agreement.expires

    def is_over(self, today: date) -> bool:
        return self.expires < today

    @property
    def terms(self) -> tuple[str, ...]:
        """What everybody who downloads it takes upon themselves, by sentence."""
        agreement = self.offer.agreement
        return (
            "This is scrambled original data. It is not anonymous, and no formal guarantee covers it.",
            "I treat it as personal data: I keep it where only I can read it, and give it to nobody.",
            "I do not look for people in it, and do not join it with other data.",
            f"I delete it, with every copy, at the end of {agreement.expires.isoformat()}, and before that "
            "as soon as I hear that it was withdrawn.",
            f"It is handed out under: {agreement.agreement}. Who answers for it: {agreement.signed_by}. "
            f"Signed off by: {', '.join(self.signers) or 'nobody yet'}.",
        )

    @property
    def terms_digest(self) -> str:
        """By which somebody says which terms they take. Other sentences have another one."""
        return hashlib.sha256("\n".join(self.terms).encode()).hexdigest()


def missing_signatures(signers: Sequence[str], *, needed: int) -> int:
    """How many more reviewers have to sign. Nobody counts twice: of two, one is not who offered it."""
    return max(0, needed - len(set(signers)))
