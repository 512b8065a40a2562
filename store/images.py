"""Root file systems that pipelines may run in: announced by workers, approved by operators, by digest."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from domain.errors import Conflict, NotFound
from domain.image import ImageKind, ImageState, SyscallTable
from domain.refusals import admission
from domain.states import JobState, is_terminal
from store.database import insert_once
from store.spoilt import readable, reads
from store.tables import images, jobs


@dataclass(frozen=True)
class Origin:
    """Where an image comes from. The host's own has no archive, and only a digest that tells states apart."""

    kind: ImageKind = ImageKind.HOST
    tree_digest: str | None = None  # over its files as the worker holds them
    source_digest: str | None = None  # of the archive
    size: int | None = None  # bytes of its files


@dataclass(frozen=True)
class Image:
    """An image on record. `syscalls` and `warm` are what the last approval allowed."""

    digest: str
    name: str
    description: str
    kind: ImageKind
    tree_digest: str | None
    source_digest: str | None
    size: int | None  # bytes of its files
    syscalls: SyscallTable | None
    warm: bool
    approved_by: str | None
    approved_at: datetime | None
    withdrawn_by: str | None
    withdrawn_at: datetime | None
    created_at: datetime

    @property
    def state(self) -> ImageState:
        if self.approved_at is None:
            return ImageState.WAITING
        return ImageState.APPROVED if self.withdrawn_at is None else ImageState.WITHDRAWN

    @property
    def is_approved(self) -> bool:
        return self.state is ImageState.APPROVED

    @property
    def use(self) -> str:
        return self.kind.use


HOST = Origin()


def announce(
    connection: sa.Connection,
    *,
    digest: str,
    name: str,
    description: str,
    now: datetime,
    origin: Origin = HOST,
) -> Image:
    """Put an image on record, not approved. A second announcement of the same digest changes nothing."""
    values = {
        "digest": digest,
        "name": name,
        "description": description,
        "created_at": now,
        "warm": False,
        **asdict(origin),
    }
    if _find(connection, digest) is None:
        insert_once(connection, images, values)  # two workers may announce it at the same moment
    return get(connection, digest)


def approve(
    connection: sa.Connection,
    *,
    digest: str,
    by: str,
    now: datetime,
    syscalls: SyscallTable = SyscallTable.STRICT,
    warm: bool = False,
) -> Image:
    """The operator's word that pipelines may run in this image. The newest approval of a name counts.

    `syscalls` is the table that its runs are held to. `warm`: the operator made this image and trusts what
    is in it, so that its libraries may be loaded once for all runs of a job.
    """
    _change(
        connection,
        digest,
        approved_by=by,
        approved_at=now,
        syscalls=syscalls,
        warm=warm,
        withdrawn_by=None,
        withdrawn_at=None,
    )
    return get(connection, digest)


def withdraw(connection: sa.Connection, *, digest: str, by: str, now: datetime) -> Image:
    """No new job may name it, waiting ones end without charge, running ones finish. Raises Conflict unless it
    is approved."""
    if not get(connection, digest).is_approved:
        raise Conflict("digest", f"the image {digest} is not approved.", "See `dpgate image list`.")
    _change(connection, digest, withdrawn_by=by, withdrawn_at=now)
    return get(connection, digest)


def retire(connection: sa.Connection, *, digest: str, by: str, now: datetime) -> Image:
    """Before its files are removed. Raises Conflict while jobs that are not finished name it.

    The row stays: certificates and finished jobs name its digest.
    """
    image = get(connection, digest)
    if waiting := _unfinished(connection, digest):
        raise Conflict(
            "digest",
            f"{waiting} unfinished jobs name the image {digest}.",
            "Wait for them, or withdraw its approval first: jobs that wait then end, without a charge.",
        )
    return withdraw(connection, digest=digest, by=by, now=now) if image.is_approved else image


def get(connection: sa.Connection, digest: str) -> Image:
    image = _find(connection, digest)
    if image is None:
        raise NotFound("digest", f"there is no image {digest}.", "See `dpgate image list`.")
    return image


def approved(connection: sa.Connection, name: str) -> Image:
    """The approved image of that name. Raises InvalidRequest when the operator has approved none."""
    row = connection.execute(
        sa.select(images)
        .where(images.c.name == name, images.c.approved_at.is_not(None), images.c.withdrawn_at.is_(None))
        .order_by(images.c.approved_at.desc())
        .limit(1)
    ).one_or_none()
    if row is None:
        raise admission.NO_IMAGE(image=name)
    return _image(row)


def listed(connection: sa.Connection) -> list[Image]:
    query = sa.select(images).order_by(images.c.name, images.c.created_at)
    return readable(_image, connection.execute(query))


def _unfinished(connection: sa.Connection, digest: str) -> int:
    final = [state for state in JobState if is_terminal(state)]
    query = sa.select(sa.func.count()).select_from(jobs)
    found: int = connection.execute(
        query.where(jobs.c.image_digest == digest, jobs.c.state.not_in(final))
    ).scalar_one()
    return found


def _change(connection: sa.Connection, digest: str, **values: Any) -> None:
    changed = connection.execute(sa.update(images).where(images.c.digest == digest).values(**values))
    if changed.rowcount != 1:
        raise NotFound("digest", f"there is no image {digest}.", "See `dpgate image list`.")


def _find(connection: sa.Connection, digest: str) -> Image | None:
    row = connection.execute(sa.select(images).where(images.c.digest == digest)).one_or_none()
    return None if row is None else _image(row)


@reads("image", by="digest")
def _image(row: sa.Row[Any]) -> Image:
    fields = dict(row._mapping)
    fields["kind"] = ImageKind(fields["kind"])
    fields["syscalls"] = SyscallTable(fields["syscalls"]) if fields["syscalls"] else None
    return Image(**fields)
