"""What does not move, found in states, times and leases on record. What runs do is nowhere in it: the time of
a lease is the longest that a healthy worker can take, from public values, or follows its last sign of life.
Rehearsals run on twins, which have seen no data: when they begin and end is no secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.dataset import DatasetState
from domain.errors import Conflict
from domain.job import Reason
from domain.operation import STUCK_AFTER, Stuck, StuckKind
from domain.rehearsal import RehearsalState
from domain.states import JobState
from store import audit, jobs
from store.rehearsal_tables import rehearsals
from store.tables import chunks, datasets
from store.tables import jobs as job_rows

# a second press of the button within this time finds the message on its way
SENT_JUST_NOW_S = 10
MOST = 100


def stuck(connection: sa.Connection, *, now: datetime) -> list[Stuck]:
    """Everything that is stuck, the longest first, a job under its first kind only; at most a hundred."""
    found: dict[tuple[sa.Column[Any], str], Stuck] = {}
    for kind in StuckKind:
        for row in connection.execute(_query(kind, now - STUCK_AFTER[kind]).limit(MOST)):
            # people choose the ids of jobs and of rehearsals, and may choose one for both
            one = Stuck(kind, row.subject, row.name, row.since, kind.sentence)
            found.setdefault((_subject(kind), row.subject), one)
    first = sorted(found.values(), key=lambda one: one.since)[:MOST]
    reasons = _reasons(connection, [one.subject for one in first if _subject(one.kind) is job_rows.c.id])
    return [_with_reason(one, reasons) for one in first]


def mend(connection: sa.Connection, *, kind: StuckKind, subject: str, by: str, now: datetime) -> bool:
    """Note that an operator has it taken up again. False: that was just done. Raises Conflict when it moves.

    The message itself is the caller's to send, after this transaction.
    """
    query = _query(kind, now - STUCK_AFTER[kind])
    if connection.execute(query.where(_subject(kind) == subject)).first() is None:
        raise Conflict("subject", f"{subject} is not stuck (any more).", "Look at the page again.")
    if kind is StuckKind.QUEUED and not jobs.nudge(connection, subject, now=now, not_since_s=SENT_JUST_NOW_S):
        return False
    audit.append(connection, at=now, actor=by, action="operation.mend", subject=subject, kind=kind)
    return True


def _reasons(connection: sa.Connection, job_ids: list[str]) -> dict[str, Reason]:
    """What workers put on record of jobs that wait, as that another platform has the host."""
    query = sa.select(job_rows.c.id, job_rows.c.reason).where(job_rows.c.reason.is_not(None))
    return {row.id: Reason[row.reason] for row in connection.execute(query.where(job_rows.c.id.in_(job_ids)))}


def _with_reason(one: Stuck, reasons: Mapping[str, Reason]) -> Stuck:
    if _subject(one.kind) is not job_rows.c.id or (reason := reasons.get(one.subject)) is None:
        return one
    return replace(one, sentence=f"A job waits: {reason}.")


def _subject(kind: StuckKind) -> sa.Column[Any]:
    return {StuckKind.IMPORT: datasets.c.id, StuckKind.REHEARSAL: rehearsals.c.id}.get(kind, job_rows.c.id)


def _query(kind: StuckKind, before: datetime) -> sa.Select[Any]:
    """Rows of subject, name and since; those that have been so since before that moment."""
    if kind is StuckKind.IMPORT:
        query = sa.select(
            datasets.c.id.label("subject"), datasets.c.name, datasets.c.created_at.label("since")
        )
        late = datasets.c.created_at <= before
        return query.where(datasets.c.state == DatasetState.IMPORTING, late).order_by(sa.text("since"))
    if kind is StuckKind.LEASE:
        return _expired(before)
    if kind is StuckKind.REHEARSAL:
        return _unrehearsed(before)
    state, moment = {
        StuckKind.QUEUED: ((JobState.QUEUED,), job_rows.c.moved_at),
        StuckKind.PREPARING: ((JobState.PREPARING,), job_rows.c.moved_at),
        StuckKind.OVERDUE: ((JobState.RUNNING, JobState.AGGREGATING), job_rows.c.due_at),
    }[kind]
    query = sa.select(job_rows.c.id.label("subject"), job_rows.c.id.label("name"), moment.label("since"))
    return query.where(job_rows.c.state.in_(state), moment <= before).order_by(sa.text("since"))


def _expired(before: datetime) -> sa.Select[Any]:
    """Jobs of which a dead worker still holds a part."""
    since = sa.func.min(chunks.c.lease_until, type_=chunks.c.lease_until.type).label("since")
    return (
        sa.select(job_rows.c.id.label("subject"), job_rows.c.id.label("name"), since)
        .join(chunks, chunks.c.job_id == job_rows.c.id)
        .where(
            job_rows.c.state == JobState.RUNNING, chunks.c.state == "CLAIMED", chunks.c.lease_until <= before
        )
        .group_by(job_rows.c.id)
        .order_by(since)
    )


def _unrehearsed(before: datetime) -> sa.Select[Any]:
    """Rehearsals that wait for so long, and running ones whose worker has said nothing for so long."""
    runs = rehearsals.c.state == RehearsalState.RUNNING
    since = sa.case((runs, rehearsals.c.due_at), else_=rehearsals.c.moved_at)
    return (
        sa.select(rehearsals.c.id.label("subject"), rehearsals.c.id.label("name"), since.label("since"))
        .where(rehearsals.c.state.in_((RehearsalState.QUEUED, RehearsalState.RUNNING)), since <= before)
        .order_by(sa.text("since"))
    )
