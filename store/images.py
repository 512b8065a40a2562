"""Root file systems that the operator has approved, named by digest."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from domain.errors import InvalidRequest, NotFound
from store.tables import images


@dataclass(frozen=True)
class Image:
    digest: str
    name: str
    description: str
    approved_by: str | None
    approved_at: datetime | None
    created_at: datetime


def announce(connection: sa.Connection, *, digest: str, name: str, description: str, now: datetime) -> Image:
    """Put an image on record, not approved. A second announcement of the same digest changes nothing."""
    known = connection.execute(sa.select(images).where(images.c.digest == digest)).one_or_none()
    if known is None:
        values = {"digest": digest, "name": name, "description": description, "created_at": now}
        connection.execute(sa.insert(images).values(values))
    return get(connection, digest)


def approve(connection: sa.Connection, *, digest: str, by: str, now: datetime) -> Image:
    """The operator's word that pipelines may run in this image. The newest approval of a name counts."""
    changed = connection.execute(
        sa.update(images).where(images.c.digest == digest).values(approved_by=by, approved_at=now)
    )
    if changed.rowcount != 1:
        raise NotFound("digest", f"there is no image {digest}.", "See `dpgate image list`.")
    return get(connection, digest)


def get(connection: sa.Connection, digest: str) -> Image:
    row = connection.execute(sa.select(images).where(images.c.digest == digest)).one_or_none()
    if row is None:
        raise NotFound("digest", f"there is no image {digest}.", "See `dpgate image list`.")
    return Image(**row._mapping)


def approved(connection: sa.Connection, name: str) -> Image:
    """The approved image of that name. Raises InvalidRequest when the operator has approved none."""
    row = connection.execute(
        sa.select(images)
        .where(images.c.name == name, images.c.approved_at.is_not(None))
        .order_by(images.c.approved_at.desc())
        .limit(1)
    ).one_or_none()
    if row is None:
        raise InvalidRequest(
            "pipeline.manifest.image",
            f"no image {name} is approved on this platform.",
            "Choose one that `dpgate image list` shows as approved, or ask the operator.",
        )
    return Image(**row._mapping)


def listed(connection: sa.Connection) -> list[Image]:
    query = sa.select(images).order_by(images.c.name, images.c.created_at)
    return [Image(**row._mapping) for row in connection.execute(query)]
