"""Reviews of twins: where the policy asks for them, data users get a version's twin once it is approved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from domain.dataset import Dataset, DatasetState
from domain.errors import Conflict, NotFound
from domain.notice import NoticeKind
from domain.permissions import User
from domain.review import Stage, Tally, TwinState, Vote, check_reason
from store import datasets, notices, reviewers, reviews
from store.database import insert_once
from store.review_tables import twin_reviews


@dataclass(frozen=True)
class TwinReview:
    """Where the twin of one version stands."""

    state: TwinState
    tally: Tally


def of(connection: sa.Connection, dataset: Dataset) -> TwinReview:
    """By the policy in effect; one that asks for a review asks for it of every version that had none."""
    policy = dataset.declaration.policy
    row = connection.execute(_row(dataset.id)).one_or_none()
    needed = policy.votes if row is None else row.needed
    tally = reviews.tally(connection, subject=dataset.id, stage=Stage.TWIN, needed=needed)
    if row is not None and row.approved is not None:
        return TwinReview(TwinState.APPROVED if row.approved else TwinState.REFUSED, tally)
    return TwinReview(TwinState.WAITING if policy.review_twin else TwinState.FREE, tally)


def check_open(connection: sa.Connection, dataset: Dataset, user: User) -> None:
    """Raises Conflict while this user may not have the twin. Reviewers always may: they look at it."""
    state = of(connection, dataset).state
    if not dataset.declaration.policy.review_twin or state.may_leave:
        return
    if reviewers.is_reviewer(connection, user, dataset.name):
        return
    if state is TwinState.WAITING:
        raise Conflict(
            "twin",
            f"the reviewers of {dataset.name} have not yet approved the twin of version {dataset.version}.",
            "Try again later, or ask the rights holder.",
        )
    raise Conflict(
        "twin",
        f"the reviewers of {dataset.name} refused the twin of version {dataset.version}.",
        "Ask the rights holder for another version.",
    )


def announce(connection: sa.Connection, dataset_id: str, *, now: datetime) -> None:
    """Tell the reviewers that the twin of a version that is ready waits for them, if it does."""
    dataset = datasets.get(connection, dataset_id)
    if of(connection, dataset).state is TwinState.WAITING:
        tell_reviewers(connection, dataset, NoticeKind.TWIN_WAITS, now=now)


def waiting(connection: sa.Connection, reviewed: Sequence[Dataset]) -> list[Dataset]:
    """Those of these versions whose twins wait for their reviewers."""
    return [
        dataset
        for dataset in reviewed
        if dataset.declaration.policy.review_twin
        and dataset.state is DatasetState.READY
        and of(connection, dataset).state is TwinState.WAITING
    ]


def vote(
    connection: sa.Connection,
    *,
    name: str,
    version: int,
    user: User,
    approves: bool,
    reason: str,
    now: datetime,
) -> TwinReview:
    """Record one vote about the twin of a version; the last one that is needed decides.

    How many are needed is fixed by the first one. Raises NotFound for somebody who does not review the data
    set, Conflict when another version came meanwhile, nothing waits or the user has voted, InvalidRequest for
    a refusal without a reason.
    """
    dataset = datasets.newest(connection, name, user)
    if not reviewers.is_reviewer(connection, user, name):
        raise NotFound("dataset", f"there is no data set {name} that you review.")
    if dataset.version != version:
        raise Conflict("version", f"version {dataset.version} is the newest now.", "Look at its twin first.")
    _lock(connection, dataset)
    if dataset.state is not DatasetState.READY or of(connection, dataset).state is not TwinState.WAITING:
        raise Conflict("twin", "nothing about this twin waits for a decision.", "Look at its state first.")
    cast = Vote(Stage.TWIN, user.name, approves, check_reason(reason, needed=not approves), now)
    reviews.add(connection, subject=dataset.id, vote=cast)
    tally = of(connection, dataset).tally
    if tally.is_complete:
        _end(connection, dataset, tally, by=user.name, now=now)
    else:
        reviews.note(connection, subject=dataset.id, vote=cast, tally=tally)
    return of(connection, dataset)


def _lock(connection: sa.Connection, dataset: Dataset) -> None:
    """Two last votes wait for each other."""
    needed = dataset.declaration.policy.votes
    insert_once(connection, twin_reviews, {"dataset_id": dataset.id, "needed": needed})
    connection.execute(_row(dataset.id).with_for_update())


def _end(connection: sa.Connection, dataset: Dataset, tally: Tally, *, by: str, now: datetime) -> None:
    change = sa.update(twin_reviews).where(twin_reviews.c.dataset_id == dataset.id)
    connection.execute(change.values(approved=tally.approved, decided_at=now))
    tell_end(connection, dataset, tally, subject=dataset.id, by=by, now=now)


def tell_end(
    connection: sa.Connection, dataset: Dataset, tally: Tally, *, subject: str, by: str, now: datetime
) -> None:
    """Record who decided about the twin of a version or about counts for it, and tell the reviewers."""
    reviews.record(
        connection, subject=subject, action="twin.decide", cast=tally.votes, now=now,
        name=dataset.name, version=dataset.version,
    )  # fmt: skip
    decision = "approved" if tally.approved else "refused"
    tell_reviewers(connection, dataset, NoticeKind.TWIN_DECIDED, now=now, by=by, decision=decision)


def tell_reviewers(
    connection: sa.Connection,
    dataset: Dataset,
    kind: NoticeKind,
    *,
    now: datetime,
    by: str | None = None,
    **facts: str,
) -> None:
    notices.tell(
        connection,
        kind=kind,
        subject=dataset.name,
        to=reviewers.of(connection, dataset.name),
        now=now,
        by=by,
        dataset=dataset.name,
        version=dataset.version,
        **facts,
    )


def _row(dataset_id: str) -> sa.Select[tuple[str, int, bool, datetime]]:
    return sa.select(twin_reviews).where(twin_reviews.c.dataset_id == dataset_id)
