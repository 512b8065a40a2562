"""The end of a data set for good: its rights holder asks, the worker zone destroys its key.

Asking withdraws it, and cancels what runs. The worker zone goes on when no job of it is left. What was
spent and released stays.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.dataset import DatasetState
from domain.erasure import Held
from domain.errors import Conflict
from domain.notice import NoticeKind
from domain.permissions import User
from domain.states import JobState
from store import audit, notices, withdrawals
from store.spoilt import readable, reads
from store.tables import Moment, metadata
from store.tables import datasets as versions
from store.tables import jobs as job_rows

S = DatasetState
UNERASED = (S.IMPORTING, S.READY, S.WITHDRAWN)
# their runs see data, or what they have put out is still to be drawn from
NEEDS_THE_KEY = (
    JobState.SUBMITTED,
    JobState.QUEUED,
    JobState.PREPARING,
    JobState.RUNNING,
    JobState.AGGREGATING,
)


# What was asked to be erased, and the zone's signed word that it was.
erasures = sa.Table(
    "erasures",
    metadata,
    sa.Column("id", sa.String(36), primary_key=True),
    sa.Column("name", sa.String(63), nullable=False),
    sa.Column("asked_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("asked_at", Moment, nullable=False),
    sa.Column("done_at", Moment),
    # by the worker zone, for what it waits: a name of Held
    sa.Column("held", sa.String(20)),
    sa.Column("record", sa.JSON(none_as_null=True)),
)
sa.Index("ix_erasures_name", erasures.c.name)


@dataclass(frozen=True)
class Erasure:
    """Of all versions that a data set had then. `record` once it is done."""

    id: str
    name: str
    asked_by: str
    asked_at: datetime
    done_at: datetime | None
    held: str | None
    record: Mapping[str, Any] | None


def newest(connection: sa.Connection, name: str) -> Erasure | None:
    query = sa.select(erasures).where(erasures.c.name == name)
    row = connection.execute(query.order_by(erasures.c.asked_at.desc()).limit(1)).one_or_none()
    return None if row is None else _erasure(row)


def ask(connection: sa.Connection, *, name: str, user: User, now: datetime) -> Erasure:
    """Withdrawn, what runs is cancelled, and on record for the worker zone. Again finds what is there.

    Raises NotFound for everybody but its rights holder, and Conflict where data of it have no key of their
    own, or where there is nothing to erase.
    """
    found = withdrawals.own(connection, name, user)
    if _has_no_own_key(connection, name):
        raise Conflict(
            "dataset",
            f"data of {name} were imported before each data set had a key of its own.",
            "They can be withdrawn; only the end of the zone's key ends them.",
        )
    known = newest(connection, name)
    if _in(connection, name, UNERASED):
        withdrawals.withdraw(connection, name=name, user=user, cancels_running=True, now=now)
    elif known is None:
        raise Conflict("dataset", f"no version of {name} is there to be erased.", "See `dpgate datasets`.")
    else:
        return known
    if known is not None and known.done_at is None:
        return known
    made = Erasure(str(uuid.uuid4()), name, user.name, now, None, None, None)
    connection.execute(sa.insert(erasures).values(**vars(made)))
    through = {} if user.through is None else {"through": user.through}
    audit.append(connection, at=now, actor=user.name, action="dataset.erase", subject=found.id, **through)
    return made


def check_none_waits(connection: sa.Connection, name: str) -> None:
    """Raises Conflict while one is under way: a version that came now would be erased with the rest."""
    known = newest(connection, name)
    if known is not None and known.done_at is None:
        raise Conflict("name", f"{name} is being erased.", "Register the version when that is done.")


def waiting(connection: sa.Connection) -> list[Erasure]:
    """For the worker zone: all that are not done."""
    query = sa.select(erasures).where(erasures.c.done_at.is_(None)).order_by(erasures.c.asked_at)
    return readable(_erasure, connection.execute(query))


def records(connection: sa.Connection, names: Collection[str]) -> list[Any]:
    """What zones have signed of all erasures of these that are done."""
    query = sa.select(erasures.c.record).where(erasures.c.name.in_(names), erasures.c.record.is_not(None))
    return list(connection.execute(query).scalars())


def in_the_way(connection: sa.Connection, name: str) -> str | None:
    """What has to end before its key may go, if anything has."""
    if _in(connection, name, (S.IMPORTING, S.READY)):
        return "a version takes jobs"
    open_job = (
        sa.select(job_rows.c.id)
        .join(versions, versions.c.id == job_rows.c.dataset_id)
        .where(versions.c.name == name, job_rows.c.state.in_(NEEDS_THE_KEY))
    )
    return "a job has not ended" if connection.execute(open_job.limit(1)).first() else None


def hold(connection: sa.Connection, erasure_id: str, reason: Held) -> None:
    """The zone's word, for its rights holder."""
    open_one = (erasures.c.id == erasure_id, erasures.c.done_at.is_(None))
    connection.execute(sa.update(erasures).where(*open_one).values(held=reason.name))


