"""The audit trail: who did what, and does the chain hold?"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from desk.rights import needs
from domain.model import Model
from domain.permissions import Permission, Role, User
from store import audit, history
from store.database import Database

MOST_EVENTS = 10_000


PLAIN = r"^[^\x00-\x1f]*$"


"""No control characters: PostgreSQL takes no NUL."""


class AuditVerdict(BaseModel):
    """`head` is worth keeping elsewhere: with it, a later check also shows a tail that was cut off."""

    intact: bool
    events: int
    head: str
    broken_at: int | None


class EventView(BaseModel):
    """One event. `details` are public facts and ids; a reason is for the rights holder alone."""

    number: int
    at: datetime
    actor: str
    action: str
    subject: str
    details: dict[str, Any]
    hash: str


class WantedEvents(Model):
    """Which events: those that have all of it. `before` is the number of an event, for the next part."""

    action: Annotated[str, Field(max_length=80, pattern=PLAIN)] = ""
    actor: Annotated[str, Field(max_length=80, pattern=PLAIN)] = ""
    subject: Annotated[str, Field(max_length=80, pattern=PLAIN, description="A beginning")] = ""
    since: date | None = None
    before: Annotated[int, Field(ge=1, le=10**15)] | None = None
    limit: Annotated[int, Field(ge=1, le=MOST_EVENTS)] = 100


@needs(Permission.AUDIT_VERIFY)
def list_events(database: Database, user: User, wanted: WantedEvents) -> list[EventView]:
    """Operators read every event; rights holders those on data they own or review, and on their profiles."""
    asked = history.Wanted(**wanted.model_dump(exclude={"limit"}))
    with database.reading() as connection:
        own = history.concerning(connection, user) if user.role is Role.RIGHTS_HOLDER else None
        found = history.events(connection, asked, among=own, limit=wanted.limit)
    # a reason can say what a release says
    hidden = {"reason"} if user.role is Role.OPERATOR else set()
    return [
        EventView(**{**vars(event), "details": {k: v for k, v in event.details.items() if k not in hidden}})
        for event in found
    ]


@needs(Permission.AUDIT_VERIFY)
def verify_audit(database: Database, _user: User, expected_head: str | None = None) -> AuditVerdict:
    with database.reading() as connection:
        verdict = audit.verify(connection, expected_head=expected_head)
    return AuditVerdict(
        intact=verdict.intact, events=verdict.events, head=verdict.head, broken_at=verdict.broken_at
    )
