"""Routes of images."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body

from desk import images
from desk.images import ImageApproval
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, Digest
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/images", tags=["images"], responses=RESPONSES)

router.get("", summary="Images on this platform")(served(images.list_images))
router.post("/{digest}/approval", summary="Approve an image, by digest")(
    served(images.approve_image, digest=Digest, approval=Annotated[ImageApproval | None, Body()])
)
router.delete("/{digest}/approval", summary="Withdraw an approval")(
    served(images.withdraw_image, digest=Digest)
)
router.delete("/{digest}", summary="Retire an image, before its files are removed")(
    served(images.retire_image, digest=Digest)
)
