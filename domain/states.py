"""The states of a job: one table that code, permissions, audit, API, docs diagram and tests all read.

Moves are compare-and-set (`UPDATE ... WHERE id = ? AND state = ?`): a redelivered message finds nothing
to do.
There is no "pipeline failed" once data was touched: a failed run becomes the declared default, because a
visible failure is an output that nobody noised.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from domain.errors import Conflict
from domain.refusals import jobs as refusals


class JobState(StrEnum):
    SUBMITTED = "SUBMITTED"  # on record, budget reserved, waits for the rights holder or the policy
    QUEUED = "QUEUED"  # may run; waits for a worker
    PREPARING = "PREPARING"  # a worker checks image, pipeline and snapshot; no data was touched
    RUNNING = "RUNNING"  # charged; runs see data; stays so until the publicly computed time
    AGGREGATING = "AGGREGATING"  # every block has its output; the release is being drawn
    IN_REVIEW = "IN_REVIEW"  # the release exists; the policy or a reviewer decides
    RELEASED = "RELEASED"
    WITHHELD = "WITHHELD"
    REJECTED = "REJECTED"
    CANCELLED = "CANCELLED"
    ERRORED = "ERRORED"


class Actor(StrEnum):
    """Who may move a job. The first five are people or stand for their decision, the last two are ours."""

    DATA_USER = "data_user"
    RIGHTS_HOLDER = "rights_holder"
    OPERATOR = "operator"
    POLICY = "policy"
    WITHDRAWAL = "withdrawal"  # of the data set, by its rights holder
    WORKER = "worker"
    SWEEP = "sweep"


class LedgerAction(StrEnum):
    RESERVE = "reserve"
    CHARGE = "charge"
    REFUND = "refund"


class TesState(StrEnum):
    """GA4GH TES v1.1 states that a job can be shown as."""

    QUEUED = "QUEUED"
    INITIALIZING = "INITIALIZING"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    SYSTEM_ERROR = "SYSTEM_ERROR"
    CANCELED = "CANCELED"


@dataclass(frozen=True)
class Transition:
    """One permitted move. `before` is None for a new job, `ledger` None where the account does not change."""

    before: JobState | None
    after: JobState
    actors: frozenset[Actor]
    ledger: LedgerAction | None
    meaning: str


S, A, L = JobState, Actor, LedgerAction


def _row(
    before: JobState | None, after: JobState, *actors: Actor, ledger: LedgerAction | None = None, meaning: str
) -> Transition:
    return Transition(before, after, frozenset(actors), ledger, meaning)


TRANSITIONS: tuple[Transition, ...] = (
    _row(None, S.SUBMITTED, A.DATA_USER, ledger=L.RESERVE, meaning="a request within policy and budget"),
    _row(
        None,
        S.RELEASED,
        A.POLICY,
        meaning="the identical question is answered already: same release, no charge",
    ),
    _row(S.SUBMITTED, S.QUEUED, A.RIGHTS_HOLDER, A.POLICY, meaning="approved to run"),
    _row(
        S.SUBMITTED,
        S.REJECTED,
        A.RIGHTS_HOLDER,
        ledger=L.REFUND,
        meaning="refused before any data was touched",
    ),
    _row(
        S.SUBMITTED,
        S.CANCELLED,
        A.DATA_USER,
        A.OPERATOR,
        A.WITHDRAWAL,
        ledger=L.REFUND,
        meaning="withdrawn, or its data set was",
    ),
    _row(
        S.QUEUED,
        S.CANCELLED,
        A.DATA_USER,
        A.OPERATOR,
        A.WITHDRAWAL,
        ledger=L.REFUND,
        meaning="withdrawn, or its data set was",
    ),
    _row(S.QUEUED, S.PREPARING, A.WORKER, meaning="claimed by one worker"),
    _row(S.PREPARING, S.QUEUED, A.WORKER, A.SWEEP, meaning="the worker could not prepare, or died: again"),
    _row(
        S.PREPARING,
        S.CANCELLED,
        A.DATA_USER,
        A.OPERATOR,
        A.WITHDRAWAL,
        ledger=L.REFUND,
        meaning="withdrawn, or its data set was",
    ),
    _row(
        S.PREPARING, S.ERRORED, A.WORKER, A.SWEEP, ledger=L.REFUND, meaning="cannot run; no data was touched"
    ),
    _row(S.PREPARING, S.RUNNING, A.WORKER, ledger=L.CHARGE, meaning="just before the first run sees data"),
    _row(
        S.RUNNING, S.AGGREGATING, A.WORKER, meaning="every block has its output and the public time has come"
    ),
    _row(
        S.RUNNING,
        S.CANCELLED,
        A.DATA_USER,
        A.OPERATOR,
        A.WITHDRAWAL,
        meaning="withdrawn, or its data set was; the charge stands",
    ),
    _row(S.RUNNING, S.ERRORED, A.SWEEP, meaning="the platform failed repeatedly; the charge stands"),
    _row(S.AGGREGATING, S.ERRORED, A.SWEEP, meaning="the platform failed repeatedly; the charge stands"),
    _row(S.AGGREGATING, S.CANCELLED, A.WITHDRAWAL, meaning="its data set was withdrawn; the charge stands"),
    _row(S.AGGREGATING, S.IN_REVIEW, A.WORKER, meaning="the release was drawn, in this transaction, once"),
    _row(S.IN_REVIEW, S.RELEASED, A.RIGHTS_HOLDER, A.POLICY, meaning="may be read"),
    _row(S.IN_REVIEW, S.WITHHELD, A.RIGHTS_HOLDER, meaning="never to be read; the charge stands"),
    _row(S.IN_REVIEW, S.CANCELLED, A.WITHDRAWAL, meaning="its data set was withdrawn; the charge stands"),
)

# where a job stands, and what was asked of it, in words
STANDS: dict[JobState | None, str] = {
    None: "is new",
    S.SUBMITTED: "waits for approval",
    S.QUEUED: "waits for a worker",
    S.PREPARING: "is being prepared",
    S.RUNNING: "runs",
    S.AGGREGATING: "is at its release",
    S.IN_REVIEW: "waits for the review of its release",
    S.RELEASED: "is released",
    S.WITHHELD: "ended without a release: a reviewer withheld it",
    S.REJECTED: "was rejected",
    S.CANCELLED: "was cancelled",
    S.ERRORED: "ended by a failure of the platform",
}
WANTED: dict[JobState, str] = {
    S.SUBMITTED: "be submitted",
    S.QUEUED: "be approved",
    S.PREPARING: "be prepared",
    S.RUNNING: "be run",
    S.AGGREGATING: "be aggregated",
    S.IN_REVIEW: "be reviewed",
    S.RELEASED: "be released",
    S.WITHHELD: "be withheld",
    S.REJECTED: "be rejected",
    S.CANCELLED: "be cancelled",
    S.ERRORED: "be given up",
}

_BY_MOVE = {(row.before, row.after): row for row in TRANSITIONS}

TES_VIEW: dict[JobState, TesState] = {
    S.SUBMITTED: TesState.QUEUED,
    S.QUEUED: TesState.QUEUED,
    S.PREPARING: TesState.INITIALIZING,
    S.RUNNING: TesState.RUNNING,
    S.AGGREGATING: TesState.RUNNING,
    S.IN_REVIEW: TesState.RUNNING,
    S.RELEASED: TesState.COMPLETE,
    S.WITHHELD: TesState.COMPLETE,
    S.REJECTED: TesState.CANCELED,
    S.CANCELLED: TesState.CANCELED,
    S.ERRORED: TesState.SYSTEM_ERROR,
}


def is_terminal(state: JobState) -> bool:
    """True when no row of the table leaves the state."""
    return all(row.before != state for row in TRANSITIONS)


def transition(before: JobState | None, after: JobState, actor: Actor) -> Transition:
    """The row that permits this move. Raises Conflict when there is none or the actor may not take it."""
    row = _BY_MOVE.get((before, after))
    if row is None:
        raise refusals.STATE(now=STANDS[before], wanted=WANTED[after], fix=_stays(before))
    if actor not in row.actors:
        raise Conflict("state", f"{actor} cannot move a job from {before or 'new'} to {after}.")
    return row


def _stays(before: JobState | None) -> str:
    ends = before is not None and is_terminal(before)
    return "Nothing about it changes any more." if ends else "`dpgate status` says when it moves on."


def next_states(before: JobState, actor: Actor) -> tuple[JobState, ...]:
    """What this actor may do with a job in this state."""
    return tuple(row.after for row in TRANSITIONS if row.before == before and actor in row.actors)
