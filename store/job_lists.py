"""Jobs as lists: what somebody may see, what waits for them, what a data set has. Each has a fixed order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time

import sqlalchemy as sa

from domain.errors import InvalidRequest
from domain.job import Job, own_id
from domain.permissions import User
from domain.review import STAGES
from domain.states import JobState
from store import jobs, reviewers
from store.account_tables import identities
from store.review_tables import votes
from store.tables import datasets
from store.tables import jobs as rows

NEWEST_FIRST = (rows.c.created_at.desc(), rows.c.id.desc())


@dataclass(frozen=True)
class WantedJobs:
    """Which jobs: those that have all of it. `before` is the id of a job, for those that are older."""

    states: tuple[JobState, ...] = ()
    dataset: str = ""
    since: date | None = None
    before: str = ""


def visible_to(
    connection: sa.Connection, user: User, wanted: WantedJobs | None = None, *, limit: int = 200
) -> list[Job]:
    """The newest jobs that this user may see and wants. Raises InvalidRequest where `before` is none."""
    wanted = wanted or WantedJobs()
    fits = reviewers.jobs_seen_by(connection, user)
    if wanted.before:
        fits.append(_is_older(connection, user, wanted.before))
    if wanted.states:
        fits.append(rows.c.state.in_(wanted.states))
    if wanted.dataset:
        fits.append(datasets.c.name == wanted.dataset)
    if wanted.since is not None:
        fits.append(rows.c.created_at >= datetime.combine(wanted.since, time.min, UTC))
    return jobs.listed(connection, *fits, order=NEWEST_FIRST, limit=limit)


def waiting(connection: sa.Connection, user: User, *, has_voted: bool, limit: int) -> list[Job]:
    """So many of the jobs that wait for reviewers of whom this user is one, who has voted on them or has not,
    the longest waiting first."""
    fits = _waiting_for(connection, user, has_voted=has_voted)
    return jobs.listed(connection, *fits, order=(rows.c.moved_at, rows.c.id), limit=limit)


def count_waiting(connection: sa.Connection, user: User) -> int:
    """How many of them wait for this user's own vote. There may be any number: none of them is read."""
    beside = sa.select(sa.func.count()).join(datasets, rows.c.dataset_id == datasets.c.id)
    fits = _waiting_for(connection, user, has_voted=False)
    found: int = connection.execute(beside.select_from(rows).where(*fits)).scalar_one()
    return found


def _waiting_for(connection: sa.Connection, user: User, *, has_voted: bool) -> list[sa.ColumnElement[bool]]:
    stages = sa.case(STAGES, value=rows.c.state)
    own = sa.exists().where(
        votes.c.subject == rows.c.id, votes.c.stage == stages, votes.c.reviewer == user.name
    )
    return [
        rows.c.state.in_(STAGES),
        datasets.c.name.in_(reviewers.reviewed_by(connection, user)),
        own if has_voted else ~own,
    ]


def on_dataset(connection: sa.Connection, name: str, *, limit: int) -> list[Job]:
    """So many of the jobs of a data set, over all its versions, newest first."""
    return jobs.listed(connection, datasets.c.name == name, order=NEWEST_FIRST, limit=limit)


def _is_older(connection: sa.Connection, user: User, job_id: str) -> sa.ColumnElement[bool]:
    """Than this job in the order of the list. The same words for an id that is absent or somebody else's."""
    query = (
        sa.select(rows.c.created_at, rows.c.id)
        .join(datasets, rows.c.dataset_id == datasets.c.id)
        .where(rows.c.id.in_((job_id, own_id(user.name, job_id))), *reviewers.jobs_seen_by(connection, user))
    )
    last = connection.execute(query).first()
    if last is None:
        raise InvalidRequest(
            "before", "there is no such job.", "Take the id of the last job of the part before this one."
        )
    return sa.tuple_(rows.c.created_at, rows.c.id) < sa.tuple_(
        sa.literal(last.created_at, rows.c.created_at.type), last.id
    )


def has_acted(connection: sa.Connection, service: str, *, issuer: str) -> bool:
    """Whether a service ever submitted a job for somebody whom this provider knows."""
    people = sa.select(identities.c.name).where(identities.c.issuer == issuer)
    found = sa.select(rows.c.id).where(rows.c.through == service, rows.c.author.in_(people))
    return connection.execute(found.limit(1)).first() is not None
