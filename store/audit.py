"""The audit trail: append-only, each event carries the hash of the one before it.

The chain shows a change or a removal inside it; only a copy of a later hash kept elsewhere shows that the
tail was cut off or the whole rewritten. `head()` gives that hash for safekeeping.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import sqlalchemy as sa

from domain.errors import PlatformError
from domain.model import canonical
from store import turn
from store.tables import audit_events, audit_head

GENESIS = "0" * 64
# of an instant, a document or letters that no append of ours has left
UNREADABLE = (ValueError, TypeError, AttributeError, RecursionError)

_HEAD = sa.select(audit_head.c.number, audit_head.c.hash).where(audit_head.c.id == 1)
_AT_HEAD = audit_head.c.hash == sa.bindparam("last_hash", type_=sa.String)
_NEW: dict[str, sa.ColumnElement[Any]] = {
    column.name: sa.bindparam(f"new_{column.name}", type_=column.type) for column in audit_events.c
}
_APPEND = turn.Change(
    sa.update(audit_head).where(_AT_HEAD).values(number=_NEW["number"], hash=_NEW["hash"]),
    key=audit_head.c.id,
    into=audit_events,
    row=_NEW,
)


@dataclass(frozen=True)
class Verdict:
    """What `verify` found: `broken_at` is the number of the first event that does not fit, or None."""

    events: int
    head: str
    broken_at: int | None

    @property
    def intact(self) -> bool:
        return self.broken_at is None


def append(
    connection: sa.Connection, *, at: datetime, actor: str, action: str, subject: str, **details: Any
) -> None:
    """Add one event in the caller's transaction. Details are public facts and ids, never data."""
    if at.tzinfo is None:
        raise ValueError("an instant needs a zone")
    last = turn.take(connection)
    event: dict[str, Any] = {
        "number": last.number + 1,
        "at": at.astimezone(UTC),
        "actor": actor,
        "action": action,
        "subject": subject,
        "details": details,
        "previous": last.hash,
    }
    event["hash"] = _hash(event)
    values = {f"new_{name}": value for name, value in event.items()}
    if _APPEND.execute(connection, **values, last_hash=last.hash) != 1:
        raise PlatformError("the audit trail was written out of turn; nothing was kept")
    last.number, last.hash = event["number"], event["hash"]


def verify(
    connection: sa.Connection,
    *,
    expected_head: str | None = None,
    known: Mapping[int, str] = MappingProxyType({}),
) -> Verdict:
    """Walk the whole chain. `expected_head` is a hash that was kept elsewhere and must occur in it; `known`
    are such hashes by the number of their event. Raises OperationalError where the database gives up."""
    previous, good, count, found = GENESIS, 0, 0, expected_head in (None, GENESIS)
    rows = connection.execute(sa.select(audit_events).order_by(audit_events.c.number))
    try:
        for row in rows:
            count += 1
            is_known = row.hash == known.get(row.number, row.hash)
            right = (count, previous, _hash(dict(row._mapping)))
            if (row.number, row.previous, row.hash) != right or not is_known:
                return Verdict(events=count, head=previous, broken_at=count)
            previous, good = row.hash, count
            found = found or row.hash == expected_head
    except UNREADABLE:
        # what we wrote can be read: a row that cannot, or has no hash, is not ours
        return Verdict(events=good + 1, head=previous, broken_at=good + 1)
    recorded = connection.execute(_HEAD).one_or_none()
    found = found and max(known, default=0) <= count
    whole = found and recorded is not None and tuple(recorded) == (count, previous)
    return Verdict(events=count, head=previous, broken_at=None if whole else count + 1)


def head(connection: sa.Connection) -> tuple[int, str]:
    """Number and hash of the newest event."""
    row = connection.execute(_HEAD).one()
    return row.number, row.hash


def hashes(connection: sa.Connection) -> dict[int, str]:
    """Of all events, by number; `verify` says whether they are right."""
    query = sa.select(audit_events.c.number, audit_events.c.hash)
    return {row.number: row.hash for row in connection.execute(query)}


def _hash(event: dict[str, Any]) -> str:
    content = {key: value for key, value in event.items() if key != "hash"}
    content["at"] = content["at"].isoformat()
    return hashlib.sha256(canonical(content)).hexdigest()
