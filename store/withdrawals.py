"""The end of a data set for new work: its rights holder withdraws it, in one transaction.

Jobs that are not charged are cancelled, and their budget comes back; of those that are, the rights holder
says whether they end as they would, also by a review of their release, or are cancelled. What was spent stays
spent, and what was released stays where it is. A version that is registered later takes jobs again, from what
is left of the budget.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from domain.dataset import Dataset, DatasetState, ImportProblem
from domain.errors import Conflict, NotFound
from domain.notice import NoticeKind
from domain.permissions import User
from domain.scrambled import OPEN as OPEN_SCRAMBLES
from domain.scrambled import ScrambleState
from domain.states import Actor, JobState
from store import audit, datasets, grants, jobs, notices, scrambled
from store.scrambled_tables import scrambles
from store.tables import datasets as versions
from store.tables import jobs as job_rows

UNCHARGED = (JobState.SUBMITTED, JobState.QUEUED, JobState.PREPARING)
CHARGED = (JobState.RUNNING, JobState.AGGREGATING, JobState.IN_REVIEW)
OPEN = (*UNCHARGED, *CHARGED)


@dataclass(frozen=True)
class OpenJobs:
    """How many jobs of a data set have not ended, by what a withdrawal does with them."""

    uncharged: int
    running: int
    in_review: int
    ending: int


def open_jobs(connection: sa.Connection, name: str) -> OpenJobs:
    query = (
        sa.select(job_rows.c.state, sa.func.count())
        .join(versions, versions.c.id == job_rows.c.dataset_id)
        .where(versions.c.name == name, job_rows.c.state.in_(OPEN))
        .group_by(job_rows.c.state)
    )
    count = {JobState(state): number for state, number in connection.execute(query)}
    return OpenJobs(
        uncharged=sum(count.get(state, 0) for state in UNCHARGED),
        running=count.get(JobState.RUNNING, 0),
        in_review=count.get(JobState.IN_REVIEW, 0),
        ending=count.get(JobState.AGGREGATING, 0),
    )


def own(connection: sa.Connection, name: str, user: User) -> Dataset:
    """What a withdrawal is about. Raises NotFound for everybody but its rights holder."""
    if grants.owner_of(connection, name) != user.name:
        raise NotFound("dataset", f"there is no data set {name} of yours.", "See `dpgate datasets`.")
    return datasets.newest(connection, name, user)


def withdraw(
    connection: sa.Connection, *, name: str, user: User, cancels_running: bool, now: datetime
) -> tuple[Dataset, int]:
    """No new job sees it from now on: the data set, and how many jobs were cancelled.

    Once more with `cancels_running`, of one that is withdrawn, cancels what still runs, is drawn or waits
    for a review: no release of it becomes readable after that. Raises NotFound for everybody but its rights
    holder, Conflict where no version was ever ready.
    """
    own(connection, name, user)
    # the rows of its versions first: whoever submits or charges holds one of them before anything else
    withdrawn = _move(connection, name, DatasetState.READY, state=DatasetState.WITHDRAWN)
    refused = ImportProblem.WITHDRAWN.name
    withdrawn += _move(connection, name, DatasetState.IMPORTING, state=DatasetState.REFUSED, problem=refused)
    if not withdrawn and not _ids(connection, name, DatasetState.WITHDRAWN):
        raise Conflict("dataset", f"no version of {name} is there to be withdrawn.", "See `dpgate datasets`.")
    states = OPEN if cancels_running else UNCHARGED
    ended = hold(connection, _ids(connection, name, DatasetState.WITHDRAWN), states)
    for scramble_id in _open_scrambles(connection, name):
        _end_scramble(connection, scramble_id, user.name, now)
    cancel(connection, ended, by=user.name, now=now)
    for dataset_id in withdrawn:
        audit.append(
            connection,
            at=now,
            actor=user.name,
            action="dataset.withdraw",
            subject=dataset_id,
            running="cancel" if cancels_running else "finish",
            **({} if user.through is None else {"through": user.through}),
        )
    if withdrawn:
        _tell(connection, name, by=user.name, now=now)
    return datasets.newest(connection, name, user), len(ended)


def _move(connection: sa.Connection, name: str, before: DatasetState, **after: str) -> list[str]:
    """All its versions in a state; their ids."""
    ids = _ids(connection, name, before)
    connection.execute(sa.update(versions).where(versions.c.id.in_(ids)).values(**after))
    return ids


def _ids(connection: sa.Connection, name: str, state: DatasetState) -> list[str]:
    """Nobody else moves them before this transaction ends."""
    query = sa.select(versions.c.id).where(versions.c.name == name, versions.c.state == state)
    return list(connection.execute(query.order_by(versions.c.version).with_for_update()).scalars())


def hold(
    connection: sa.Connection, version_ids: Collection[str], states: Collection[JobState]
) -> dict[str, JobState]:
    """Jobs of these versions that are in these states, and stay there until this transaction ends. Whoever
    draws holds a job and then waits for the turn: call this before the turn is taken."""
    found = sa.select(job_rows.c.id, job_rows.c.state).where(
        job_rows.c.dataset_id.in_(version_ids), job_rows.c.state.in_(states)
    )
    held = connection.execute(found.order_by(job_rows.c.created_at, job_rows.c.id).with_for_update())
    return {row.id: JobState(row.state) for row in held}


def cancel(
    connection: sa.Connection, held: Mapping[str, JobState], *, by: str | None = None, now: datetime
) -> None:
    """All that are held."""
    for job_id, state in held.items():
        jobs.move(connection, job_id, state, JobState.CANCELLED, actor=Actor.WITHDRAWAL, by=by, now=now)


def _open_scrambles(connection: sa.Connection, name: str) -> list[str]:
    query = (
        sa.select(scrambles.c.id)
        .join(versions, versions.c.id == scrambles.c.dataset_id)
        .where(versions.c.name == name, versions.c.state == DatasetState.WITHDRAWN)
        .where(scrambles.c.state.in_(OPEN_SCRAMBLES))
    )
    return list(connection.execute(query.order_by(scrambles.c.id)).scalars())


def _end_scramble(connection: sa.Connection, scramble_id: str, by: str, now: datetime) -> None:
    """Its real values are handed out no more, and its files are gone."""
    found = scrambled.by_id(connection, scramble_id)
    scrambled.move(connection, found, ScrambleState.WITHDRAWN, now=now)
    scrambled.note(connection, found.dataset_id, scramble_id, "scramble.withdraw", actor=by, now=now)


def _tell(connection: sa.Connection, name: str, *, by: str, now: datetime) -> None:
    """Everybody who has ever had a job on it."""
    query = sa.select(job_rows.c.author).join(versions, versions.c.id == job_rows.c.dataset_id)
    to = connection.execute(query.where(versions.c.name == name).distinct()).scalars()
    notices.tell(
        connection, kind=NoticeKind.DATASET_WITHDRAWN, subject=name, to=to, by=by, now=now, dataset=name
    )
