"""Notices: what was sent to oneself, and what the operator sees of it all."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from domain.model import Model
from domain.notice import Channel, NoticeKind, NoticeState, SendProblem
from domain.permissions import Permission, User
from gateway.access import TheDatabase, requires
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, OurId
from store import audit, notices
from store.database import Database
from store.notices import Delivery

router = APIRouter(prefix=PREFIX, tags=["notices"], responses=RESPONSES)
Reader = Annotated[User, Depends(requires(Permission.NOTICES_READ))]
Owner = Annotated[User, Depends(requires(Permission.CHANNELS_OWN))]


class Retry(Model):
    """Which of the dead notices to try again; what is left out is not looked at."""

    channel: Channel | None = None
    kind: NoticeKind | None = None
    problem: SendProblem | None = None


class NoticeView(BaseModel):
    """One notice on its way to one channel of yours."""

    id: str
    kind: NoticeKind
    subject: str
    sentence: str
    path: str = Field(description="Where on the console to look")
    at: datetime
    channel: Channel
    webhook_id: str | None
    state: NoticeState
    attempts: int
    next_at: datetime | None = Field(description="When it is tried again, while it waits")
    problem: SendProblem | None
    problem_sentence: str

    @classmethod
    def of(cls, delivery: Delivery) -> NoticeView:
        notice, problem = delivery.notice, delivery.problem
        return cls(
            id=notice.id,
            kind=notice.kind,
            subject=notice.subject,
            sentence=notice.sentence,
            path=notice.path,
            at=notice.at,
            channel=delivery.channel,
            webhook_id=delivery.webhook_id,
            state=delivery.state,
            attempts=delivery.attempts,
            next_at=delivery.next_at if delivery.state is NoticeState.WAITING else None,
            problem=problem,
            problem_sentence=problem.sentence if problem else "",
        )


class StandingView(BaseModel):
    """How many deliveries of one sort there are."""

    channel: Channel
    kind: NoticeKind
    state: NoticeState
    problem: SendProblem | None
    count: int


class Retried(BaseModel):
    retried: int


@router.get("/notices", summary="What was sent to you, newest first")
def list_notices(user: Reader, database: TheDatabase) -> list[NoticeView]:
    with database.reading() as connection:
        return [NoticeView.of(delivery) for delivery in notices.of_user(connection, user.name)]


@router.post("/notices/{notice_id}/retry", summary="Try one of yours again that was given up")
def retry_notice(notice_id: OurId, user: Owner, database: TheDatabase) -> NoticeView:
    with database.transaction() as connection:
        notices.retry(connection, user.name, notice_id, datetime.now(UTC))
        return NoticeView.of(notices.get(connection, user.name, notice_id))


@router.get("/operation/notices", summary="How many notices wait, were sent, or were given up")
def notice_standing(
    _user: Annotated[User, Depends(requires(Permission.OPERATION_READ))], database: TheDatabase
) -> list[StandingView]:
    with database.reading() as connection:
        return [StandingView(**vars(standing)) for standing in notices.standing(connection)]


@router.post("/operation/notices/retry", summary="Try notices again that were given up")
def retry_notices(
    which: Retry,
    user: Annotated[User, Depends(requires(Permission.OPERATION_CHANGE))],
    database: TheDatabase,
) -> Retried:
    return Retried(retried=retry_dead(database, user, which, datetime.now(UTC)))


def retry_dead(database: Database, user: User, which: Retry, now: datetime) -> int:
    """Everything dead of this sort is due again, and the event says so; how many."""
    with database.transaction() as connection:
        count = notices.retry_all(
            connection, channel=which.channel, kind=which.kind, problem=which.problem, now=now
        )
        audit.append(
            connection, at=now, actor=user.name, action="notice.retry", subject="notices", count=count
        )
    return count
