"""Routes of jobs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Query, Response

from desk import jobs
from desk.jobs import AskedJobs, JobView, visible_jobs
from domain.job import UserRequest
from domain.permissions import User
from gateway.access import TheDatabase
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, AJob, AnId
from gateway.serving import NEXT_PART, allowed, link_next, put_once, served

router = APIRouter(prefix=f"{PREFIX}/jobs", tags=["jobs"], responses=RESPONSES)


@router.get("", summary="Your jobs, newest first", responses=NEXT_PART)
def list_jobs(
    asked: Annotated[AskedJobs, Query()],
    user: Annotated[User, allowed(visible_jobs)],
    database: TheDatabase,
    response: Response,
) -> list[JobView]:
    """Part by part. Where there are more, the header `Link` has the address of the next part."""
    found, is_last = visible_jobs(database, user, asked.wanted, limit=asked.limit)
    link_next(response, f"{PREFIX}/jobs", {} if is_last else asked.after(found[-1]))
    return found


EXAMPLE = {
    "dataset": "heights",
    "pipeline": {
        "manifest": {
            "name": "mean-age",
            "image": "python",
            "command": ["python3", "/pipeline/main.py"],
            "outputs": [
                {"file": "result.tsv", "values": [{"name": "mean_age", "lower": 0, "upper": 120}]},
            ],
        },
        "sources": [{"path": "main.py", "content_base64": "cHJpbnQoMSkK"}],
    },
    "shape": {"files": [{"file": "result.tsv", "rows": [["mean_age"], [None]]}]},
    "mechanism": {"name": "sample_aggregate", "epsilon": "0.5"},
}


QUERY_EXAMPLE = {
    "dataset": "heights",
    "query": {"kind": "mean", "column": "age", "where": [{"column": "sex", "operator": "=", "value": "f"}]},
    "epsilon": "0.5",
}


put_once(
    router,
    "/{job_id}",
    jobs.submit_job,
    summary="Submit a job under an id of your choice",
    job_id=AnId,
    request=Annotated[UserRequest, Body(examples=[EXAMPLE, QUERY_EXAMPLE])],
)
router.get("/{job_id}", summary="One job")(served(jobs.get_job, job_id=AJob))
router.post("/{job_id}/cancel", summary="Cancel a job")(served(jobs.cancel_job, job_id=AJob))
router.get("/{job_id}/release", summary="The release: noised values, files, certificate")(
    served(jobs.get_release, job_id=AJob)
)
router.get("/{job_id}/citation", summary="How to cite the release")(served(jobs.get_citation, job_id=AJob))
