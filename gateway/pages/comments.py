"""Comments on a job, written on its own page or on the page of its review."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from desk.reviews import NewComment, add_comment, add_release_comment
from domain.errors import InvalidRequest
from domain.permissions import Permission, Role, User
from gateway.access import TheDatabase
from gateway.pages.jobs import job_page
from gateway.pages.reviews import review_page
from gateway.pages.session import CheckedForm, page_requires
from gateway.routes import AnId

router = APIRouter(include_in_schema=False)


@router.post("/jobs/{job_id}/comments")
def write_to_the_others(
    request: Request,
    job_id: AnId,
    form: CheckedForm,
    user: Annotated[User, Depends(page_requires(Permission.JOB_COMMENT))],
    database: TheDatabase,
) -> Response:
    """Between the author and the reviewers. What was typed is kept on refusal."""
    is_reviewer = user.role is Role.RIGHTS_HOLDER
    shown = review_page if is_reviewer else job_page
    try:
        add_comment(database, user, job_id, NewComment(text=str(form.get("text", ""))))
    except InvalidRequest as error:
        return shown(request, job_id, user, database, typed=form, problems=error.problems)
    place = "reviews" if is_reviewer else "jobs"
    return RedirectResponse(f"/{place}/{job_id}#comments", status_code=303)


@router.post("/reviews/{job_id}/comments")
def write_to_the_reviewers(
    request: Request,
    job_id: AnId,
    form: CheckedForm,
    user: Annotated[User, Depends(page_requires(Permission.RELEASE_DECIDE))],
    database: TheDatabase,
) -> Response:
    """Among the reviewers of a release. What was typed is kept on refusal."""
    try:
        add_release_comment(database, user, job_id, NewComment(text=str(form.get("text", ""))))
    except InvalidRequest as error:
        return review_page(request, job_id, user, database, typed=form, problems=error.problems)
    return RedirectResponse(f"/reviews/{job_id}#comments", status_code=303)
