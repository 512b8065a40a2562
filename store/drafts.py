"""Drafts of registrations. A draft belongs to one rights holder; to everybody else it does not exist."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.errors import Conflict, NotFound, TooLarge
from store.draft_tables import registration_drafts as drafts
from store.spoilt import readable, reads

MOST = 20
"""Drafts of one rights holder."""
MAX_BYTES = 2 * 2**20


@dataclass(frozen=True)
class Draft:
    """A declaration as typed so far: any JSON object, right or wrong."""

    id: str
    owner: str
    revision: int
    content: dict[str, Any]
    changed_at: datetime


def create(connection: sa.Connection, *, owner: str, content: dict[str, Any], now: datetime) -> Draft:
    """A new draft. Raises Conflict when its owner has MOST of them, TooLarge beyond MAX_BYTES."""
    _check_size(content)
    query = sa.select(sa.func.count()).select_from(drafts).where(drafts.c.owner == owner)
    if connection.execute(query).scalar_one() >= MOST:
        raise Conflict("draft", f"you have {MOST} drafts already.", "Throw one of them away.")
    draft = Draft(id=str(uuid.uuid4()), owner=owner, revision=1, content=content, changed_at=now)
    connection.execute(sa.insert(drafts).values(created_at=now, **vars(draft)))
    return draft


def read(connection: sa.Connection, draft_id: str, *, owner: str) -> Draft:
    """Raises NotFound unless it is this owner's."""
    query = sa.select(drafts).where(drafts.c.id == draft_id, drafts.c.owner == owner)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound("draft", "there is no such draft of yours.")
    return _draft(row)


def change(
    connection: sa.Connection, draft: Draft, content: dict[str, Any], *, revision: int, now: datetime
) -> Draft:
    """Another content, by somebody who has seen `revision`. Raises Conflict when there is a later one."""
    _check_size(content)
    changed = connection.execute(
        sa.update(drafts)
        .where(
            drafts.c.id == draft.id,
            drafts.c.owner == draft.owner,
            drafts.c.revision == revision,
        )
        .values(content=content, revision=revision + 1, changed_at=now)
    )
    if changed.rowcount != 1:
        raise Conflict("draft", "was changed in another window meanwhile.", "Save again to replace that.")
    return Draft(draft.id, draft.owner, revision + 1, content, now)


def remove(connection: sa.Connection, draft_id: str, *, owner: str) -> bool:
    """Whether there was such a draft of this owner."""
    gone = connection.execute(sa.delete(drafts).where(drafts.c.id == draft_id, drafts.c.owner == owner))
    return gone.rowcount == 1


def of_owner(connection: sa.Connection, owner: str) -> list[Draft]:
    """Newest first."""
    query = sa.select(drafts).where(drafts.c.owner == owner).order_by(drafts.c.changed_at.desc(), drafts.c.id)
    return readable(_draft, connection.execute(query))


def _check_size(content: dict[str, Any]) -> None:
    size = len(json.dumps(content))
    if size > MAX_BYTES:
        raise TooLarge(
            "draft",
            f"the declaration takes {size >> 10} KiB; a draft here takes at most {MAX_BYTES >> 10}.",
            "Write it as dataset.yaml, and use dpgate dataset add.",
        )


@reads("draft")
def _draft(row: sa.Row[Any]) -> Draft:
    fields = {name: row._mapping[name] for name in Draft.__dataclass_fields__}
    return Draft(**fields | {"content": dict(fields["content"])})
