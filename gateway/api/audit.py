"""The audit trail: does the chain hold?"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel

from domain.permissions import Permission, User
from gateway.access import TheDatabase, requires
from gateway.problems import RESPONSES
from store import audit

router = APIRouter(prefix="/audit", tags=["audit"], responses=RESPONSES)


class AuditVerdict(BaseModel):
    """`head` is worth keeping elsewhere: with it, a later check also shows a tail that was cut off."""

    intact: bool
    events: int
    head: str
    broken_at: int | None


@router.get("/verification", summary="Walk the hash chain")
def verify_audit(
    _user: Annotated[User, Depends(requires(Permission.AUDIT_VERIFY))],
    database: TheDatabase,
    expected_head: str | None = None,
) -> AuditVerdict:
    with database.reading() as connection:
        verdict = audit.verify(connection, expected_head=expected_head)
    return AuditVerdict(
        intact=verdict.intact, events=verdict.events, head=verdict.head, broken_at=verdict.broken_at
    )
