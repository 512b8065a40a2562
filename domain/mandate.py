"""What a rights holder signs: under which policy and caps a worker zone may use one delivery of theirs.

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
from domain.policy import Policy
from domain.release import opened, statement
from privacy.cost import Currency

PREDICATE_TYPE = "urn:dpgate:predicate:mandate:v1"
SUFFIX = ".mandate"
Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
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


class CustodyKey(Model):
    """Beside a delivery: the public half of the key whose mandates hold for it, raw in base64."""

    key: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9+/]{43}=$")]


def declaration_digest(declaration: Declaration) -> str:
    """Of all that was declared but the policy, which changes, and a profile, which is kept nowhere."""
    content = declaration.model_dump(mode="json", exclude={"policy", "profile"})
    return hashlib.sha256(canonical(content)).hexdigest()


def mandate_in(envelope: dict[str, Any]) -> Mandate:
    """What an envelope holds. Checks no signature; raises ValueError or KeyError for anything else."""
    found = opened(envelope)
    if found["predicateType"] != PREDICATE_TYPE:
        raise ValueError("this envelope holds no mandate")
    return Mandate.model_validate_json(canonical(found["predicate"]))
