"""Images: what each is, and whether pipelines may run in it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from desk.images import ImageApproval, approve_image, withdraw_image
from domain.errors import InvalidRequest
from domain.image import ImageState, SyscallTable
from domain.permissions import Permission, User
from gateway.access import TheDatabase
from gateway.pages.layout import page
from gateway.pages.session import CheckedForm, page_requires
from gateway.routes import Digest
from store import images

router = APIRouter(include_in_schema=False)
Operator = Annotated[User, Depends(page_requires(Permission.IMAGE_APPROVE))]
HERE = "/operation/images"


@router.get(HERE)
def show_images(request: Request, user: Operator, database: TheDatabase) -> Response:
    with database.reading() as connection:
        found = images.listed(connection)
    return page(
        request,
        "operation_images.html",
        user=user,
        images=found,
        waiting_image=ImageState.WAITING,
        approved_image=ImageState.APPROVED,
        syscalls=list(SyscallTable),
    )


@router.post(f"{HERE}/{{digest}}")
def decide_image(digest: Digest, form: CheckedForm, user: Operator, database: TheDatabase) -> Response:
    """Approve an image for a table of system calls, or withdraw it."""
    decision = str(form.get("decision", ""))
    if decision == "withdraw":
        withdraw_image(database, user, digest)
    elif decision == "approve" and str(form.get("syscalls")) in set(SyscallTable):
        approve_image(database, user, digest, ImageApproval(syscalls=SyscallTable(str(form.get("syscalls")))))
    else:
        raise InvalidRequest("decision", "is missing.", "Approve with one of the tables, or withdraw.")
    return RedirectResponse(HERE, status_code=303)
