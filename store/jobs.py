"""Jobs on record. Every move goes through `move`: the table of states, the ledger and the audit in one
transaction, by compare-and-set."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from domain.dataset import Dataset
from domain.errors import Conflict, RequestError
from domain.job import AnyRequest, Job, Reason, own_id
from domain.permissions import User, may_see_job
from domain.refusals import jobs as refusals
from domain.states import Actor, JobState, LedgerAction, is_terminal, transition
from domain.twin.request import TwinRequest
from store import audit, job_notices, ledger, reviewers, runs, still_ready
from store.clock import is_over
from store.database import insert_once
from store.spoilt import readable, reads
from store.tables import datasets, jobs

_WITHOUT_RELEASE = {JobState.REJECTED, JobState.CANCELLED, JobState.ERRORED}
_REQUEST: TypeAdapter[AnyRequest] = TypeAdapter(AnyRequest)
_WITH_OWNER = sa.select(jobs, datasets.c.owner).join(datasets, jobs.c.dataset_id == datasets.c.id)


def submit(
    connection: sa.Connection,
    *,
    job_id: str,
    author: str,
    dataset: Dataset,
    request: AnyRequest,
    image_digest: str | None,
    through: str | None = None,
    now: datetime,
) -> tuple[Job, bool]:
    """A new job with its budget reserved, or the one on record under this id: (job, is it new?).

    The identical question that is released already is answered by that release, at no cost. Raises Conflict
    when the id stands for another request or this may be asked only once, BudgetExceeded when the accounts do
    not cover it.
    """
    if present := on_record(connection, job_id, author=author, request=request):
        return present, False
    still_ready.check(connection, dataset)
    question = request.question(dataset_id=dataset.id, image_digest=image_digest)
    answer = _answered(connection, question)
    state, actor = (JobState.RELEASED, Actor.POLICY) if answer else (JobState.SUBMITTED, Actor.DATA_USER)
    values = {
        "id": job_id,
        "dataset_id": dataset.id,
        "author": author,
        "project": request.project,
        "through": through,
        "request": request.model_dump(mode="json"),
        "image_digest": image_digest,
        "question": question,
        "policy_number": dataset.policy_number,
        "once": None if answer else _once(connection, request, dataset),
        "state": state,
        "attempts": 0,
        "answered_by": answer,
        "created_at": now,
        "moved_at": now,
    }
    if not insert_once(connection, jobs, values):
        # the same id came at the same moment, and the other one was first
        if present := on_record(connection, job_id, author=author, request=request):
            return present, False
        raise _released_once(request)
    if transition(None, state, actor).ledger is LedgerAction.RESERVE:
        ledger.reserve(
            connection,
            job_id=job_id,
            cohort=dataset.cohort,
            author=author,
            project=request.project,
            cost=request.cost(dataset.declaration),
            now=now,
        )
        job_notices.tell_of_low_budget(
            connection, cohort=dataset.cohort, dataset=dataset.name, by=None if through else author, now=now
        )
    details = {"state": state, "answered_by": answer} | _service(through)
    audit.append(connection, at=now, actor=author, action="job.submit", subject=job_id, **details)
    return get(connection, job_id), True


def id_of(connection: sa.Connection, chosen: str, *, author: str) -> str:
    """Of the author's job that was or will be submitted under this id. Jobs of versions before have the id
    that was chosen."""
    older = sa.select(jobs.c.id).where(jobs.c.id == chosen, jobs.c.author == author)
    return chosen if connection.execute(older).first() is not None else own_id(author, chosen)


def on_record(connection: sa.Connection, job_id: str, *, author: str, request: AnyRequest) -> Job | None:
    """The job that this very request made before. Raises Conflict when the id stands for another request."""
    present = _find(connection, job_id)
    if present is not None and (present.author != author or present.request != request):
        raise _other_request()
    if present is None:
        _check_own_id(connection, job_id)
    return present


def move(
    connection: sa.Connection,
    job_id: str,
    before: JobState,
    after: JobState,
    *,
    actor: Actor,
    by: str | None = None,
    through: str | None = None,
    now: datetime,
    **fields: Any,
) -> bool:
    """Take one row of the state table, with its ledger action and audit event.

    False when the job is not in `before` (any more): a redelivered message then has nothing to do. Raises
    Conflict when the table has no such row or the actor may not take it.
    """
    row = transition(before, after, actor)
    if after in _WITHOUT_RELEASE:
        fields = {**fields, "once": None}  # another job may ask
    changed = connection.execute(
        sa.update(jobs)
        .where(jobs.c.id == job_id, jobs.c.state == before)
        .values(state=after, moved_at=now, **fields)
    )
    # of two who move it, one has changed the row and goes on to the books; the other leaves no trace
    if changed.rowcount != 1:
        return False
    if row.ledger is LedgerAction.CHARGE:
        ledger.charge(connection, job_id=job_id, now=now)
    elif row.ledger is LedgerAction.REFUND:
        ledger.refund(connection, job_id=job_id, now=now)
    # the noise is drawn, or never will be: nothing is left that a second draw could look at
    if after is JobState.IN_REVIEW or is_terminal(after):
        runs.discard(connection, job_id)
    audit.append(
        connection,
        at=now,
        actor=by or actor,
        action="job.move",
        subject=job_id,
        before=before,
        after=after,
        ledger=row.ledger,
        **_service(through),
    )
    job_notices.tell_of_move(connection, job_id, after, actor=actor, by=by, through=through, now=now)
    return True


def get(connection: sa.Connection, job_id: str, *, lock: bool = False) -> Job:
    """The job. With `lock`, nobody else moves it before this transaction ends."""
    if lock:
        connection.execute(sa.select(jobs.c.id).where(jobs.c.id == job_id).with_for_update())
    found = _find(connection, job_id)
    if found is None:
        raise refusals.NO_JOB()
    return found


def get_visible(connection: sa.Connection, job_id: str, user: User) -> Job:
    """The job of this id, or the user's own that was submitted under it, if this user may see it. The same
    words for absent and forbidden, and the same time: of somebody else's job, whose id can be computed from
    a guess at what they chose, nothing is read."""
    seen = _WITH_OWNER.where(*reviewers.jobs_seen_by(connection, user))
    for known in (job_id, own_id(user.name, job_id)):
        row = connection.execute(seen.where(jobs.c.id == known)).one_or_none()
        if row is not None and _may_see(connection, user, found := _job(row)):
            return found
    raise refusals.NO_JOB()


def listed(
    connection: sa.Connection, *fits: sa.ColumnElement[bool], order: Iterable[Any], limit: int | None = None
) -> list[Job]:
    """The jobs, beside their data sets, of which all of it holds, without those that cannot be read."""
    query, found, past = _WITH_OWNER.where(*fits).order_by(*order), list[Job](), 0
    while True:
        rows = connection.execute(query.limit(limit).offset(past)).all()
        found, past = found + readable(_job, rows), past + len(rows)
        # others take the place of those: else a list would end before its end
        if limit is None or len(rows) < limit or len(found) >= limit:
            return found[:limit]


def set_publish_time(
    connection: sa.Connection, job_id: str, at: datetime, *, before: datetime | None = None
) -> bool:
    """Once: the first worker to find all runs done decides. False for the others. `before`: what a clock that
    was wrong has set instead."""
    known = jobs.c.publish_at.is_(None) if before is None else jobs.c.publish_at == before
    changed = connection.execute(sa.update(jobs).where(jobs.c.id == job_id, known).values(publish_at=at))
    return changed.rowcount == 1


def publish_time(connection: sa.Connection, job_id: str) -> datetime | None:
    found: datetime | None = connection.execute(
        sa.select(jobs.c.publish_at).where(jobs.c.id == job_id)
    ).scalar_one()
    return found


def count_attempt(connection: sa.Connection, job_id: str) -> int:
    """One more try of the step that the job is in; how many that makes."""
    connection.execute(sa.update(jobs).where(jobs.c.id == job_id).values(attempts=jobs.c.attempts + 1))
    found: int = connection.execute(sa.select(jobs.c.attempts).where(jobs.c.id == job_id)).scalar_one()
    return found


def nudge(connection: sa.Connection, job_id: str, *, now: datetime, not_since_s: float) -> bool:
    """True when the job's messages may be sent (again): at most once in so many seconds."""
    changed = connection.execute(
        sa.update(jobs)
        .where(
            jobs.c.id == job_id,
            is_over(sa.func.coalesce(jobs.c.nudged_at, jobs.c.moved_at), now=now, for_s=not_since_s),
        )
        .values(nudged_at=now)
    )
    return changed.rowcount == 1


