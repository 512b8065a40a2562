"""Profiles on record, sealed. A state changes by compare-and-set; of two workers with one message, one reads.

Nothing here can be opened with what the database, the gateway or the worker hold.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from domain.errors import Conflict, NotFound
from domain.profile_request import (
    KEPT,
    KEPT_FOR,
    MOST_OPEN,
    MOVES,
    ProfileOnRecord,
    ProfileProblem,
    ProfileRequest,
    ProfileState,
    fingerprint,
)
from store import audit
from store.database import insert_once
from store.spoilt import readable, reads
from store.tables import Moment, datasets, metadata, one_of

# Profiles that the worker zone made for rights holders, sealed; and the public parts of twins' reports.

profiles = sa.Table(
    "profiles",
    metadata,
    sa.Column("id", sa.String(64), primary_key=True),
    sa.Column("owner", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("name", sa.String(63), nullable=False),
    sa.Column("delivery", sa.String(36), nullable=False),
    # X25519, base64: the private half never comes here
    sa.Column("key", sa.String(44), nullable=False),
    sa.Column("people", sa.JSON, nullable=False),
    sa.Column("state", sa.String(10), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("problem", sa.String(20)),
    # only the rights holder's key opens it; its length is a rung of a ladder
    sa.Column("sealed", sa.LargeBinary),
    sa.Column("created_at", Moment, nullable=False),
    sa.Column("moved_at", Moment, nullable=False),
    # when a worker that says nothing is taken for lost, or a message for it
    sa.Column("due_at", Moment, nullable=False),
    one_of("state", ProfileState),
    sa.CheckConstraint("(state = 'SEALED') = (sealed IS NOT NULL)", name="sealed_or_not"),
    sa.CheckConstraint("(state = 'FAILED') = (problem IS NOT NULL)", name="failed_or_not"),
)
sa.Index("ix_profiles_owner_created_at", profiles.c.owner, profiles.c.created_at)
sa.Index("ix_profiles_state_due_at", profiles.c.state, profiles.c.due_at)
sa.Index("ix_profiles_delivery", profiles.c.delivery)

twin_reports = sa.Table(
    "twin_reports",
    metadata,
    sa.Column("dataset_id", sa.ForeignKey("datasets.id"), primary_key=True),
    sa.Column("page", sa.LargeBinary, nullable=False),
    sa.Column("digest", sa.String(71), nullable=False),
    sa.Column("put_by", sa.String(63), sa.ForeignKey("users.name"), nullable=False),
    sa.Column("put_at", Moment, nullable=False),
)


RESEND_AFTER = timedelta(seconds=20)
_OPEN = tuple(state for state in ProfileState if state.is_open)
_SEEN = [column for column in profiles.c if column.name not in ("sealed", "due_at")]


def request(
    connection: sa.Connection, *, profile_id: str, owner: str, request: ProfileRequest, now: datetime
) -> tuple[ProfileOnRecord, bool]:
    """A new one, or the one on record under this id: (profile, is it new?).

    Raises Conflict when the id stands for another one, when the name or the delivery is somebody else's, and
    when too many of this owner wait.
    """
    if present := _find(connection, profile_id):
        if present.owner != owner or present.request != request:
            raise _taken()
        return present, False
    _check_name(connection, request.name, owner)
    check_delivery(connection, request.delivery, owner)
    _check_open(connection, owner)
    values = {
        **request.model_dump(mode="json"),
        "id": profile_id,
        "owner": owner,
        "state": ProfileState.WAITING,
        "attempts": 0,
        "created_at": now,
        "moved_at": now,
        "due_at": now + RESEND_AFTER,
    }
    if not insert_once(connection, profiles, values):
        raise _taken()
    _forget_old(connection, owner)
    audit.append(
        connection, at=now, actor=owner, action="profile.request", subject=profile_id, name=request.name,
        delivery=request.delivery, key=fingerprint(request.key),
    )  # fmt: skip
    return get(connection, profile_id), True


def get(connection: sa.Connection, profile_id: str) -> ProfileOnRecord:
    found = _find(connection, profile_id)
    if found is None:
        raise _absent()
    return found


def get_own(connection: sa.Connection, profile_id: str, *, owner: str) -> ProfileOnRecord:
    """The same words for absent and somebody else's."""
    found = _find(connection, profile_id)
    if found is None or found.owner != owner:
        raise _absent()
    return found


