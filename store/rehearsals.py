"""Rehearsals on record. A state changes by compare-and-set; of two workers with one message, one runs it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.dataset import Dataset
from domain.job import own_id
from domain.refusals import jobs as refusals
from domain.rehearsal import (
    KEPT,
    MAX_WAITING,
    Preview,
    Rehearsal,
    RehearsalRequest,
    RehearsalState,
    TwinRuns,
    code_digest,
)
from store.database import insert_once
from store.rehearsal_tables import rehearsals
from store.spoilt import readable, reads

RESEND_AFTER = timedelta(seconds=20)
_OPEN = (RehearsalState.QUEUED, RehearsalState.RUNNING)


def request(
    connection: sa.Connection,
    *,
    rehearsal_id: str,
    author: str,
    dataset: Dataset,
    request: RehearsalRequest,
    image_digest: str,
    counts: str | None = None,
    now: datetime,
) -> tuple[Rehearsal, bool]:
    """A new rehearsal, or the one on record under this id: (rehearsal, is it new?).

    Raises Conflict when the id stands for another one, when too many of this author wait, and when `runs_of`
    names one whose runs are not those of this code.
    """
    if present := on_record(connection, rehearsal_id, author=author, request=request):
        return present, False
    _check_waiting(connection, author)
    runs = _taken_over(connection, author, dataset, request, image_digest, counts)
    values = {
        "id": rehearsal_id,
        "author": author,
        "dataset_id": dataset.id,
        "pipeline_digest": request.pipeline.digest,
        "request": request.model_dump(mode="json"),
        "image_digest": image_digest,
        "counts": counts,
        "state": RehearsalState.QUEUED,
        "attempts": 0,
        "done": 0,
        "total": 0,
        "runs": runs.model_dump(mode="json") if runs else None,
        "created_at": now,
        "moved_at": now,
        "due_at": now + RESEND_AFTER,
    }
    if not insert_once(connection, rehearsals, values):
        raise refusals.OTHER_REHEARSAL()
    _forget_old(connection, author)
    return get(connection, rehearsal_id), True


def on_record(
    connection: sa.Connection, rehearsal_id: str, *, author: str, request: RehearsalRequest
) -> Rehearsal | None:
    """The one that this very request made before. Raises Conflict when the id stands for another."""
    present = _find(connection, rehearsal_id)
    if present is not None and (present.author != author or present.request != request):
        raise refusals.OTHER_REHEARSAL()
    return present


def id_of(connection: sa.Connection, chosen: str, *, author: str) -> str:
    """Of the author's rehearsal that was or will be asked for under this id. Those of versions before have
    the id that was chosen."""
    older = sa.select(rehearsals.c.id).where(rehearsals.c.id == chosen, rehearsals.c.author == author)
    return chosen if connection.execute(older).first() is not None else own_id(author, chosen)


def get(connection: sa.Connection, rehearsal_id: str) -> Rehearsal:
    found = _find(connection, rehearsal_id)
    if found is None:
        raise refusals.NO_REHEARSAL()
    return found


def get_own(connection: sa.Connection, rehearsal_id: str, *, author: str) -> Rehearsal:
    """The author's own, by its id or by the one that it was asked for under. The same words for absent and
    somebody else's."""
    found = _find(connection, id_of(connection, rehearsal_id, author=author))
    if found is None:
        raise refusals.NO_REHEARSAL()
    return found


def of_author(connection: sa.Connection, author: str) -> list[Rehearsal]:
    """The newest first."""
    query = sa.select(rehearsals).where(rehearsals.c.author == author)
    return readable(_rehearsal, connection.execute(query.order_by(rehearsals.c.created_at.desc())))


def of_pipeline(
    connection: sa.Connection, *, author: str, dataset_id: str, pipeline_digest: str
) -> Rehearsal | None:
    """The newest that this author finished with this pipeline on this data set: for those who review it."""
    query = sa.select(rehearsals).where(
        rehearsals.c.author == author,
        rehearsals.c.dataset_id == dataset_id,
        rehearsals.c.pipeline_digest == pipeline_digest,
        rehearsals.c.state == RehearsalState.DONE,
    )
    row = connection.execute(query.order_by(rehearsals.c.created_at.desc()).limit(1)).one_or_none()
    return None if row is None else _rehearsal(row)


def claim(
    connection: sa.Connection, rehearsal_id: str, *, now: datetime, due_at: datetime, most_running: int
) -> Rehearsal | None:
    """QUEUED -> RUNNING for one worker, unless so many run already: jobs must find room."""
    query = sa.select(sa.func.count()).where(rehearsals.c.state == RehearsalState.RUNNING)
    if connection.execute(query).scalar_one() >= most_running:
        return None
    changed = connection.execute(
        sa.update(rehearsals)
        .where(rehearsals.c.id == rehearsal_id, rehearsals.c.state == RehearsalState.QUEUED)
        .values(
            state=RehearsalState.RUNNING,
            attempts=rehearsals.c.attempts + 1,
            done=0,
            moved_at=now,
            due_at=due_at,
        )
    )
    return get(connection, rehearsal_id) if changed.rowcount == 1 else None