def in_state(connection: sa.Connection, state: JobState, *, now: datetime, for_s: float = 0) -> list[str]:
    """Ids of the jobs that have been in a state for at least so many seconds, oldest first."""
    query = sa.select(jobs.c.id).where(jobs.c.state == state, is_over(jobs.c.moved_at, now=now, for_s=for_s))
    return list(connection.execute(query.order_by(jobs.c.moved_at)).scalars())


def _released_once(request: AnyRequest) -> RequestError:
    if isinstance(request, TwinRequest):
        return Conflict(
            "again",
            "counts for a twin of these data were made, or are being made; a second set costs again.",
            "Use those: any number of twins is drawn from them for free. Or say again: true.",
        )
    return refusals.ONCE(mechanism=request.mechanism_name)


def _once(connection: sa.Connection, request: AnyRequest, dataset: Dataset) -> str | None:
    """The name of what is released once, within a cohort. Equal data have an equal snapshot: a name of it
    alone would refuse a job on a guess at another's data, if the guess is right, as in versions before."""
    snapshot = dataset.snapshot or dataset.id
    before = request.once_key(snapshot=snapshot)
    known = sa.select(jobs.c.id).join(datasets, jobs.c.dataset_id == datasets.c.id)
    known = known.where(jobs.c.once == before, datasets.c.cohort == dataset.cohort)
    if before is not None and connection.execute(known).first() is not None:
        raise _released_once(request)
    return request.once_key(snapshot=f"{dataset.cohort} {snapshot}")


