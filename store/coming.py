"""What is to come at public times: releases that are near, for which other work is left for later, and the
slots that jobs hold until they are due."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.dataset import Dataset
from domain.job import Job
from domain.states import JobState, is_terminal
from store import datasets
from store import jobs as on_record
from store.clock import APART_S, TOGETHER_S
from store.spoilt import UNREADABLE
from store.tables import chunks, jobs


def next_release(connection: sa.Connection, *, now: datetime, within_s: float) -> datetime | None:
    """The last of those times, from now on and no further away."""
    near = jobs.c.publish_at.between(now, now + timedelta(seconds=within_s))
    query = sa.select(sa.func.max(jobs.c.publish_at)).where(jobs.c.state == JobState.RUNNING, near)
    found: datetime | None = connection.execute(query).scalar_one()
    return found


def holding_slots(connection: sa.Connection, *, now: datetime) -> list[tuple[Job, Dataset]]:
    """The jobs that have slots until they are due, with their data sets, in the order in which they were
    charged. One that ended as ERRORED is among them: why it ended can depend on data, which must move
    nobody's time."""
    failed = sa.and_(jobs.c.state == JobState.ERRORED, jobs.c.due_at > now, ~_is_to_come(now))
    query = sa.select(jobs.c.id).where(sa.or_(jobs.c.state == JobState.RUNNING, failed))
    query = query.where(jobs.c.charged_at.is_not(None)).order_by(jobs.c.charged_at, jobs.c.id)
    return _read(connection, query)


def with_runs_left(connection: sa.Connection, *, now: datetime) -> list[tuple[Job, Dataset]]:
    """The jobs whose runs a host makes now, or has promised to make until they are due, with their data sets.
    One that is late and waits has no promise left: what it waits for may never come."""
    left = sa.select(chunks.c.job_id).where(chunks.c.job_id == jobs.c.id)
    is_at_work = sa.exists(left.where(chunks.c.state == "CLAIMED"))
    is_to_be_made = sa.and_(jobs.c.due_at > now, sa.exists(left.where(chunks.c.state == "WAITING")))
    running = sa.and_(jobs.c.state == JobState.RUNNING, is_at_work | is_to_be_made)
    query = sa.select(jobs.c.id).where(running | (jobs.c.state == JobState.PREPARING))
    return _read(connection, query)


def _read(connection: sa.Connection, query: sa.Select[Any]) -> list[tuple[Job, Dataset]]:
    """All that can be read: a spoilt row stops no other job, and no worker goes on with its own."""
    found = []
    for job_id in connection.execute(query).scalars().all():
        with suppress(*UNREADABLE):
            job = on_record.get(connection, job_id)
            found.append((job, datasets.of_job(connection, job)))
    return found


def may_be_earlier(connection: sa.Connection, *, now: datetime) -> bool:
    """Whether somebody has cancelled a job that others may have been told to wait for, or a wrong clock has
    charged one."""
    cancelled = sa.and_(jobs.c.state == JobState.CANCELLED, jobs.c.due_at > now)
    ahead = sa.and_(jobs.c.state == JobState.RUNNING, _is_to_come(now))
    found = sa.select(jobs.c.id).where(sa.or_(cancelled, ahead)).limit(1)
    return connection.execute(found).first() is not None


def count_from_now(connection: sa.Connection, *, now: datetime, for_s: float) -> None:
    """What open jobs have on record as still to come: a clock was ahead when it was written. Whoever waits
    until so many seconds after it waits from now on; nobody, where `is_over` takes it for wrong."""
    last = now + timedelta(seconds=max(for_s, APART_S))
    is_open = jobs.c.state.in_([state for state in JobState if not is_terminal(state)])
    for column in (jobs.c.moved_at, jobs.c.nudged_at):
        ahead = sa.and_(is_open, column.between(now + timedelta(seconds=TOGETHER_S), last))
        if connection.execute(sa.select(jobs.c.id).where(ahead).limit(1)).first() is not None:
            connection.execute(sa.update(jobs).where(ahead).values({column: now}))


def not_held(connection: sa.Connection, job_ids: Sequence[str]) -> list[str]:
    """Those of the jobs whose row nobody holds, in their order; the caller's until its transaction ends."""
    mine = (
        sa.select(jobs.c.id).where(jobs.c.id.in_(job_ids)).with_for_update(skip_locked=True, key_share=True)
    )
    free = set(connection.execute(mine).scalars())
    return [job_id for job_id in job_ids if job_id in free]


def _is_to_come(now: datetime) -> sa.ColumnElement[bool]:
    """Charged before a clock was set back."""
    return jobs.c.charged_at > now + timedelta(seconds=APART_S)


def move_due(connection: sa.Connection, job: Job, due_at: datetime) -> bool:
    """Of a job that runs, to an earlier time; a release that waits for its time in time goes with it."""
    if job.state is not JobState.RUNNING or job.due_at is None or due_at >= job.due_at:
        return False
    connection.execute(
        sa.update(jobs)
        .where(jobs.c.id == job.id)
        .values(
            due_at=due_at,
            publish_at=sa.case((jobs.c.publish_at == job.due_at, due_at), else_=jobs.c.publish_at),
        )
    )
    return True
