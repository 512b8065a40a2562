"""Drafts of jobs. A draft belongs to one data user; to everybody else it does not exist."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.errors import NotFound
from domain.job_draft import MAX_DRAFTS, DraftContent, JobDraft
from store.rehearsal_tables import job_drafts
from store.spoilt import readable, reads


def create(connection: sa.Connection, *, author: str, content: DraftContent, now: datetime) -> JobDraft:
    """A new draft. Where the author has MAX_DRAFTS, the one that was touched longest ago gives way."""
    draft_id = str(uuid.uuid4())
    connection.execute(
        sa.insert(job_drafts).values(
            id=draft_id,
            author=author,
            content=content.model_dump(mode="json"),
            created_at=now,
            updated_at=now,
        )
    )
    ids = sa.select(job_drafts.c.id).where(job_drafts.c.author == author)
    newest_first = ids.order_by(job_drafts.c.updated_at.desc(), job_drafts.c.id)
    old = list(connection.execute(newest_first.offset(MAX_DRAFTS)).scalars())
    if old:
        connection.execute(sa.delete(job_drafts).where(job_drafts.c.id.in_(old)))
    return get_own(connection, draft_id, author=author)


def get_own(connection: sa.Connection, draft_id: str, *, author: str) -> JobDraft:
    """The same words for absent and somebody else's."""
    query = sa.select(job_drafts).where(job_drafts.c.id == draft_id, job_drafts.c.author == author)
    row = connection.execute(query).one_or_none()
    if row is None:
        raise NotFound("draft", "there is no such draft of yours.", "Start a new one: /jobs/new.")
    return _draft(row)


def save(connection: sa.Connection, draft: JobDraft, content: DraftContent, *, now: datetime) -> JobDraft:
    """The draft with another content."""
    changed = job_drafts.c.id == draft.id
    connection.execute(
        sa.update(job_drafts).where(changed).values(content=content.model_dump(mode="json"), updated_at=now)
    )
    return get_own(connection, draft.id, author=draft.author)


def delete(connection: sa.Connection, draft: JobDraft) -> None:
    connection.execute(sa.delete(job_drafts).where(job_drafts.c.id == draft.id))


def of_author(connection: sa.Connection, author: str) -> list[JobDraft]:
    """The one touched last comes first."""
    query = sa.select(job_drafts).where(job_drafts.c.author == author)
    return readable(_draft, connection.execute(query.order_by(job_drafts.c.updated_at.desc())))


@reads("draft")
def _draft(row: sa.Row[Any]) -> JobDraft:
    fields = row._mapping
    return JobDraft(**{name: fields[name] for name in JobDraft.model_fields})
