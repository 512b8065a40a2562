"""What an approver signs: that a person may have this very job run on a rights holder's data.

An in-toto Statement v1 in a DSSE envelope, Ed25519, as mandates are. Whose keys count says the mandate.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Any

from pydantic import Field

from domain.job import AnyRequest, JobId
from domain.mandate import Digest
from domain.model import Model, Slug, Whole, canonical
from domain.release import opened, statement

PREDICATE_TYPE = "urn:dpgate:predicate:job-approval:v1"
APPROVAL_SUFFIX = ".approval"


class JobApproval(Model):
    """`request` is the digest of all that the job asks, with its code: it holds for nothing else."""

    dataset: Slug
    version: Annotated[Whole, Field(ge=1)]
    job: JobId
    author: Slug
    request: Digest

    @property
    def digest(self) -> str:
        return hashlib.sha256(canonical(self.model_dump(mode="json"))).hexdigest()

    def as_statement(self) -> dict[str, Any]:
        """Its subject is the request that it is about."""
        return statement(
            subjects={"request": self.request},
            predicate=self.model_dump(mode="json"),
            predicate_type=PREDICATE_TYPE,
        )


def request_digest(request: AnyRequest) -> str:
    return hashlib.sha256(canonical(request.model_dump(mode="json"))).hexdigest()


def approval_in(envelope: dict[str, Any]) -> JobApproval:
    """What an envelope holds. Checks no signature; raises ValueError or KeyError for anything else."""
    found = opened(envelope)
    if found["predicateType"] != PREDICATE_TYPE:
        raise ValueError("this envelope holds no approval")
    return JobApproval.model_validate_json(canonical(found["predicate"]))
