"""Images that pipelines run in: announced by workers, approved by operators."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel

from domain.permissions import Permission, User
from gateway.access import TheDatabase, requires
from gateway.problems import RESPONSES
from store import audit, images

router = APIRouter(prefix="/images", tags=["images"], responses=RESPONSES)
Digest = Annotated[str, Path(pattern=r"^sha256:[0-9a-f]{64}$")]


class ImageView(BaseModel):
    digest: str
    name: str
    description: str
    approved_by: str | None
    approved_at: datetime | None


@router.get("", summary="Images on this platform")
def list_images(
    _user: Annotated[User, Depends(requires(Permission.IMAGE_READ))], database: TheDatabase
) -> list[ImageView]:
    with database.reading() as connection:
        return [ImageView.model_validate(image, from_attributes=True) for image in images.listed(connection)]


@router.post("/{digest}/approval", summary="Approve an image, by digest")
def approve_image(
    digest: Digest,
    user: Annotated[User, Depends(requires(Permission.IMAGE_APPROVE))],
    database: TheDatabase,
) -> ImageView:
    now = datetime.now(UTC)
    with database.transaction() as connection:
        image = images.approve(connection, digest=digest, by=user.name, now=now)
        audit.append(connection, at=now, actor=user.name, action="image.approve", subject=digest)
    return ImageView.model_validate(image, from_attributes=True)
