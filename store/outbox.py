"""Who sends which notice next: claims with a lease, so that several gateways send each notice once.

An attempt is counted when it is claimed: a notice that kills its sender is not tried for ever.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa

from domain.notice import MOST_ATTEMPTS, NoticeState, SendProblem, next_attempt
from store.notice_tables import notices
from store.notices import Sending, sending_of
from store.spoilt import readable

# longer than any attempt takes: who has not finished by then is dead
LEASE = timedelta(minutes=5)
# the receiver of all mails is the mail server; no webhook has this id
MAIL = "mail"
SENT_KEPT, DEAD_KEPT = timedelta(days=30), timedelta(days=90)


@dataclass(frozen=True)
class Claimed:
    """A sending that is ours to try now."""

    sending: Sending
    claim: str


def has_due(connection: sa.Connection, now: datetime) -> bool:
    """Is there anything to send? Only reads."""
    return connection.execute(sa.select(notices.c.id).where(_is_due(now)).limit(1)).first() is not None


def claim(
    connection: sa.Connection, now: datetime, *, limit: int, but_not: Collection[str] = ()
) -> list[Claimed]:
    """Those that are due and nobody else's; compare-and-set for each of them.

    The longest waiting of each receiver first, then the second of each, and so on: one receiver's queue is
    nobody else's. Receivers in `but_not` are left for later.
    """
    receiver = sa.func.coalesce(notices.c.webhook_id, MAIL)
    order = (notices.c.next_at, notices.c.id)
    rank = sa.func.row_number().over(partition_by=receiver, order_by=order)
    query = sa.select(notices.c.id).where(_is_due(now), receiver.not_in(list(but_not)))
    query = query.order_by(rank, *order).limit(limit)
    found = (_claim_one(connection, id_, now) for id_ in connection.execute(query).scalars())
    return [claimed for claimed in found if claimed is not None]


def finish(
    connection: sa.Connection, claimed: Claimed, problem: SendProblem | None, now: datetime
) -> NoticeState | None:
    """SENT, or WAITING for the next attempt, or DEAD. None when the claim had ended: it is another's."""
    attempts = claimed.sending.attempts
    again = None if problem is SendProblem.NO_CHANNEL else next_attempt(attempts, now)
    state = NoticeState.SENT if problem is None else NoticeState.WAITING if again else NoticeState.DEAD
    changed = connection.execute(
        sa.update(notices)
        .where(notices.c.id == claimed.sending.notice.id, notices.c.claim == claimed.claim)
        .values(
            state=state,
            problem=problem,
            next_at=again or now,
            claim=None,
            claimed_until=None,
            ended_at=None if state is NoticeState.WAITING else now,
        )
    )
    return state if changed.rowcount == 1 else None


def forget_old(connection: sa.Connection, now: datetime) -> int:
    """Delete what was sent a month ago and what died three months ago; how many."""
    sent = sa.and_(notices.c.state == NoticeState.SENT, notices.c.ended_at < now - SENT_KEPT)
    dead = sa.and_(notices.c.state == NoticeState.DEAD, notices.c.ended_at < now - DEAD_KEPT)
    return int(connection.execute(sa.delete(notices).where(sa.or_(sent, dead))).rowcount)


def _claim_one(connection: sa.Connection, notice_id: str, now: datetime) -> Claimed | None:
    mine = str(uuid.uuid4())
    this = sa.and_(notices.c.id == notice_id, _is_due(now))
    worn_out = connection.execute(
        sa.update(notices)
        .where(this, notices.c.attempts >= MOST_ATTEMPTS)
        .values(
            state=NoticeState.DEAD,
            problem=SendProblem.INTERRUPTED,
            claim=None,
            claimed_until=None,
            ended_at=now,
        )
    )
    if worn_out.rowcount:
        return None
    changed = connection.execute(
        sa.update(notices)
        .where(this)
        .values(claim=mine, claimed_until=now + LEASE, attempts=notices.c.attempts + 1)
    )
    if changed.rowcount != 1:
        return None
    row = connection.execute(sa.select(notices).where(notices.c.id == notice_id)).one()
    sendings = readable(sending_of, [row])  # what cannot be read holds up no other, and was tried once more
    return Claimed(sendings[0], mine) if sendings else None


def _is_due(now: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(
        notices.c.state == NoticeState.WAITING,
        notices.c.next_at <= now,
        sa.or_(notices.c.claimed_until.is_(None), notices.c.claimed_until <= now),
    )