def waits_for(connection: sa.Connection, found: Erasure) -> str | None:
    """What has to come before it is done, for its rights holder."""
    if found.done_at is not None:
        return None
    held = None if found.held is None else Held[found.held].value
    return in_the_way(connection, found.name) or held


def snapshots(connection: sa.Connection, name: str) -> list[str]:
    """Of all versions that are or were ready."""
    query = sa.select(versions.c.snapshot).where(versions.c.name == name, versions.c.snapshot.is_not(None))
    return list(connection.execute(query).scalars())


def deliveries(connection: sa.Connection, name: str) -> list[str]:
    """Of all its versions, wherever they ended."""
    return list(connection.execute(sa.select(versions.c.delivery).where(versions.c.name == name)).scalars())


def keys(connection: sa.Connection, name: str) -> set[str]:
    """Of its versions that are not erased."""
    query = sa.select(versions.c.data_key).where(versions.c.name == name, versions.c.data_key.is_not(None))
    return set(connection.execute(query.where(versions.c.state.in_(UNERASED))).scalars())


def unfinished(connection: sa.Connection, *, ids: Collection[str], keys: Collection[str]) -> bool:
    """Whether the platform does not say yet that all of these are erased."""
    of_ids = sa.select(erasures.c.id).where(erasures.c.id.in_(ids), erasures.c.done_at.is_(None))
    of_keys = sa.select(versions.c.id).where(versions.c.data_key.in_(keys), versions.c.state != S.ERASED)
    return any(connection.execute(query.limit(1)).first() for query in (of_ids, of_keys))


def numbers(connection: sa.Connection, name: str, data_key: str) -> list[int]:
    """Its versions under a key."""
    query = sa.select(versions.c.version).where(versions.c.name == name, versions.c.data_key == data_key)
    return list(connection.execute(query.order_by(versions.c.version)).scalars())


def finish(
    connection: sa.Connection,
    *,
    erasure_id: str,
    name: str,
    data_key: str | None,
    record: Mapping[str, Any],
    now: datetime,
) -> None:
    """ERASED, with the zone's record. A platform that was restored from before the asking learns of it too;
    repeating it changes nothing."""
    under_it = sa.and_(versions.c.name == name, versions.c.data_key == data_key, versions.c.state != S.ERASED)
    ids = list(connection.execute(sa.select(versions.c.id).where(under_it)).scalars())
    connection.execute(sa.update(versions).where(versions.c.id.in_(ids)).values(state=S.ERASED))
    # on a platform that was restored from before it was asked for, some are there again
    withdrawals.cancel(connection, withdrawals.hold(connection, ids, withdrawals.OPEN), now=now)
    done = connection.execute(
        sa.update(erasures)
        .where(erasures.c.id == erasure_id, erasures.c.done_at.is_(None))
        .values(done_at=now, record=dict(record))
    ).rowcount
    for dataset_id in ids:
        audit.append(connection, at=now, actor="worker", action="dataset.erased", subject=dataset_id)
    if ids or done:
        _tell(connection, name, now=now)


@reads("the erasure of data set", by="name")
def _erasure(row: sa.Row[Any]) -> Erasure:
    fields = dict(row._mapping)
    return Erasure(**fields | {"record": None if row.record is None else dict(row.record)})


def _tell(connection: sa.Connection, name: str, *, now: datetime) -> None:
    """Its rights holder, and everybody who has ever had a job on it."""
    of_it = versions.c.name == name
    authors = sa.select(job_rows.c.author).join(versions, versions.c.id == job_rows.c.dataset_id).where(of_it)
    owners = sa.select(versions.c.owner).where(of_it)
    to = connection.execute(sa.union(authors, owners)).scalars()
    notices.tell(connection, kind=NoticeKind.DATASET_ERASED, subject=name, to=to, now=now, dataset=name)


def _has_no_own_key(connection: sa.Connection, name: str) -> bool:
    old = (versions.c.snapshot.is_not(None), versions.c.data_key.is_(None))
    query = sa.select(versions.c.id).where(versions.c.name == name, *old).limit(1)
    return connection.execute(query).first() is not None


def _in(connection: sa.Connection, name: str, states: tuple[DatasetState, ...]) -> bool:
    query = sa.select(versions.c.id).where(versions.c.name == name, versions.c.state.in_(states))
    return connection.execute(query.limit(1)).first() is not None