def _check_own_id(connection: sa.Connection, job_id: str) -> None:
    """Votes and events go by the id of what they are about. Raises Conflict for the id of a data set's
    version: votes on its twin would count for the job, and the other way round."""
    if connection.execute(sa.select(datasets.c.id).where(datasets.c.id == job_id)).first() is not None:
        raise _other_request()


def _other_request() -> RequestError:
    return refusals.OTHER_REQUEST()


def _answered(connection: sa.Connection, question: str) -> str | None:
    query = sa.select(jobs.c.id).where(
        jobs.c.question == question, jobs.c.state == JobState.RELEASED, jobs.c.answered_by.is_(None)
    )
    found: str | None = connection.execute(query.order_by(jobs.c.moved_at).limit(1)).scalar()
    return found


def _may_see(connection: sa.Connection, user: User, job: Job) -> bool:
    reviewing = reviewers.is_reviewer(connection, user, job.request.dataset)
    return may_see_job(user, author=job.author, reviews=reviewing)


def _service(through: str | None) -> dict[str, str]:
    """For an event, where a service acted for its actor."""
    return {} if through is None else {"through": through}


def _find(connection: sa.Connection, job_id: str) -> Job | None:
    row = connection.execute(_WITH_OWNER.where(jobs.c.id == job_id)).one_or_none()
    return None if row is None else _job(row)


@reads("job")
def _job(row: sa.Row[Any]) -> Job:
    fields = dict(row._mapping)
    fields["request"] = _REQUEST.validate_python(fields["request"])
    fields["reason"] = Reason[fields["reason"]] if fields["reason"] else None
    return Job(**{name: fields[name] for name in Job.model_fields})
