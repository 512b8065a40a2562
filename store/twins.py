"""Which counts the twin of a version is drawn from: those that reviewers approved last.

Until then, and for those who ask for it, the twin is the blank form. Approving costs nothing; counts that
were refused, or never approved, have been paid for all the same. Where the policy in effect asks for more
votes than an approval had, it waits again: the votes that are there count, and further ones are needed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

import sqlalchemy as sa

from domain.dataset import Dataset
from domain.errors import Conflict, InvalidRequest, NotFound, PlatformError
from domain.job import Job, own_id
from domain.notice import NoticeKind
from domain.permissions import User
from domain.refusals import jobs as refusals
from domain.review import Stage, Tally, TwinState, Vote, check_reason
from domain.states import Actor, JobState
from domain.twin.basis import BLANK, TwinBasis
from domain.twin.counts import TableCounts
from domain.twin.request import FILE, TwinRequest
from store import datasets, jobs, releases, reviewers, reviews, twin_reviews
from store.database import insert_once
from store.kept import Kept
from store.spoilt import all_but_spoilt
from store.twin_tables import twin_counts

_parsed: Kept[str, Mapping[str, TableCounts]] = Kept(4)  # by the release's id


@dataclass(frozen=True)
class Counts:
    """Counts that were asked for, and how far their approval is, which follows their release."""

    job: Job
    state: TwinState
    tally: Tally

    @property
    def request(self) -> TwinRequest:
        return request_of(self.job)


def submit(
    connection: sa.Connection, *, job_id: str, request: TwinRequest, dataset: Dataset, by: str, now: datetime
) -> Job:
    """A new job with its budget reserved, on its way to the workers: whose budget it is has asked, so nobody
    is waited for. Raises as `jobs.submit`. One that another job's release answers has no counts of its own.
    """
    job, is_new = jobs.submit(
        connection, job_id=job_id, author=by, dataset=dataset, request=request, image_digest=None, now=now
    )
    if is_new and job.answered_by is None:
        insert_once(connection, twin_counts, {"job_id": job.id, "dataset_id": job.dataset_id})
        jobs.move(connection, job_id, job.state, JobState.QUEUED, actor=Actor.POLICY, now=now)
    return jobs.get(connection, job_id)


def cancel(connection: sa.Connection, dataset: Dataset, job_id: str, *, by: str, now: datetime) -> Job:
    """Withdrawn by whose budget it is. Raises Conflict for a job that has ended."""
    job = get(connection, dataset, job_id).job
    job_id = job.id
    # who made a job acts as its author here, whatever else they may
    if not jobs.move(
        connection, job_id, job.state, JobState.CANCELLED, actor=Actor.DATA_USER, by=by, now=now
    ):
        raise refusals.MOVED_ON()
    return jobs.get(connection, job_id)


def of_version(connection: sa.Connection, dataset: Dataset) -> list[Counts]:
    """Everything that was asked of this version, newest first."""
    query = sa.select(twin_counts).where(twin_counts.c.dataset_id == dataset.id)
    found = all_but_spoilt(partial(_counts, connection, row, dataset) for row in connection.execute(query))
    return sorted(found, key=lambda counts: counts.job.created_at, reverse=True)


def get(connection: sa.Connection, dataset: Dataset, job_id: str) -> Counts:
    """Of this version, by the id of their job or the one that its rights holder chose. Raises NotFound."""
    found = _of_version(connection, dataset, job_id)
    if found is None:
        raise NotFound(
            "counts", f"version {dataset.version} of {dataset.name} has no such counts.",
            f"See `dpgate twin status {dataset.name}`.",
        )  # fmt: skip
    return found


def _of_version(
    connection: sa.Connection, dataset: Dataset, job_id: str, *, only_approved: bool = False
) -> Counts | None:
    """With `only_approved`, nothing is read of others: how long that takes would tell that there are some."""
    conditions = [twin_counts.c.dataset_id == dataset.id]
    conditions += [twin_counts.c.approved.is_(True)] if only_approved else []
    for known in (job_id, own_id(dataset.owner, job_id)):
        row = connection.execute(_row(known).where(*conditions)).one_or_none()
        if row is not None:
            return _counts(connection, row, dataset)
    return None


def find(connection: sa.Connection, job_id: str) -> Counts | None:
    """Those of a job, if it made any."""
    row = connection.execute(_row(job_id)).one_or_none()
    return None if row is None else _counts(connection, row, datasets.get(connection, row.dataset_id))


def waiting(connection: sa.Connection, reviewed: Sequence[Dataset]) -> list[Counts]:
    """Released counts of these versions that wait for their reviewers, in the order of the versions."""
    asked = sa.select(twin_counts.c.dataset_id).where(
        twin_counts.c.dataset_id.in_([one.id for one in reviewed])
    )
    of_these = set(connection.execute(asked).scalars()) if reviewed else set()
    return [
        counts
        for dataset in reviewed
        if dataset.id in of_these
        for counts in of_version(connection, dataset)
        if counts.state is TwinState.WAITING and counts.job.state is JobState.RELEASED
    ]


def basis(connection: sa.Connection, dataset_id: str) -> TwinBasis:
    """What the twin of a version is drawn from now, for everybody who may have it."""
    approved = (
        sa.select(twin_counts.c.job_id, twin_counts.c.needed)
        .where(twin_counts.c.dataset_id == dataset_id, twin_counts.c.approved.is_(True))
        .order_by(twin_counts.c.decided_at.desc(), twin_counts.c.job_id)
    )
    if not (found := connection.execute(approved).all()):
        return BLANK
    needed = _needed(datasets.get(connection, dataset_id))
    return basis_of(connection, next((row.job_id for row in found if row.needed >= needed), None))


def basis_of(connection: sa.Connection, job_id: str | None) -> TwinBasis:
    """The same of counts that are named; of none, the blank form."""
    return BLANK if job_id is None else TwinBasis(job_id, request_of(jobs.get(connection, job_id)))


def basis_for(
    connection: sa.Connection,
    dataset: Dataset,
    user: User,
    *,
    is_blank: bool = False,
    job_id: str | None = None,
) -> TwinBasis:
    """What this user's twin is drawn from. Raises Conflict while reviewers hold it back, NotFound for counts
    that are not approved, unless it is a reviewer who looks at them.

    Approved counts need no approval of the blank form, but no counts pass a form that reviewers refused."""
    if is_blank and job_id is not None:
        raise InvalidRequest("level", "the blank form is drawn from no counts.", "Leave one of the two out.")
    if twin_reviews.of(connection, dataset).state is TwinState.REFUSED:
        twin_reviews.check_open(connection, dataset, user)
    if job_id is not None:
        is_theirs = reviewers.is_reviewer(connection, user, dataset.name)
        counts = _of_version(connection, dataset, job_id, only_approved=not is_theirs)
        is_done = counts is not None and counts.job.state is JobState.RELEASED
        if counts is None or not is_done or not (is_theirs or counts.state is TwinState.APPROVED):
            # the same words, whether there are any
            raise NotFound("counts", "there are no such counts that you may use.", "Leave them out.")
        return TwinBasis(counts.job.id, counts.request)
    found = BLANK if is_blank else basis(connection, dataset.id)
    if found is BLANK:
        twin_reviews.check_open(connection, dataset, user)
    return found


def counts_of(connection: sa.Connection, found: TwinBasis) -> Mapping[str, TableCounts]:
    """The released counts by table; none for the blank form."""
    if found.job_id is None:
        return {}
    job = jobs.get(connection, found.job_id)
    # releases never change, so one that was read before is as good; of this job, whatever id a row has now
    known = f"{job.id} {releases.id_of(connection, job)}"
    if (kept := _parsed.find(known)) is not None:
        return kept
    return _parsed.keep(known, _tables(releases.read(connection, job).files[FILE]))


def announce(connection: sa.Connection, dataset: Dataset, *, now: datetime) -> None:
    """Tell the reviewers that released counts wait for them; also who asked, for they may approve them."""
    twin_reviews.tell_reviewers(connection, dataset, NoticeKind.TWIN_WAITS, now=now)


def vote(
    connection: sa.Connection,
    *,
    dataset: Dataset,
    job_id: str,
    user: User,
    approves: bool,
    reason: str,
    now: datetime,
) -> Counts:
    """Record one vote about the twin that counts give; the last one that is needed decides.

    Where the policy asks for reviews of twins, as many votes are needed as it says; elsewhere one. Raises
    NotFound for somebody who does not review the data set, Conflict when nothing waits or the user has voted,
    InvalidRequest for a refusal without a reason.
    """
    if not reviewers.is_reviewer(connection, user, dataset.name):
        raise NotFound("dataset", f"there is no data set {dataset.name} that you review.")
    job_id = get(connection, dataset, job_id).job.id
    _lock(connection, dataset, job_id)
    found = get(connection, dataset, job_id)
    if found.job.state is not JobState.RELEASED:
        raise Conflict("counts", f"the job is {found.job.state}.", "Wait until it is RELEASED.")
    if found.state is not TwinState.WAITING:
        raise Conflict("counts", f"they were {found.state} before.", "A decision about a twin is final.")
    cast = Vote(Stage.TWIN, user.name, approves, check_reason(reason, needed=not approves), now)
    reviews.add(connection, subject=job_id, vote=cast)
    tally = get(connection, dataset, job_id).tally
    if tally.is_complete:
        _end(connection, dataset, job_id, tally, by=user.name, now=now)
    else:
        reviews.note(connection, subject=job_id, vote=cast, tally=tally)
    return get(connection, dataset, job_id)


def request_of(job: Job) -> TwinRequest:
    if not isinstance(job.request, TwinRequest):
        raise PlatformError(f"job {job.id} asks for no counts of a twin")
    return job.request


def _counts(connection: sa.Connection, row: sa.Row[tuple[object, ...]], dataset: Dataset) -> Counts:
    needed, waits = row.needed or _needed(dataset), row.approved is None
    if row.approved and needed < _needed(dataset):
        needed, waits = _needed(dataset), True
    tally = reviews.tally(connection, subject=row.job_id, stage=Stage.TWIN, needed=needed)
    state = TwinState.WAITING
    if not waits:
        state = TwinState.APPROVED if row.approved else TwinState.REFUSED
    return Counts(jobs.get(connection, row.job_id), state, tally)


def _needed(dataset: Dataset) -> int:
    policy = dataset.declaration.policy
    return policy.votes if policy.review_twin else 1


def _lock(connection: sa.Connection, dataset: Dataset, job_id: str) -> None:
    """Two last votes wait for each other; the first vote fixes how many are needed, or the first one after
    the policy in effect asked for more than an approval had."""
    needed, own = _needed(dataset), twin_counts.c.job_id == job_id
    first = sa.update(twin_counts).where(own, twin_counts.c.needed.is_(None))
    connection.execute(first.values(needed=needed))
    again = sa.update(twin_counts).where(own, twin_counts.c.approved.is_(True), twin_counts.c.needed < needed)
    connection.execute(again.values(needed=needed, approved=None, decided_at=None))
    connection.execute(_row(job_id).with_for_update())


def _end(
    connection: sa.Connection, dataset: Dataset, job_id: str, tally: Tally, *, by: str, now: datetime
) -> None:
    change = sa.update(twin_counts).where(twin_counts.c.job_id == job_id)
    connection.execute(change.values(approved=tally.approved, decided_at=now))
    twin_reviews.tell_end(connection, dataset, tally, subject=job_id, by=by, now=now)


def _tables(text: str) -> Mapping[str, TableCounts]:
    found = json.loads(text)
    return {path: TableCounts.parse(table) for path, table in found["tables"].items()}


def _row(job_id: str) -> sa.Select[tuple[object, ...]]:
    return sa.select(twin_counts).where(twin_counts.c.job_id == job_id)
