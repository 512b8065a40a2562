"""Votes about jobs, releases and twins, and what follows when all of them are in.

Nothing here tells the direction of a vote before as many are in as the policy asks for: a `Tally` holds no
votes until then, and the audit trail says only that one came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.errors import Conflict
from domain.job import Job
from domain.permissions import User, check_independent
from domain.refusals.jobs import MOVED_ON
from domain.review import Stage, Tally, Vote, check_reason, outcome
from domain.states import Actor, JobState, transition
from store import audit, datasets, job_lists, jobs
from store.database import insert_once
from store.review_tables import votes

Review = tuple[str, Stage]
"""What it is about, a job or the version of a data set, and the stage."""


def vote_on_job(
    connection: sa.Connection,
    *,
    job_id: str,
    stage: Stage,
    user: User,
    approves: bool,
    reason: str,
    now: datetime,
) -> Tally:
    """Record one vote; with the last one that is needed the job moves, in the same transaction.

    Raises NotFound for somebody who does not review the data set, NotAllowed for the author, Conflict when
    nothing is left to decide or the user has voted, InvalidRequest for a refusal without a reason.
    """
    job_id = jobs.get_visible(connection, job_id, user).id
    # from here on two last votes wait for each other
    job = jobs.get(connection, job_id, lock=True)
    check_independent(user, author=job.author)
    transition(job.state, outcome(stage, approved=approves), Actor.RIGHTS_HOLDER)
    vote = Vote(stage, user.name, approves, check_reason(reason, needed=not approves), now)
    add(connection, subject=job.id, vote=vote)
    found = of_job(connection, job, stage)
    if found.is_complete:
        _end(connection, job, stage, found, by=user.name, now=now)
    else:
        note(connection, subject=job.id, vote=vote, tally=found)
    return found


def of_job(connection: sa.Connection, job: Job, stage: Stage) -> Tally:
    """How far this review of a job is, by the policy under which the job was submitted."""
    needed = datasets.of_job(connection, job).declaration.policy.votes
    return tally(connection, subject=job.id, stage=stage, needed=needed)


def tally(connection: sa.Connection, *, subject: str, stage: Stage, needed: int) -> Tally:
    """The votes, once as many are in as are needed; before that only how many there are."""
    return tallies(connection, {(subject, stage): needed})[subject, stage]


def tallies(connection: sa.Connection, needed: Mapping[Review, int]) -> dict[Review, Tally]:
    """The same of several reviews, with one question to the database."""
    query = sa.select(votes).where(votes.c.subject.in_({subject for subject, _ in needed}))
    found: dict[Review, list[Vote]] = {review: [] for review in needed}
    for row in connection.execute(query.order_by(votes.c.number)):
        found.get((row.subject, Stage(row.stage)), []).append(_vote(row))
    return {
        review: Tally(needed[review], len(cast), tuple(cast) if len(cast) >= needed[review] else ())
        for review, cast in found.items()
    }


def has_voted(connection: sa.Connection, user: User, *, subject: str, stage: Stage) -> bool:
    query = sa.select(votes.c.number).where(
        votes.c.subject == subject, votes.c.stage == stage, votes.c.reviewer == user.name
    )
    return connection.execute(query).first() is not None


def ended(connection: sa.Connection, job: Job) -> list[tuple[Stage, Tally]]:
    """The reviews of a job that have ended by votes, in order."""
    found = [(stage, of_job(connection, job, stage)) for stage in (Stage.APPROVAL, Stage.RELEASE)]
    return [(stage, each) for stage, each in found if each.votes]


def of_same_pipeline(
    connection: sa.Connection, job: Job, user: User
) -> list[tuple[Job, list[tuple[Stage, Tally]]]]:
    """The newest other jobs of the same code that this user may see, with what was decided about them."""
    digest = job.request.pipeline_digest
    return [
        (other, ended(connection, other))
        for other in job_lists.visible_to(connection, user)
        if digest is not None and other.id != job.id and other.request.pipeline_digest == digest
    ]


def refusals(connection: sa.Connection, job: Job) -> tuple[Vote, ...]:
    """Why a job was refused before it ran: for its author as well. Why a release was withheld is not."""
    if job.state is not JobState.REJECTED:
        return ()
    return of_job(connection, job, Stage.APPROVAL).refusals


def given_by(connection: sa.Connection, user: User, *, limit: int) -> list[tuple[str, Stage, datetime]]:
    """What this user voted on, the newest first: subject, stage and when."""
    query = sa.select(votes.c.subject, votes.c.stage, votes.c.at).where(votes.c.reviewer == user.name)
    rows = connection.execute(query.order_by(votes.c.number.desc()).limit(limit))
    return [(row.subject, Stage(row.stage), row.at) for row in rows]


def add(connection: sa.Connection, *, subject: str, vote: Vote) -> None:
    """Keep a vote. Raises Conflict for the second one of the same person."""
    values = {
        "subject": subject,
        "stage": vote.stage,
        "reviewer": vote.reviewer,
        "approves": vote.approves,
        "reason": vote.reason,
        "at": vote.at,
    }
    if not insert_once(connection, votes, values):
        raise Conflict("vote", "you have voted on this; a vote cannot be changed.", "Wait for the others.")


def note(connection: sa.Connection, *, subject: str, vote: Vote, tally: Tally) -> None:
    """That a vote came, for the audit trail: not what it says."""
    audit.append(
        connection,
        at=vote.at,
        actor=vote.reviewer,
        action="review.vote",
        subject=subject,
        stage=vote.stage,
        given=tally.given,
        needed=tally.needed,
    )


def record(
    connection: sa.Connection, *, subject: str, action: str, cast: Iterable[Vote], now: datetime, **more: Any
) -> None:
    """All votes of a review that has ended, each under its reviewer's name, for the audit trail."""
    for vote in cast:
        details = {"decision": vote.asks_for, "reason": vote.reason, **more}
        audit.append(connection, at=now, actor=vote.reviewer, action=action, subject=subject, **details)


def _end(connection: sa.Connection, job: Job, stage: Stage, found: Tally, *, by: str, now: datetime) -> None:
    after = outcome(stage, approved=found.approved)
    record(connection, subject=job.id, action="job.decide", cast=found.votes, now=now)
    if not jobs.move(connection, job.id, job.state, after, actor=Actor.RIGHTS_HOLDER, by=by, now=now):
        raise MOVED_ON()


def _vote(row: sa.Row[Any]) -> Vote:
    return Vote(Stage(row.stage), row.reviewer, row.approves, row.reason, row.at)
