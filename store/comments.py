"""What people write about a job: its author and the reviewers, and the reviewers among themselves."""

from __future__ import annotations

from datetime import datetime

import sqlalchemy as sa

from domain.errors import Conflict
from domain.job import Job
from domain.notice import NoticeKind
from domain.permissions import Role, User
from domain.refusals import jobs as refusals
from domain.review import MAX_COMMENTS, Comment, Thread, check_comment, check_thread_open
from store import audit, jobs, notices, reviewers
from store.review_tables import comments


def add(
    connection: sa.Connection, *, job_id: str, thread: Thread, user: User, text: str, now: datetime
) -> Comment:
    """Keep a comment. Raises NotFound for somebody who may not read the thread, Conflict when it is closed or
    full, InvalidRequest for a text that cannot be kept."""
    job_id = _readable(connection, job_id, thread, user).id
    # the state stays what it is until the comment is on record: a release cannot come in between
    job = jobs.get(connection, job_id, lock=True)
    check_thread_open(thread, job.state)
    plain = check_comment(text)
    if _count(connection, job.id, thread) >= MAX_COMMENTS:
        raise Conflict("text", f"a job has at most {MAX_COMMENTS} comments.", "Talk to each other.")
    values = {"job_id": job.id, "thread": thread, "author": user.name, "text": plain, "at": now}
    number = connection.execute(sa.insert(comments).values(values)).inserted_primary_key
    assert number is not None
    audit.append(connection, at=now, actor=user.name, action="job.comment", subject=job.id, thread=thread)
    to = reviewers.of(connection, job.request.dataset)
    notices.tell(
        connection,
        kind=NoticeKind.COMMENT,
        subject=job.id,
        to=to | {job.author} if thread is Thread.JOB else to,
        now=now,
        by=user.name,
        dataset=job.request.dataset,
    )
    return Comment(number[0], user.name, plain, now)


def listed(connection: sa.Connection, *, job_id: str, thread: Thread, user: User) -> list[Comment]:
    """The thread, oldest first. Raises NotFound for somebody who may not read it."""
    job = _readable(connection, job_id, thread, user)
    query = sa.select(comments).where(comments.c.job_id == job.id, comments.c.thread == thread)
    rows = connection.execute(query.order_by(comments.c.number))
    return [Comment(row.number, row.author, row.text, row.at) for row in rows]


def _readable(connection: sa.Connection, job_id: str, thread: Thread, user: User) -> Job:
    job = jobs.get_visible(connection, job_id, user)
    # operators see states, not what people say about data; a release's thread is the reviewers' alone
    may = user.role is Role.RIGHTS_HOLDER or (user.role is Role.DATA_USER and thread is Thread.JOB)
    if not may:
        raise refusals.NO_JOB()
    return job


def _count(connection: sa.Connection, job_id: str, thread: Thread) -> int:
    query = sa.select(sa.func.count()).select_from(comments)
    found: int = connection.execute(
        query.where(comments.c.job_id == job_id, comments.c.thread == thread)
    ).scalar_one()
    return found
