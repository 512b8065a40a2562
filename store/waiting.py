"""What waits for a reviewer, and what they voted on lately: jobs, releases and twins in one list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import partial

import sqlalchemy as sa

from domain.dataset import Dataset
from domain.job import Job
from domain.permissions import User
from domain.review import MAX_WAITING, STAGES, Stage, Tally
from domain.scrambled import Scramble
from store import datasets, grants, job_lists, jobs, reviewers, reviews, scrambled, twin_reviews, twins
from store.spoilt import all_but_spoilt
from store.tables import datasets as dataset_rows
from store.tables import jobs as job_rows


@dataclass(frozen=True)
class Waiting:
    """One decision that is not taken. `subject` is a job's id or a data set's name."""

    stage: Stage
    subject: str
    dataset: str
    version: int
    title: str
    author: str | None
    since: datetime
    tally: Tally
    has_voted: bool


@dataclass(frozen=True)
class Decided:
    """Something that this user voted on. `tally` holds the votes when the review has ended."""

    stage: Stage
    subject: str
    title: str
    at: datetime
    tally: Tally


def of(connection: sa.Connection, user: User) -> list[Waiting]:
    """What waits for reviewers of whom this user is one, the longest waiting first; of jobs that have this
    user's vote, and of those that have not, MAX_WAITING."""
    found = [
        each
        for has_voted in (False, True)
        for each in _jobs(
            connection,
            job_lists.waiting(connection, user, has_voted=has_voted, limit=MAX_WAITING),
            has_voted=has_voted,
        )
    ]
    return sorted([*found, *_twins(connection, user)], key=lambda each: (each.since, each.subject))


def count(connection: sa.Connection, user: User) -> int:
    """How many decisions wait for this user: own votes, and projects that ask for their data sets. Each page
    shows it."""
    twins_waiting = sum(not each.has_voted for each in _twins(connection, user))
    asks = len(grants.waiting_asks(connection, user))
    return job_lists.count_waiting(connection, user) + twins_waiting + asks


def decided(connection: sa.Connection, user: User, *, limit: int) -> list[Decided]:
    """What this user voted on, the newest first; of data sets that they still review."""
    given = reviews.given_by(connection, user, limit=limit)
    found = all_but_spoilt(partial(_decided, connection, *vote) for vote in given)
    mine = reviewers.reviewed_by(connection, user)
    return [each for dataset, each in found if dataset in mine]


def _decided(connection: sa.Connection, subject: str, stage: Stage, at: datetime) -> tuple[str, Decided]:
    """Beside the name of the data set."""
    if stage is Stage.TWIN and (counts := twins.find(connection, subject)) is not None:
        title, name = counts.request.title, counts.request.dataset
        tally, shown = counts.tally, name
    elif stage is Stage.TWIN:
        dataset = datasets.get(connection, subject)
        title, name = f"twin of {dataset.name}, version {dataset.version}", dataset.name
        tally = twin_reviews.of(connection, dataset).tally
        shown = dataset.name
    else:
        job = jobs.get(connection, subject)
        title, name, shown = job.request.title, job.request.dataset, job.id
        tally = reviews.of_job(connection, job, stage)
    return name, Decided(stage, shown, title, at, tally)


def _jobs(connection: sa.Connection, found: list[Job], *, has_voted: bool) -> list[Waiting]:
    """With as many questions to the database as one job takes."""
    query = sa.select(job_rows.c.id, job_rows.c.moved_at).where(job_rows.c.id.in_([job.id for job in found]))
    since = {row.id: row.moved_at for row in connection.execute(query)}
    beside = datasets.of_jobs(connection, found)
    needed = {(job.id, STAGES[job.state]): dataset.declaration.policy.votes for job, dataset in beside}
    tallies = reviews.tallies(connection, needed)
    return [
        Waiting(
            stage=STAGES[job.state],
            subject=job.id,
            dataset=dataset.name,
            version=dataset.version,
            title=job.request.title,
            author=job.author,
            since=since[job.id],
            tally=tallies[job.id, STAGES[job.state]],
            has_voted=has_voted,
        )
        for job, dataset in beside
    ]


def _twins(connection: sa.Connection, user: User) -> list[Waiting]:
    """Of a version there is one at a time, so there are few."""
    reviewed = datasets.reviewed_by(connection, user)
    found = [_twin(connection, dataset, user) for dataset in twin_reviews.waiting(connection, reviewed)]
    counted = twins.waiting(connection, reviewed)
    found += all_but_spoilt(partial(_counts, connection, counts, user) for counts in counted)
    return found + _scrambles(connection, user)


def _counts(connection: sa.Connection, counts: twins.Counts, user: User) -> Waiting:
    dataset = datasets.of_job(connection, counts.job)
    query = sa.select(job_rows.c.moved_at).where(job_rows.c.id == counts.job.id)
    return Waiting(
        stage=Stage.TWIN,
        subject=dataset.name,
        dataset=dataset.name,
        version=dataset.version,
        title=f"{dataset.declaration.title}, from released counts",
        author=None,
        since=connection.execute(query).scalar_one(),
        tally=counts.tally,
        has_voted=reviews.has_voted(connection, user, subject=counts.job.id, stage=Stage.TWIN),
    )


def _scrambles(connection: sa.Connection, user: User) -> list[Waiting]:
    """Scrambled twins that wait for signatures: who signed is no secret, unlike a vote."""
    if not (waiting := scrambled.all_waiting(connection)):
        return []
    mine = reviewers.reviewed_by(connection, user)
    found = all_but_spoilt(partial(_beside, connection, one) for one in waiting)
    return [
        Waiting(
            stage=Stage.TWIN,
            subject=dataset.name,
            dataset=dataset.name,
            version=dataset.version,
            title=f"{dataset.declaration.title}: scrambled original data, not anonymous",
            author=None,
            since=one.offered_at,
            tally=Tally(dataset.declaration.policy.votes, len(one.signatures)),
            has_voted=user.name in one.signers,
        )
        for dataset, one in found
        if dataset.name in mine
    ]


def _beside(connection: sa.Connection, one: Scramble) -> tuple[Dataset, Scramble]:
    return datasets.get(connection, one.dataset_id), one


def _twin(connection: sa.Connection, dataset: Dataset, user: User) -> Waiting:
    query = sa.select(dataset_rows.c.created_at).where(dataset_rows.c.id == dataset.id)
    return Waiting(
        stage=Stage.TWIN,
        subject=dataset.name,
        dataset=dataset.name,
        version=dataset.version,
        title=dataset.declaration.title,
        author=None,
        since=connection.execute(query).scalar_one(),
        tally=twin_reviews.of(connection, dataset).tally,
        has_voted=reviews.has_voted(connection, user, subject=dataset.id, stage=Stage.TWIN),
    )
