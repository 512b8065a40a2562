"""Reviews: what waits, votes about jobs, releases and twins, and comments.

A decision may come as the parameter `decision`, as it always could, or in the body together with a reason. A
reason can say what a release says, so it never stands in an address, which servers write to their logs.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends

from desk.jobs import JobView
from domain.errors import InvalidRequest
from domain.job import AnyRequest
from domain.model import Model, Slug
from domain.permissions import Permission, User
from domain.release import Release
from domain.review import Stage, Thread, approves
from domain.states import JobState
from gateway.access import TheDatabase, TheQueue, requires
from gateway.api.review_views import CommentView, DecidedView, TallyView, TwinReviewView, WaitingView
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, AnId
from store import comments, datasets, jobs, releases, reviews, twin_reviews, waiting
from store.database import Database

router = APIRouter(prefix=PREFIX, tags=["reviews"], responses=RESPONSES)
Approver = Annotated[User, Depends(requires(Permission.JOB_DECIDE))]
Releaser = Annotated[User, Depends(requires(Permission.RELEASE_DECIDE))]
Commenter = Annotated[User, Depends(requires(Permission.JOB_COMMENT))]
MAX_DECIDED = 50


class Approval(Model):
    """A vote about a job before it runs; a refusal needs a reason, which the author reads."""

    decision: Literal["approve", "reject"]
    reason: str = ""


class Disclosure(Model):
    """A vote about a release; a refusal needs a reason, which reviewers alone read."""

    decision: Literal["release", "withhold"]
    reason: str = ""


class TwinVote(Model):
    """A vote about the twin of a version; a refusal needs a reason, which reviewers alone read."""

    version: int
    decision: Literal["approve", "refuse"]
    reason: str = ""


class NewComment(Model):
    text: str


@router.get("/reviews", summary="What waits for reviewers of whom you are one, the longest first")
def list_waiting(user: Approver, database: TheDatabase) -> list[WaitingView]:
    with database.reading() as connection:
        return [WaitingView.of(each) for each in waiting.of(connection, user)]


@router.get("/reviews/decided", summary="What you voted on lately")
def list_decided(user: Approver, database: TheDatabase) -> list[DecidedView]:
    with database.reading() as connection:
        found = waiting.decided(connection, user, limit=MAX_DECIDED)
    return [DecidedView.of(each) for each in found]


@router.get("/jobs/{job_id}/request", summary="What a job asks, with the code of its pipeline")
def get_request(job_id: AnId, user: Approver, database: TheDatabase) -> AnyRequest:
    with database.reading() as connection:
        return jobs.get_visible(connection, job_id, user).request


@router.get("/jobs/{job_id}/votes", summary="How far the reviews of a job are")
def get_votes(job_id: AnId, user: Approver, database: TheDatabase) -> list[TallyView]:
    """Votes and their reasons are shown when as many are in as the policy asks for."""
    with database.reading() as connection:
        job = jobs.get_visible(connection, job_id, user)
        return [
            TallyView.of(stage, reviews.of_job(connection, job, stage))
            for stage in (Stage.APPROVAL, Stage.RELEASE)
        ]


@router.post("/jobs/{job_id}/decision", summary="Approve or reject a job before it runs")
def decide_job(
    job_id: AnId,
    user: Approver,
    database: TheDatabase,
    queue: TheQueue,
    decision: Literal["approve", "reject"] | None = None,
    body: Approval | None = None,
) -> JobView:
    """Where the policy asks for two votes, the job moves with the second; one refusal refuses."""
    word, reason = _decided(decision, body)
    view = vote(database, job_id, user, Stage.APPROVAL, word, reason)
    if view.state is JobState.QUEUED:
        queue.run_job(job_id)
    return view


@router.get("/jobs/{job_id}/review", summary="A release that waits for review")
def get_review(job_id: AnId, user: Releaser, database: TheDatabase) -> Release:
    with database.reading() as connection:
        return releases.read_for_review(connection, jobs.get_visible(connection, job_id, user))


@router.post("/jobs/{job_id}/review", summary="Release or withhold after review")
def decide_release(
    job_id: AnId,
    user: Releaser,
    database: TheDatabase,
    decision: Literal["release", "withhold"] | None = None,
    body: Disclosure | None = None,
) -> JobView:
    """A decision that looks at the release is itself one data-dependent bit; it is outside the guarantee."""
    word, reason = _decided(decision, body)
    return vote(database, job_id, user, Stage.RELEASE, word, reason)


@router.get("/jobs/{job_id}/comments", summary="What the author and the reviewers wrote to each other")
def list_comments(job_id: AnId, user: Commenter, database: TheDatabase) -> list[CommentView]:
    return _thread(database, job_id, user, Thread.JOB)


@router.post("/jobs/{job_id}/comments", status_code=201, summary="Write to the author, or to the reviewers")
def add_comment(job_id: AnId, new: NewComment, user: Commenter, database: TheDatabase) -> CommentView:
    """Until the release exists: afterwards a reviewer's words could say what it says."""
    return comment(database, job_id, user, Thread.JOB, new.text)


