"""What a rights holder signs: under which policy and caps a worker zone may use one delivery of theirs, and
that it is to be erased.

The delivery's number stands for its data: the zone alone knows which snapshot it made of it, and under which
declaration. A mandate is an in-toto Statement v1 in a DSSE envelope, Ed25519, as certificates are.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, Field, StringConstraints

from domain.dataset import Declaration
from domain.model import Model, Slug, Whole, canonical
from domain.policy import MAX_REVIEWERS, Policy
from domain.release import opened, statement
from privacy.cost import Currency

PREDICATE_TYPE = "urn:dpgate:predicate:mandate:v1"
ERASURE_TYPE = "urn:dpgate:predicate:erasure-order:v1"
SUFFIX = ".mandate"
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
PublicKey = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{43}=$")]
Delivery = Annotated[str, StringConstraints(pattern=r"^[0-9a-f-]{36}$")]


class Mandate(Model):
    """One statement of a rights holder. `caps` are in units of each currency, over everything about the same
    people; `sequence` counts from 1 and `previous` is the digest of the mandate before it, under the same key
    and name. The newest one alone is in force, until `not_after`."""

    dataset: Slug
    version: Annotated[Whole, Field(ge=1)]
    delivery: Delivery
    declaration: Digest
    policy: Policy
    caps: dict[Currency, Annotated[Whole, Field(ge=1, lt=2**62)]]
    cohort: Slug
    sequence: Annotated[Whole, Field(ge=1, lt=2**31)]
    previous: Digest | None
    not_after: AwareDatetime
    # whose signatures count, by name, where the policy asks for a person before a job; none: votes alone do
    approvers: Annotated[
        dict[Slug, PublicKey], Field(max_length=MAX_REVIEWERS + 1, exclude_if=lambda named: not named)
    ] = Field(default_factory=dict)

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical(self.model_dump(mode="json"))).hexdigest()

    def as_statement(self) -> dict[str, Any]:
        """Its subject is the declaration that it is about."""
        return statement(
            subjects={"declaration": self.declaration},
            predicate=self.model_dump(mode="json"),
            predicate_type=PREDICATE_TYPE,
        )

    def is_over(self, now: datetime) -> bool:
        return now > self.not_after


class ErasureOrder(Model):
    """A data set is to be erased, in all versions that were delivered before. It stands in the row of
    mandates, with a number of its own, and ends the one before it: nothing more is charged. One that is
    signed after it takes it back, as long as nobody has asked for the erasure."""

    dataset: Slug
    delivery: Delivery
    sequence: Annotated[Whole, Field(ge=1, lt=2**31)]
    previous: Digest

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical(self.model_dump(mode="json"))).hexdigest()

    def as_statement(self) -> dict[str, Any]:
        """Its subject is the mandate that it ends."""
        return statement(
            subjects={"mandate": self.previous},
            predicate=self.model_dump(mode="json"),
            predicate_type=ERASURE_TYPE,
        )


class CustodyKey(Model):
    """Beside a delivery: the public half of the key whose mandates hold for it, raw in base64."""

    key: PublicKey


def declaration_digest(declaration: Declaration) -> str:
    """Of all that was declared but the policy, which changes, and a profile, which is kept nowhere."""
    content = declaration.model_dump(mode="json", exclude={"policy", "profile"})
    return hashlib.sha256(canonical(content)).hexdigest()


def mandate_in(envelope: dict[str, Any]) -> Mandate:
    """What an envelope holds. Checks no signature; raises ValueError or KeyError for anything else."""
    found = signed_in(envelope)
    if not isinstance(found, Mandate):
        raise ValueError("this envelope holds no mandate")
    return found


def signed_in(envelope: dict[str, Any]) -> Mandate | ErasureOrder:
    """The same for either of both."""
    found = opened(envelope)
    kinds: dict[str, type[Mandate | ErasureOrder]] = {PREDICATE_TYPE: Mandate, ERASURE_TYPE: ErasureOrder}
    if (kind := kinds.get(found["predicateType"])) is None:
        raise ValueError("this envelope holds no mandate")
    return kind.model_validate_json(canonical(found["predicate"]))
