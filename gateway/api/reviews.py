"""Routes of reviews.

A decision may come as the parameter `decision`, as it always could, or in the body together with a reason. A
reason can say what a release says, so it never stands in an address, which servers write to their logs.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from fastapi import APIRouter

from desk import reviews
from desk.jobs import JobView
from desk.reviews import (
    Approval,
    Disclosure,
)
from domain.errors import InvalidRequest
from domain.permissions import User
from gateway.access import TheDatabase, TheQueue
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, AnId
from gateway.serving import allowed, served

Vote = TypeVar("Vote", Approval, Disclosure)

router = APIRouter(prefix=PREFIX, tags=["reviews"], responses=RESPONSES)

router.get("/reviews", summary="What waits for reviewers of whom you are one, the longest first")(
    served(reviews.list_waiting)
)
router.get("/reviews/decided", summary="What you voted on lately")(served(reviews.list_decided))
router.get("/jobs/{job_id}/request", summary="What a job asks, with the code of its pipeline")(
    served(reviews.get_request, job_id=AnId)
)
router.get("/jobs/{job_id}/votes", summary="How far the reviews of a job are")(
    served(reviews.get_votes, job_id=AnId)
)


@router.post("/jobs/{job_id}/decision", summary="Approve or reject a job before it runs")
def decide_job(
    job_id: AnId,
    user: Annotated[User, allowed(reviews.decide_job)],
    database: TheDatabase,
    queue: TheQueue,
    decision: Literal["approve", "reject"] | None = None,
    body: Approval | None = None,
) -> JobView:
    """Where the policy asks for two votes, the job moves with the second; one refusal refuses."""
    return reviews.decide_job(database, user, job_id, _said(decision, body, Approval), queue)


router.get("/jobs/{job_id}/review", summary="A release that waits for review")(
    served(reviews.get_review, job_id=AnId)
)


@router.post("/jobs/{job_id}/review", summary="Release or withhold after review")
def decide_release(
    job_id: AnId,
    user: Annotated[User, allowed(reviews.decide_release)],
    database: TheDatabase,
    decision: Literal["release", "withhold"] | None = None,
    body: Disclosure | None = None,
) -> JobView:
    """A decision that looks at the release is itself one data-dependent bit; it is outside the guarantee."""
    return reviews.decide_release(database, user, job_id, _said(decision, body, Disclosure))


router.get("/jobs/{job_id}/comments", summary="What the author and the reviewers wrote to each other")(
    served(reviews.list_comments, job_id=AnId)
)
router.post("/jobs/{job_id}/comments", status_code=201, summary="Write to the author, or to the reviewers")(
    served(reviews.add_comment, job_id=AnId)
)
router.get("/jobs/{job_id}/review/comments", summary="What the reviewers of a release wrote to each other")(
    served(reviews.list_release_comments, job_id=AnId)
)
router.post("/jobs/{job_id}/review/comments", status_code=201, summary="Write to the other reviewers")(
    served(reviews.add_release_comment, job_id=AnId)
)
router.get("/datasets/{name}/twin/review", summary="May the twin be fetched?")(
    served(reviews.get_twin_review)
)
router.post("/datasets/{name}/twin/review", summary="Approve or refuse the twin of a version")(
    served(reviews.decide_twin)
)


def _said(decision: str | None, body: Vote | None, kind: type[Vote]) -> Vote:
    """The vote; the parameter and the body must not differ."""
    if body is None:
        if decision is None:
            raise InvalidRequest("decision", "is missing.", "Say it in the body, together with a reason.")
        return kind(decision=decision)
    if decision not in (None, body.decision):
        raise InvalidRequest("decision", "differs between the address and the body.", "Say it once.")
    return body