def of_owner(connection: sa.Connection, owner: str) -> list[ProfileOnRecord]:
    """The newest first."""
    query = sa.select(*_SEEN).where(profiles.c.owner == owner)
    return readable(_profile, connection.execute(query.order_by(profiles.c.created_at.desc())))


def sealed_of(connection: sa.Connection, profile_id: str, *, owner: str, now: datetime) -> bytes:
    """What the worker zone sealed. Raises Conflict unless there is something."""
    found = get_own(connection, profile_id, owner=owner)
    query = sa.select(profiles.c.sealed).where(profiles.c.id == profile_id)
    sealed: bytes | None = connection.execute(query).scalar_one()
    if sealed is None:
        raise Conflict("profile", f"it is {found.state}.", "Wait until it is SEALED.")
    audit.append(connection, at=now, actor=owner, action="profile.fetch", subject=profile_id, name=found.name)
    return sealed


def remove(connection: sa.Connection, profile_id: str, *, owner: str, now: datetime) -> None:
    """Whatever its state: a worker that is at it finds nothing to keep. Raises NotFound."""
    found = get_own(connection, profile_id, owner=owner)
    connection.execute(sa.delete(profiles).where(profiles.c.id == profile_id))
    audit.append(
        connection, at=now, actor=owner, action="profile.remove", subject=profile_id, name=found.name
    )


def check_delivery(connection: sa.Connection, delivery: str, owner: str) -> None:
    """Raises Conflict for a delivery that somebody else asked about first, here or for a registration."""
    asked = sa.select(profiles.c.id).where(profiles.c.delivery == delivery, profiles.c.owner != owner)
    registered = sa.select(datasets.c.id).where(datasets.c.delivery == delivery, datasets.c.owner != owner)
    if any(connection.execute(query.limit(1)).first() for query in (asked, registered)):
        raise Conflict(
            "delivery", "this delivery is somebody else's.", "Copy the number that you were given."
        )


def claim(
    connection: sa.Connection, profile_id: str, *, now: datetime, due_at: datetime
) -> ProfileOnRecord | None:
    """WAITING -> READING for one worker, unless another profile is read: jobs must find room."""
    busy = sa.select(profiles.c.id).where(profiles.c.state == ProfileState.READING)
    if connection.execute(busy.limit(1)).first() is not None:
        return None
    changed = connection.execute(
        sa.update(profiles)
        .where(profiles.c.id == profile_id, profiles.c.state == ProfileState.WAITING)
        .values(state=ProfileState.READING, attempts=profiles.c.attempts + 1, moved_at=now, due_at=due_at)
    )
    return get(connection, profile_id) if changed.rowcount == 1 else None


def beat(connection: sa.Connection, profile: ProfileOnRecord, *, due_at: datetime) -> bool:
    """The worker lives. False when the profile is not its own any more."""
    return _change(connection, profile, due_at=due_at)


def finish(connection: sa.Connection, profile: ProfileOnRecord, *, sealed: bytes, now: datetime) -> bool:
    """READING -> SEALED. False when the sweep gave it to somebody else, or its owner removed it."""
    return _end(connection, profile, ProfileState.SEALED, now=now, sealed=sealed)


def fail(
    connection: sa.Connection, profile: ProfileOnRecord, *, problem: ProfileProblem, now: datetime
) -> bool:
    """READING -> FAILED, for a reason that says nothing of the data."""
    return _end(connection, profile, ProfileState.FAILED, now=now, problem=problem.name)


def put_back(connection: sa.Connection, profile: ProfileOnRecord, *, now: datetime) -> bool:
    """READING -> WAITING: another try, after a while."""
    return _change(connection, profile, state=ProfileState.WAITING, moved_at=now, due_at=now + RESEND_AFTER)


