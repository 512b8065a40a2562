"""Notices: what was sent to oneself, and what the operator sees of it all."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel, Field

from desk.rights import needs
from domain.model import Model
from domain.notice import Channel, NoticeKind, NoticeState, SendProblem
from domain.permissions import Permission, User
from store import audit, notices
from store.database import Database
from store.notices import Sending


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
    def of(cls, sending: Sending) -> NoticeView:
        notice, problem = sending.notice, sending.problem
        return cls(
            id=notice.id,
            kind=notice.kind,
            subject=notice.subject,
            sentence=notice.sentence,
            path=notice.path,
            at=notice.at,
            channel=sending.channel,
            webhook_id=sending.webhook_id,
            state=sending.state,
            attempts=sending.attempts,
            next_at=sending.next_at if sending.state is NoticeState.WAITING else None,
            problem=problem,
            problem_sentence=problem.sentence if problem else "",
        )


class NoticeStanding(BaseModel):
    """How many deliveries of one sort there are."""

    channel: Channel
    kind: NoticeKind
    state: NoticeState
    problem: SendProblem | None
    count: int


class Retried(BaseModel):
    retried: int


@needs(Permission.NOTICES_READ)
def list_notices(database: Database, user: User) -> list[NoticeView]:
    with database.reading() as connection:
        return [NoticeView.of(sending) for sending in notices.of_user(connection, user.name)]


@needs(Permission.CHANNELS_OWN)
def retry_notice(database: Database, user: User, notice_id: str) -> NoticeView:
    with database.transaction() as connection:
        notices.retry(connection, user.name, notice_id, datetime.now(UTC))
        return NoticeView.of(notices.get(connection, user.name, notice_id))


@needs(Permission.OPERATION_READ)
def notice_standing(database: Database, _user: User) -> list[NoticeStanding]:
    with database.reading() as connection:
        return [NoticeStanding(**vars(standing)) for standing in notices.standing(connection)]


@needs(Permission.OPERATION_CHANGE)
def retry_notices(database: Database, user: User, which: Retry) -> Retried:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        count = notices.retry_all(
            connection, channel=which.channel, kind=which.kind, problem=which.problem, now=now
        )
        audit.append(
            connection, at=now, actor=user.name, action="notice.retry", subject="notices", count=count
        )
    return Retried(retried=count)
