"""Jobs as a list, part by part."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Response
from pydantic import Field

from desk.jobs import JobView
from domain.job import JobId
from domain.model import Model, Slug
from domain.permissions import Permission, User
from domain.states import JobState
from gateway.access import TheDatabase, requires
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from store import datasets, job_lists
from store.database import Database
from store.job_lists import WantedJobs

router = APIRouter(prefix=f"{PREFIX}/jobs", tags=["jobs"], responses=RESPONSES)
MOST_JOBS = 1000
NEXT = '`<ADDRESS>; rel="next"`, where there are more jobs'


class AskedJobs(Model):
    """Which jobs: those that have all of it. `before` is the id of a job, for the next part."""

    state: Annotated[tuple[JobState, ...], Field(max_length=len(JobState), description="Any of these")] = ()
    dataset: Annotated[Slug | None, Field(description="All its versions")] = None
    since: Annotated[date | None, Field(description="Submitted on this day (UTC) or later")] = None
    before: Annotated[JobId | None, Field(description="Of the last one so far")] = None
    limit: Annotated[int, Field(ge=1, le=MOST_JOBS)] = 100

    @property
    def wanted(self) -> WantedJobs:
        return WantedJobs(self.state, self.dataset or "", self.since, self.before or "")

    def after(self, last: JobView) -> str:
        """What to ask for the next part."""
        asked: dict[str, Any] = self.model_dump(mode="json", exclude_defaults=True) | {"before": last.id}
        return urlencode(asked, doseq=True)


@router.get(
    "",
    summary="Your jobs, newest first",
    responses={200: {"headers": {"Link": {"description": NEXT, "schema": {"type": "string"}}}}},
)
def list_jobs(
    asked: Annotated[AskedJobs, Query()],
    user: Annotated[User, Depends(requires(Permission.JOB_READ))],
    database: TheDatabase,
    response: Response,
) -> list[JobView]:
    """Part by part. Where there are more, the header `Link` has the address of the next part."""
    found, is_last = visible_jobs(user, database, asked.wanted, limit=asked.limit)
    if not is_last:
        response.headers["Link"] = f'<{PREFIX}/jobs?{asked.after(found[-1])}>; rel="next"'
    return found


def visible_jobs(
    user: User, database: Database, wanted: WantedJobs, *, limit: int
) -> tuple[list[JobView], bool]:
    """So many jobs that this user may see and wants, newest first; and whether there are no more."""
    with database.reading() as connection:
        found = job_lists.visible_to(connection, user, wanted, limit=limit + 1)
        of = datasets.of_jobs(connection, found[:limit])
    views = [JobView.of(job, dataset, user) for job, dataset in zip(found[:limit], of, strict=True)]
    return views, len(found) <= limit
