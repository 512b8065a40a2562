"""Notices to people: an outbox that is written in the transaction of what happened."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.errors import Conflict, NotFound, TooMany
from domain.notice import (
    ABOUT_CHANNELS,
    Channel,
    Notice,
    NoticeKind,
    NoticeState,
    SendProblem,
    check_facts,
    check_subject,
)
from store import channels
from store.notice_tables import notices
from store.spoilt import readable, reads

MOST_SHOWN = 100
# of those about a channel, which people cause at will: somebody else may read the mail at that address
MOST_A_DAY = {NoticeKind.CONFIRMATION: 5, NoticeKind.TEST: 20}
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Sending:
    """A notice on its way to one channel of one person."""

    notice: Notice
    name: str
    channel: Channel
    webhook_id: str | None
    state: NoticeState
    attempts: int
    next_at: datetime
    problem: SendProblem | None


@dataclass(frozen=True)
class Standing:
    """How many sendings of one sort there are."""

    channel: Channel
    kind: NoticeKind
    state: NoticeState
    problem: SendProblem | None
    count: int


def tell(
    connection: sa.Connection,
    *,
    kind: NoticeKind,
    subject: str,
    to: Iterable[str],
    now: datetime,
    by: str | None = None,
    **facts: str | int,
) -> int:
    """Put one row for each channel of each addressee into the outbox; how many that makes.

    `subject` is the id or name of what it is about (a job, a data set, a project), `by` whose action it was:
    nobody is told about their own. Facts are public ids, names and states (`domain.notice.FACTS`). Raises
    ValueError for any other fact or subject.
    """
    check_subject(subject)
    checked = check_facts(facts)
    if kind in ABOUT_CHANNELS:
        raise ValueError(f"{kind} is about one channel")
    rows = [
        _row(name, channel, webhook_id, kind, subject, checked, now)
        for name, channel, webhook_id in channels.reach(connection, set(to) - {by}, kind)
    ]
    if rows:
        connection.execute(sa.insert(notices), rows)
    return len(rows)


def tell_channel(
    connection: sa.Connection,
    *,
    kind: NoticeKind,
    name: str,
    channel: Channel,
    webhook_id: str | None = None,
    now: datetime,
) -> str:
    """A notice about a channel to that channel; its id. Raises TooMany after a few on one day."""
    made = sa.select(sa.func.count(), sa.func.min(notices.c.at)).where(
        notices.c.name == name, notices.c.kind == kind, notices.c.at > now - _DAY
    )
    count, first = connection.execute(made).one()
    if count >= MOST_A_DAY[kind]:
        wait_s = max(1, int((first + _DAY - now).total_seconds()))
        raise TooMany(
            "channel", f"{count} were sent within a day.", "Try again tomorrow.", retry_after_s=wait_s
        )
    row = _row(name, channel, webhook_id, kind, name, {}, now)
    connection.execute(sa.insert(notices).values(row))
    return str(row["id"])


def of_user(connection: sa.Connection, name: str, *, limit: int = MOST_SHOWN) -> list[Sending]:
    """What was or is to be sent to this user, newest first."""
    query = sa.select(notices).where(notices.c.name == name)
    return readable(sending_of, connection.execute(query.order_by(*_NEWEST).limit(limit)))


def get(connection: sa.Connection, name: str, notice_id: str) -> Sending:
    """One of this user's own. Raises NotFound."""
    query = sa.select(notices).where(notices.c.id == notice_id, notices.c.name == name)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound("notice", "you have no such notice.", "See `dpgate notice list`.")
    return sending_of(row)


def retry(connection: sa.Connection, name: str, notice_id: str, now: datetime) -> None:
    """Try one of one's own again from the beginning. Raises NotFound, or Conflict when it is not dead."""
    found = get(connection, name, notice_id)
    if not _revive(connection, notices.c.id == notice_id, now=now):
        raise Conflict("notice", f"it is {found.state}.", "Only what is DEAD is tried again.")


def retry_all(
    connection: sa.Connection,
    *,
    channel: Channel | None = None,
    kind: NoticeKind | None = None,
    problem: SendProblem | None = None,
    now: datetime,
) -> int:
    """Try everything dead of this sort again, for the operator; how many."""
    wanted: dict[sa.Column[Any], Any] = {
        notices.c.channel: channel, notices.c.kind: kind, notices.c.problem: problem,
    }  # fmt: skip
    chosen = [column == value for column, value in wanted.items() if value is not None]
    return _revive(connection, *chosen, now=now)


def standing(connection: sa.Connection) -> list[Standing]:
    """Counts, without a word about whose they are."""
    sorts = (notices.c.channel, notices.c.kind, notices.c.state, notices.c.problem)
    query = sa.select(*sorts, sa.func.count().label("total")).group_by(*sorts).order_by(*sorts[:3])
    return [
        Standing(Channel(row.channel), NoticeKind(row.kind), NoticeState(row.state), _problem(row), row.total)
        for row in connection.execute(query)
    ]


@reads("notice")
def sending_of(row: sa.Row[Any]) -> Sending:
    notice = Notice(row.id, NoticeKind(row.kind), row.subject, row.at, dict(row.facts))
    return Sending(
        notice,
        row.name,
        Channel(row.channel),
        row.webhook_id,
        NoticeState(row.state),
        row.attempts,
        row.next_at,
        _problem(row),
    )


_NEWEST = (notices.c.at.desc(), notices.c.id)


def _problem(row: sa.Row[Any]) -> SendProblem | None:
    return SendProblem(row.problem) if row.problem else None


def _revive(connection: sa.Connection, *which: sa.ColumnElement[bool], now: datetime) -> int:
    changed = connection.execute(
        sa.update(notices)
        .where(notices.c.state == NoticeState.DEAD, *which)
        .values(state=NoticeState.WAITING, attempts=0, next_at=now, problem=None, ended_at=None)
    )
    return int(changed.rowcount)


def _row(
    name: str,
    channel: Channel,
    webhook_id: str | None,
    kind: NoticeKind,
    subject: str,
    facts: Mapping[str, str | int],
    now: datetime,
) -> dict[str, Any]:
    at = now.replace(microsecond=0)
    return {
        "id": f"msg_{secrets.token_hex(12)}",
        "kind": kind,
        "subject": subject,
        "name": name,
        "channel": channel,
        "webhook_id": webhook_id,
        "facts": dict(facts),
        # no finer than somebody could see who reloads a page
        "at": at,
        "state": NoticeState.WAITING,
        "attempts": 0,
        "next_at": at,
    }
