"""Chunks of a job's blocks, and the sealed outputs of their runs until the release is drawn."""

from __future__ import annotations

import uuid
from datetime import datetime

import sqlalchemy as sa

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


def finish(
    connection: sa.Connection, *, job_id: str, number: int, claim: str, sealed: dict[int, bytes]
) -> bool:
    """Keep the sealed outputs of a chunk, once. False when the claim was lost: then nothing is kept."""
    changed = connection.execute(
        sa.update(chunks)
        .where(
            chunks.c.job_id == job_id,
            chunks.c.number == number,
            chunks.c.state == "CLAIMED",
            chunks.c.claim == claim,
        )
        .values(state="DONE", claim=None, lease_until=None)
    )
    if changed.rowcount != 1:
        return False
    rows = [{"job_id": job_id, "block": block, "sealed": content} for block, content in sealed.items()]
    connection.execute(sa.insert(run_outputs), rows)
    return True


def give_back(connection: sa.Connection, *, job_id: str, number: int, claim: str) -> None:
    """The platform could not run the chunk: it waits again."""
    connection.execute(
        sa.update(chunks)
        .where(chunks.c.job_id == job_id, chunks.c.number == number, chunks.c.claim == claim)
        .values(state="WAITING", claim=None, lease_until=None)
    )


def all_done(connection: sa.Connection, job_id: str) -> bool:
    query = sa.select(sa.func.count()).where(chunks.c.job_id == job_id, chunks.c.state != "DONE")
    return connection.execute(query).scalar_one() == 0


def waiting(connection: sa.Connection, job_id: str) -> list[int]:
    query = sa.select(chunks.c.number).where(chunks.c.job_id == job_id, chunks.c.state == "WAITING")
    return sorted(connection.execute(query).scalars())


def release_expired(connection: sa.Connection, *, job_id: str, now: datetime) -> list[int]:
    """Chunks whose worker is gone wait again."""
    expired = sa.and_(chunks.c.job_id == job_id, chunks.c.state == "CLAIMED", chunks.c.lease_until < now)
    numbers = sorted(connection.execute(sa.select(chunks.c.number).where(expired)).scalars())
    connection.execute(sa.update(chunks).where(expired).values(state="WAITING", claim=None, lease_until=None))
    return numbers


def most_attempts(connection: sa.Connection, job_id: str) -> int:
    """Of the chunks that wait: one that is done, or may yet succeed, is no reason to give up."""
    query = sa.select(sa.func.max(chunks.c.attempts)).where(
        chunks.c.job_id == job_id, chunks.c.state == "WAITING"
    )
    return connection.execute(query).scalar() or 0


def sealed_outputs(connection: sa.Connection, job_id: str) -> dict[int, bytes]:
    query = sa.select(run_outputs.c.block, run_outputs.c.sealed).where(run_outputs.c.job_id == job_id)
    return {row.block: row.sealed for row in connection.execute(query)}


def discard(connection: sa.Connection, job_id: str) -> None:
    """Un-noised outputs end with the release, or with the job."""
    # chunks first: that waits for a worker that is just finishing one, whose outputs are then seen and go too
    connection.execute(sa.delete(chunks).where(chunks.c.job_id == job_id))
    connection.execute(sa.delete(run_outputs).where(run_outputs.c.job_id == job_id))
