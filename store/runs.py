"""Chunks of a job's runs, and the sealed outputs of their runs until the release is drawn."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from store.clock import APART_S
from store.tables import chunks, run_outputs


def plan(connection: sa.Connection, *, job_id: str, count: int) -> None:
    """All chunks of a job, waiting."""
    rows = [
        {"job_id": job_id, "number": number, "state": "WAITING", "attempts": 0} for number in range(count)
    ]
    connection.execute(sa.insert(chunks), rows)


def claim(connection: sa.Connection, *, job_id: str, number: int, lease_until: datetime) -> str | None:
    """A claim on a waiting chunk, or None: somebody else has it, or it is done."""
    token = str(uuid.uuid4())
    changed = connection.execute(
        sa.update(chunks)
        .where(chunks.c.job_id == job_id, chunks.c.number == number, chunks.c.state == "WAITING")
        .values(state="CLAIMED", claim=token, lease_until=lease_until, attempts=chunks.c.attempts + 1)
    )
    return token if changed.rowcount == 1 else None


def renew(connection: sa.Connection, *, job_id: str, number: int, claim: str, lease_until: datetime) -> None:
    """The worker that holds the claim lives and is still at it."""
    connection.execute(
        sa.update(chunks)
        .where(chunks.c.job_id == job_id, chunks.c.number == number, chunks.c.claim == claim)
        .values(lease_until=lease_until)
    )


def finish(
    connection: sa.Connection,
    *,
    job_id: str,
    number: int,
    claim: str,
    sealed: dict[int, bytes],
    ran_in: Mapping[str, Any] | None = None,
) -> bool:
    """Keep the sealed outputs of a chunk, and where its runs were made, once. False when the claim was lost:
    then nothing is kept."""
    changed = connection.execute(
        sa.update(chunks)
        .where(
            chunks.c.job_id == job_id,
            chunks.c.number == number,
            chunks.c.state == "CLAIMED",
            chunks.c.claim == claim,
        )
        .values(state="DONE", claim=None, lease_until=None, ran_in=ran_in)
    )
    # a worker taken for dead may still come: its outputs would stand beside those of whoever took over
    if changed.rowcount != 1:
        return False
    rows = [{"job_id": job_id, "run": run, "sealed": content} for run, content in sealed.items()]
    if rows:  # a chunk of the participant level has none
        connection.execute(sa.insert(run_outputs), rows)
    return True


def give_back(
    connection: sa.Connection, *, job_id: str, number: int, claim: str, was_tried: bool = True
) -> None:
    """The platform could not run the chunk: it waits again."""
    attempts = chunks.c.attempts if was_tried else chunks.c.attempts - 1
    connection.execute(
        sa.update(chunks)
        .where(chunks.c.job_id == job_id, chunks.c.number == number, chunks.c.claim == claim)
        .values(state="WAITING", claim=None, lease_until=None, attempts=attempts)
    )


@dataclass(frozen=True)
class Progress:
    """Of one moment: whether each chunk is done, by number, and the runs that have an output."""

    chunks: Mapping[int, bool]
    runs: frozenset[int]


def progress(connection: sa.Connection, job_id: str) -> Progress:
    planned = sa.select(sa.literal(True), chunks.c.number, chunks.c.state == "DONE")
    kept = sa.select(sa.literal(False), run_outputs.c.run, sa.literal(True))
    # one statement: a chunk that ends between two would look as if its outputs came from nowhere
    both = sa.union_all(planned.where(chunks.c.job_id == job_id), kept.where(run_outputs.c.job_id == job_id))
    found = [tuple(row) for row in connection.execute(both)]
    return Progress(
        {number: bool(done) for is_chunk, number, done in found if is_chunk},
        frozenset(number for is_chunk, number, _ in found if not is_chunk),
    )


def all_done(connection: sa.Connection, job_id: str) -> bool:
    query = sa.select(sa.func.count()).where(chunks.c.job_id == job_id, chunks.c.state != "DONE")
    return connection.execute(query).scalar_one() == 0


def all_done_before(connection: sa.Connection, job_id: str, number: int) -> bool:
    """Whether every chunk with a lower number is done."""
    query = sa.select(sa.func.count()).where(
        chunks.c.job_id == job_id, chunks.c.number < number, chunks.c.state != "DONE"
    )
    return connection.execute(query).scalar_one() == 0


def waiting(connection: sa.Connection, job_id: str) -> list[int]:
    query = sa.select(chunks.c.number).where(chunks.c.job_id == job_id, chunks.c.state == "WAITING")
    return sorted(connection.execute(query).scalars())


def claimed_jobs(connection: sa.Connection) -> list[str]:
    """Jobs of which somebody makes runs now, as far as claims say so."""
    query = sa.select(chunks.c.job_id).where(chunks.c.state == "CLAIMED").distinct()
    return sorted(connection.execute(query).scalars())


def release_expired(connection: sa.Connection, *, job_id: str, now: datetime, longest_s: float) -> list[int]:
    """Chunks whose worker is gone wait again. No lease is longer than that: one that ends later was written
    before a clock was set back."""
    ends_at, last = chunks.c.lease_until, now + timedelta(seconds=longest_s + APART_S)
    is_over = sa.or_(ends_at < now, ends_at > last)
    expired = sa.and_(chunks.c.job_id == job_id, chunks.c.state == "CLAIMED", is_over)
    numbers = sorted(connection.execute(sa.select(chunks.c.number).where(expired)).scalars())
    connection.execute(sa.update(chunks).where(expired).values(state="WAITING", claim=None, lease_until=None))
    return numbers


def most_attempts(connection: sa.Connection, job_id: str) -> int:
    """Of the chunks that wait: one that is done, or may yet succeed, is no reason to give up."""
    query = sa.select(sa.func.max(chunks.c.attempts)).where(
        chunks.c.job_id == job_id, chunks.c.state == "WAITING"
    )
    return connection.execute(query).scalar() or 0


def places(connection: sa.Connection, job_id: str) -> list[Mapping[str, Any] | None]:
    """Where the runs of each chunk were made, as it was kept; None where nobody has kept it."""
    query = sa.select(chunks.c.ran_in).where(chunks.c.job_id == job_id).order_by(chunks.c.number)
    return list(connection.execute(query).scalars())


def sealed_outputs(connection: sa.Connection, job_id: str) -> dict[int, bytes]:
    query = sa.select(run_outputs.c.run, run_outputs.c.sealed).where(run_outputs.c.job_id == job_id)
    return {row.run: row.sealed for row in connection.execute(query)}


def discard(connection: sa.Connection, job_id: str) -> None:
    """Un-noised outputs end with the release, or with the job."""
    # chunks first: that waits for a worker that is just finishing one, whose outputs are then seen and go too
    connection.execute(sa.delete(chunks).where(chunks.c.job_id == job_id))
    connection.execute(sa.delete(run_outputs).where(run_outputs.c.job_id == job_id))