@router.get("/jobs/{job_id}/review/comments", summary="What the reviewers of a release wrote to each other")
def list_release_comments(job_id: AnId, user: Releaser, database: TheDatabase) -> list[CommentView]:
    """Never shown to the author or to operators."""
    return _thread(database, job_id, user, Thread.RELEASE)


@router.post("/jobs/{job_id}/review/comments", status_code=201, summary="Write to the other reviewers")
def add_release_comment(job_id: AnId, new: NewComment, user: Releaser, database: TheDatabase) -> CommentView:
    return comment(database, job_id, user, Thread.RELEASE, new.text)


@router.get("/datasets/{name}/twin/review", summary="May the twin be fetched?")
def get_twin_review(
    name: Slug, user: Annotated[User, Depends(requires(Permission.DATASET_READ))], database: TheDatabase
) -> TwinReviewView:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        return TwinReviewView.of(dataset, twin_reviews.of(connection, dataset), user)


@router.post("/datasets/{name}/twin/review", summary="Approve or refuse the twin of a version")
def decide_twin(
    name: Slug,
    body: TwinVote,
    user: Annotated[User, Depends(requires(Permission.TWIN_DECIDE))],
    database: TheDatabase,
) -> TwinReviewView:
    with database.transaction() as connection:
        found = twin_reviews.vote(
            connection,
            name=name,
            version=body.version,
            user=user,
            approves=approves(Stage.TWIN, body.decision),
            reason=body.reason,
            now=datetime.now(UTC),
        )
        return TwinReviewView.of(datasets.newest(connection, name, user), found, user)


def vote(database: Database, job_id: str, user: User, stage: Stage, word: str, reason: str) -> JobView:
    """One vote about a job, in a transaction of its own; the job as it is afterwards."""
    with database.transaction() as connection:
        reviews.vote_on_job(
            connection,
            job_id=job_id,
            stage=stage,
            user=user,
            approves=approves(stage, word),
            reason=reason,
            now=datetime.now(UTC),
        )
        job = jobs.get_visible(connection, job_id, user)
        return JobView.of(job, datasets.of_job(connection, job), user)


def comment(database: Database, job_id: str, user: User, thread: Thread, text: str) -> CommentView:
    with database.transaction() as connection:
        kept = comments.add(
            connection, job_id=job_id, thread=thread, user=user, text=text, now=datetime.now(UTC)
        )
    return CommentView.of(kept)


def _thread(database: Database, job_id: str, user: User, thread: Thread) -> list[CommentView]:
    with database.reading() as connection:
        found = comments.listed(connection, job_id=job_id, thread=thread, user=user)
    return [CommentView.of(each) for each in found]


def _decided(decision: str | None, body: Approval | Disclosure | None) -> tuple[str, str]:
    """The word and the reason; the parameter and the body must not differ."""
    if body is None:
        if decision is None:
            raise InvalidRequest("decision", "is missing.", "Say it in the body, together with a reason.")
        return decision, ""
    if decision not in (None, body.decision):
        raise InvalidRequest("decision", "differs between the address and the body.", "Say it once.")
    return body.decision, body.reason
