"""Images that pipelines run in: announced by workers, approved and withdrawn by operators, by digest."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel, Field

from desk.rights import needs
from domain.image import ImageKind, ImageState, SyscallTable
from domain.model import Model
from domain.permissions import Permission, User
from store import audit, images
from store.database import Database


class ImageApproval(Model):
    """What the operator approves the image for."""

    syscalls: SyscallTable = Field(SyscallTable.STRICT, description="The table that its runs are held to")
    warm: bool = Field(
        False, description="The operator made this image: its libraries may be loaded once for all runs"
    )


class ImageView(BaseModel):
    """An image on record. What it was approved for is empty until it is approved."""

    digest: str
    name: str
    description: str
    kind: ImageKind
    use: str = Field(description="What an image of this kind is for")
    state: ImageState
    tree_digest: str | None = Field(description="Over its files as the worker holds them")
    source_digest: str | None = Field(description="Of the archive that it came from")
    size: int | None = Field(description="Bytes of its files")
    syscalls: SyscallTable | None
    warm: bool
    approved_by: str | None
    approved_at: datetime | None
    withdrawn_by: str | None
    withdrawn_at: datetime | None


def _view(image: images.Image) -> ImageView:
    return ImageView.model_validate(image, from_attributes=True)


@needs(Permission.IMAGE_READ)
def list_images(database: Database, _user: User) -> list[ImageView]:
    with database.reading() as connection:
        return [_view(image) for image in images.listed(connection)]


@needs(Permission.IMAGE_APPROVE)
def approve_image(
    database: Database, user: User, digest: str, approval: ImageApproval | None = None
) -> ImageView:
    """For the strict table of system calls unless the body says otherwise. The newest approval counts."""
    wanted, now = approval or ImageApproval(), datetime.now(UTC)
    with database.transaction() as connection:
        image = images.approve(
            connection, digest=digest, by=user.name, now=now, syscalls=wanted.syscalls, warm=wanted.warm
        )
        audit.append(
            connection,
            at=now,
            actor=user.name,
            action="image.approve",
            subject=digest,
            name=image.name,
            syscalls=wanted.syscalls,
            warm=wanted.warm,
        )
    return _view(image)


@needs(Permission.IMAGE_APPROVE)
def withdraw_image(database: Database, user: User, digest: str) -> ImageView:
    """Jobs that wait end without a charge; jobs that run finish."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        image = images.withdraw(connection, digest=digest, by=user.name, now=now)
        audit.append(connection, at=now, actor=user.name, action="image.withdraw", subject=digest)
    return _view(image)


@needs(Permission.IMAGE_APPROVE)
def retire_image(database: Database, user: User, digest: str) -> ImageView:
    """Refused while unfinished jobs name it. The record stays, since finished jobs name its digest."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        image = images.retire(connection, digest=digest, by=user.name, now=now)
        audit.append(connection, at=now, actor=user.name, action="image.retire", subject=digest)
    return _view(image)