def overdue(connection: sa.Connection, *, now: datetime) -> list[ProfileOnRecord]:
    """Waiting ones whose message may be lost, and those whose worker says nothing; oldest first."""
    query = sa.select(*_SEEN).where(profiles.c.state.in_(_OPEN), profiles.c.due_at <= now)
    return readable(_profile, connection.execute(query.order_by(profiles.c.created_at)))


def nudge(connection: sa.Connection, profile: ProfileOnRecord, *, now: datetime) -> bool:
    """True for the one sweep that may send the message again."""
    own = sa.and_(profiles.c.id == profile.id, profiles.c.state == ProfileState.WAITING)
    change = sa.update(profiles).where(own, profiles.c.due_at <= now)
    return connection.execute(change.values(due_at=now + RESEND_AFTER)).rowcount == 1


def forget(connection: sa.Connection, *, now: datetime) -> int:
    """What ended so long ago that nobody will come for it. How many."""
    old = sa.and_(profiles.c.state.not_in(_OPEN), profiles.c.moved_at <= now - KEPT_FOR)
    return connection.execute(sa.delete(profiles).where(old)).rowcount


def _end(
    connection: sa.Connection, profile: ProfileOnRecord, state: ProfileState, *, now: datetime, **values: Any
) -> bool:
    if state not in MOVES[profile.state]:
        raise ValueError(f"no profile moves from {profile.state} to {state}")
    if not _change(connection, profile, state=state, moved_at=now, **values):
        return False
    told = {"problem": values["problem"]} if "problem" in values else {}
    audit.append(
        connection, at=now, actor="worker", action="profile.end", subject=profile.id, name=profile.name,
        owner=profile.owner, state=state, **told,
    )  # fmt: skip
    return True


def _change(connection: sa.Connection, profile: ProfileOnRecord, **values: Any) -> bool:
    """Of a profile that is read, by the one that claimed it: attempts tell one try from the next."""
    own = sa.and_(
        profiles.c.id == profile.id,
        profiles.c.state == ProfileState.READING,
        profiles.c.attempts == profile.attempts,
    )
    return connection.execute(sa.update(profiles).where(own).values(**values)).rowcount == 1


def _check_name(connection: sa.Connection, name: str, owner: str) -> None:
    taken = sa.select(datasets.c.id).where(datasets.c.name == name, datasets.c.owner != owner)
    if connection.execute(taken.limit(1)).first() is not None:
        raise Conflict("name", f"the name {name} is taken.", "Choose another name.")


def _check_open(connection: sa.Connection, owner: str) -> None:
    query = sa.select(sa.func.count()).where(profiles.c.owner == owner, profiles.c.state.in_(_OPEN))
    if connection.execute(query).scalar_one() >= MOST_OPEN:
        raise Conflict(
            "profile", f"{MOST_OPEN} of your profiles wait or are made.", "Wait for one, or remove it."
        )


def _forget_old(connection: sa.Connection, owner: str) -> None:
    ended = sa.select(profiles.c.id).where(profiles.c.owner == owner, profiles.c.state.not_in(_OPEN))
    old = connection.execute(ended.order_by(profiles.c.created_at.desc()).offset(KEPT)).scalars()
    if ids := list(old):
        connection.execute(sa.delete(profiles).where(profiles.c.id.in_(ids)))


def _find(connection: sa.Connection, profile_id: str) -> ProfileOnRecord | None:
    row = connection.execute(sa.select(*_SEEN).where(profiles.c.id == profile_id)).one_or_none()
    return None if row is None else _profile(row)


@reads("profile")
def _profile(row: sa.Row[Any]) -> ProfileOnRecord:
    found = ProfileOnRecord(**row._mapping)
    if not found.request.key or found.sentence == "":  # both raise where it is none of ours
        raise ValueError(found.id)
    return found


def _absent() -> NotFound:
    return NotFound("profile", "there is no such profile of yours.", "See `dpgate twin profiles`.")


def _taken() -> Conflict:
    return Conflict("profile_id", "this id stands for another profile.", "Choose a new id.")