def beat(connection: sa.Connection, rehearsal: Rehearsal, *, done: int, total: int, due_at: datetime) -> bool:
    """The worker lives, and so many runs are made. False when the rehearsal is not its own any more."""
    return _change(connection, rehearsal, done=done, total=total, due_at=due_at)


def finish(
    connection: sa.Connection, rehearsal: Rehearsal, *, runs: TwinRuns, preview: Preview, now: datetime
) -> bool:
    """RUNNING -> DONE. False when the sweep gave the rehearsal to somebody else."""
    return _change(
        connection,
        rehearsal,
        state=RehearsalState.DONE,
        runs=runs.model_dump(mode="json"),
        preview=preview.model_dump(mode="json"),
        problem=None,
        moved_at=now,
    )


def fail(connection: sa.Connection, rehearsal: Rehearsal, *, problem: str, now: datetime) -> bool:
    """RUNNING -> FAILED, with words for the author: the pipeline's own, or what the platform lacks."""
    return _change(connection, rehearsal, state=RehearsalState.FAILED, problem=problem, moved_at=now)


def put_back(connection: sa.Connection, rehearsal: Rehearsal, *, now: datetime) -> bool:
    """RUNNING -> QUEUED: another try, after a while."""
    return _change(
        connection, rehearsal, state=RehearsalState.QUEUED, moved_at=now, due_at=now + RESEND_AFTER
    )


def overdue(connection: sa.Connection, *, now: datetime) -> list[Rehearsal]:
    """Waiting ones whose message may be lost, and running ones whose worker says nothing; oldest first."""
    query = sa.select(rehearsals).where(rehearsals.c.state.in_(_OPEN), rehearsals.c.due_at <= now)
    return readable(_rehearsal, connection.execute(query.order_by(rehearsals.c.created_at)))


def nudge(connection: sa.Connection, rehearsal: Rehearsal, *, now: datetime) -> bool:
    """True for the one sweep that may send the message again."""
    changed = connection.execute(
        sa.update(rehearsals)
        .where(
            rehearsals.c.id == rehearsal.id,
            rehearsals.c.state == RehearsalState.QUEUED,
            rehearsals.c.due_at <= now,
        )
        .values(due_at=now + RESEND_AFTER)
    )
    return changed.rowcount == 1


def _change(connection: sa.Connection, rehearsal: Rehearsal, **values: Any) -> bool:
    """Of a rehearsal that runs, by the one that claimed it: attempts tell one try from the next."""
    changed = connection.execute(
        sa.update(rehearsals)
        .where(
            rehearsals.c.id == rehearsal.id,
            rehearsals.c.state == RehearsalState.RUNNING,
            rehearsals.c.attempts == rehearsal.attempts,
        )
        .values(**values)
    )
    return changed.rowcount == 1


def _check_waiting(connection: sa.Connection, author: str) -> None:
    query = sa.select(sa.func.count()).where(rehearsals.c.author == author, rehearsals.c.state.in_(_OPEN))
    if connection.execute(query).scalar_one() >= MAX_WAITING:
        raise refusals.REHEARSALS_WAIT(most=MAX_WAITING)


def _taken_over(
    connection: sa.Connection,
    author: str,
    dataset: Dataset,
    request: RehearsalRequest,
    image_digest: str,
    counts: str | None,
) -> TwinRuns | None:
    if request.runs_of is None:
        return None
    earlier = get_own(connection, request.runs_of, author=author)
    same = (
        earlier.runs is not None
        and earlier.dataset_id == dataset.id
        and earlier.image_digest == image_digest
        and earlier.counts == counts
        and earlier.request.block_size == request.block_size
        and code_digest(earlier.request.pipeline) == code_digest(request.pipeline)
    )
    if not same or earlier.runs is None:
        raise refusals.OTHER_RUNS()
    return earlier.runs


def _forget_old(connection: sa.Connection, author: str) -> None:
    query = (
        sa.select(rehearsals.c.id)
        .where(rehearsals.c.author == author, rehearsals.c.state.not_in(_OPEN))
        .order_by(rehearsals.c.created_at.desc())
        .offset(KEPT)
    )
    old = list(connection.execute(query).scalars())
    if old:
        connection.execute(sa.delete(rehearsals).where(rehearsals.c.id.in_(old)))


def _find(connection: sa.Connection, rehearsal_id: str) -> Rehearsal | None:
    row = connection.execute(sa.select(rehearsals).where(rehearsals.c.id == rehearsal_id)).one_or_none()
    return None if row is None else _rehearsal(row)


@reads("rehearsal")
def _rehearsal(row: sa.Row[Any]) -> Rehearsal:
    fields = row._mapping
    return Rehearsal(**{name: fields[name] for name in Rehearsal.model_fields})
