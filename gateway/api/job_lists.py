"""Routes of job lists."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from desk.jobs import AskedJobs, JobView, visible_jobs
from domain.permissions import User
from gateway.access import TheDatabase
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from gateway.serving import allowed

router = APIRouter(prefix=f"{PREFIX}/jobs", tags=["jobs"], responses=RESPONSES)
NEXT = '`<ADDRESS>; rel="next"`, where there are more jobs'


@router.get(
    "",
    summary="Your jobs, newest first",
    responses={200: {"headers": {"Link": {"description": NEXT, "schema": {"type": "string"}}}}},
)
def list_jobs(
    asked: Annotated[AskedJobs, Query()],
    user: Annotated[User, allowed(visible_jobs)],
    database: TheDatabase,
    response: Response,
) -> list[JobView]:
    """Part by part. Where there are more, the header `Link` has the address of the next part."""
    found, is_last = visible_jobs(database, user, asked.wanted, limit=asked.limit)
    if not is_last:
        response.headers["Link"] = f'<{PREFIX}/jobs?{asked.after(found[-1])}>; rel="next"'
    return found
