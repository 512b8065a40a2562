"""Scrambled twins as the interface shows them. Digests that a signer must bring are shown to nobody."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import BaseModel, Field

from domain.scrambled import LABEL, Method, ScrambleState
from store.scrambled_files import Seen


class SignatureView(BaseModel):
    """What one reviewer said."""

    signer: str
    signs: bool
    reason: str
    at: datetime


class TakerView(BaseModel):
    """Somebody who agreed to its terms and downloaded it."""

    name: str
    first_at: datetime


class ScrambleView(BaseModel):
    """A scrambled twin: real values in mixed order, outside every guarantee."""

    id: str
    state: ScrambleState
    label: str
    guarantee: Literal["none"] = Field("none", description="No class covers it")
    is_of_newest_version: bool
    method: Method
    made: date
    expires: date = Field(description="The last day on which it may be used")
    signed_by: str = Field(description="Who answers for handing it out")
    agreement: str
    offered_by: str
    offered_at: datetime
    signatures: list[SignatureView]
    signatures_missing: int = Field(description="By the policy in effect")
    size: int | None = Field(description="Of its archive in bytes, once it is here")
    parts: int = Field(description="Of its archive, each of 1 MiB but the last")
    terms: list[str] = Field(description="What everybody who downloads it takes upon themselves")
    terms_digest: str = Field(description="Sent with a download: these terms, and no others")
    record: str | None = Field(description="SHA-256 of the folder's scramble.json, for reviewers")
    takers: list[TakerView] = Field(description="For reviewers: who has to delete it")

    @classmethod
    def of(cls, seen: Seen) -> ScrambleView:
        found, offer = seen.scramble, seen.scramble.offer
        return cls(
            id=found.id,
            state=found.state,
            label=LABEL,
            is_of_newest_version=seen.is_of_newest_version,
            method=offer.method,
            made=offer.made,
            expires=offer.agreement.expires,
            signed_by=offer.agreement.signed_by,
            agreement=offer.agreement.agreement,
            offered_by=found.offered_by,
            offered_at=found.offered_at,
            # a reason may say what the leak report says
            signatures=[
                SignatureView(
                    signer=one.signer,
                    signs=one.signs,
                    reason=one.reason if seen.is_reviewer else "",
                    at=one.at,
                )
                for one in found.signatures
            ],
            signatures_missing=seen.missing,
            size=found.size,
            parts=offer.parts,
            terms=list(found.terms),
            terms_digest=found.terms_digest,
            record=offer.record if seen.is_reviewer else None,
            takers=[TakerView(name=name, first_at=at) for name, at in seen.takers],
        )
