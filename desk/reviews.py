"""Reviews: what waits, votes about jobs, releases and twins, and comments."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from pydantic import BaseModel, Field

from desk.jobs import JobView
from desk.messages import Messages
from desk.rights import needs
from domain.dataset import Dataset
from domain.job import AnyRequest
from domain.model import Model, Slug
from domain.permissions import Permission, Role, User
from domain.release import Release
from domain.review import Comment, Stage, Tally, Thread, TwinState, Vote, approves
from domain.states import JobState
from store import comments, datasets, jobs, releases, reviews, twin_reviews, waiting
from store.database import Database
from store.twin_reviews import TwinReview
from store.waiting import Decided, Waiting

MAX_DECIDED = 50


class VoteView(BaseModel):
    """One vote of a review that has ended."""

    reviewer: str
    decision: str
    reason: str
    at: datetime

    @classmethod
    def of(cls, vote: Vote) -> VoteView:
        return cls(reviewer=vote.reviewer, decision=vote.word, reason=vote.reason, at=vote.at)


class TallyView(BaseModel):
    """How far one review is."""

    stage: Stage
    votes_in: int
    votes_needed: int
    votes: list[VoteView] = Field(description="Empty until as many votes are in as are needed")

    @classmethod
    def of(cls, stage: Stage, tally: Tally) -> TallyView:
        return cls(
            stage=stage,
            votes_in=tally.given,
            votes_needed=tally.needed,
            votes=[VoteView.of(vote) for vote in tally.votes],
        )


class WaitingView(BaseModel):
    """A decision that waits for reviewers."""

    stage: Stage
    subject: str = Field(description="A job's id; for a twin the data set's name")
    dataset: str
    version: int
    title: str
    author: str | None
    since: datetime
    votes_in: int
    votes_needed: int
    has_voted: bool = Field(description="Whether you have voted on it")

    @classmethod
    def of(cls, waiting: Waiting) -> WaitingView:
        names = ("stage", "subject", "dataset", "version", "title", "author", "since", "has_voted")
        fields = {name: getattr(waiting, name) for name in names}
        return cls(**fields, votes_in=waiting.tally.given, votes_needed=waiting.tally.needed)


class DecidedView(BaseModel):
    """Something that you voted on."""

    stage: Stage
    subject: str
    title: str
    at: datetime
    votes: list[VoteView] = Field(description="Empty until as many votes are in as are needed")

    @classmethod
    def of(cls, decided: Decided) -> DecidedView:
        return cls(
            stage=decided.stage,
            subject=decided.subject,
            title=decided.title,
            at=decided.at,
            votes=[VoteView.of(vote) for vote in decided.tally.votes],
        )


class CommentView(BaseModel):
    author: str
    text: str
    at: datetime

    @classmethod
    def of(cls, comment: Comment) -> CommentView:
        return cls(author=comment.author, text=comment.text, at=comment.at)


class TwinReviewView(BaseModel):
    """Where the twin of the newest version stands."""

    dataset: str
    version: int
    state: TwinState
    tally: TallyView | None = Field(description="For reviewers")

    @classmethod
    def of(cls, dataset: Dataset, review: TwinReview, user: User) -> TwinReviewView:
        shown = user.role is Role.RIGHTS_HOLDER
        tally = TallyView.of(Stage.TWIN, review.tally) if shown else None
        return cls(dataset=dataset.name, version=dataset.version, state=review.state, tally=tally)


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


@needs(Permission.JOB_DECIDE)
def list_waiting(database: Database, user: User) -> list[WaitingView]:
    """Of jobs, the 200 that have waited longest for a vote of yours, and 200 that wait for others alone."""
    with database.reading() as connection:
        return [WaitingView.of(each) for each in waiting.of(connection, user)]


@needs(Permission.JOB_DECIDE)
def list_decided(database: Database, user: User) -> list[DecidedView]:
    with database.reading() as connection:
        found = waiting.decided(connection, user, limit=MAX_DECIDED)
    return [DecidedView.of(each) for each in found]


@needs(Permission.JOB_DECIDE)
def get_request(database: Database, user: User, job_id: str) -> AnyRequest:
    with database.reading() as connection:
        return jobs.get_visible(connection, job_id, user).request


@needs(Permission.JOB_DECIDE)
def get_votes(database: Database, user: User, job_id: str) -> list[TallyView]:
    """Votes and their reasons are shown when as many are in as the policy asks for."""
    with database.reading() as connection:
        job = jobs.get_visible(connection, job_id, user)
        return [
            TallyView.of(stage, reviews.of_job(connection, job, stage))
            for stage in (Stage.APPROVAL, Stage.RELEASE)
        ]


@needs(Permission.JOB_DECIDE)
def decide_job(database: Database, user: User, job_id: str, vote: Approval, queue: Messages) -> JobView:
    """Where the policy asks for two votes, the job moves with the second; one refusal refuses."""
    view = _vote(database, user, job_id, Stage.APPROVAL, vote)
    if view.state is JobState.QUEUED:
        queue.run_job(job_id)
    return view


@needs(Permission.RELEASE_DECIDE)
def get_review(database: Database, user: User, job_id: str) -> Release:
    with database.reading() as connection:
        return releases.read_for_review(connection, jobs.get_visible(connection, job_id, user))


@needs(Permission.RELEASE_DECIDE)
def decide_release(database: Database, user: User, job_id: str, vote: Disclosure) -> JobView:
    """A decision that looks at the release is itself one data-dependent bit; it is outside the guarantee."""
    return _vote(database, user, job_id, Stage.RELEASE, vote)


@needs(Permission.JOB_COMMENT)
def list_comments(database: Database, user: User, job_id: str) -> list[CommentView]:
    return _thread(database, user, job_id, Thread.JOB)


@needs(Permission.JOB_COMMENT)
def add_comment(database: Database, user: User, job_id: str, new: NewComment) -> CommentView:
    """Until the release exists: afterwards a reviewer's words could say what it says."""
    return _comment(database, user, job_id, Thread.JOB, new.text)


@needs(Permission.RELEASE_DECIDE)
def list_release_comments(database: Database, user: User, job_id: str) -> list[CommentView]:
    """Never shown to the author or to operators."""
    return _thread(database, user, job_id, Thread.RELEASE)


@needs(Permission.RELEASE_DECIDE)
def add_release_comment(database: Database, user: User, job_id: str, new: NewComment) -> CommentView:
    return _comment(database, user, job_id, Thread.RELEASE, new.text)


@needs(Permission.DATASET_READ)
def get_twin_review(database: Database, user: User, name: Slug) -> TwinReviewView:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        return TwinReviewView.of(dataset, twin_reviews.of(connection, dataset), user)


@needs(Permission.TWIN_DECIDE)
def decide_twin(database: Database, user: User, name: Slug, body: TwinVote) -> TwinReviewView:
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


def _vote(database: Database, user: User, job_id: str, stage: Stage, vote: Approval | Disclosure) -> JobView:
    """In a transaction of its own; the job as it is afterwards."""
    with database.transaction() as connection:
        reviews.vote_on_job(
            connection,
            job_id=job_id,
            stage=stage,
            user=user,
            approves=approves(stage, vote.decision),
            reason=vote.reason,
            now=datetime.now(UTC),
        )
        job = jobs.get_visible(connection, job_id, user)
        return JobView.of(job, datasets.of_job(connection, job), user)


def _comment(database: Database, user: User, job_id: str, thread: Thread, text: str) -> CommentView:
    with database.transaction() as connection:
        kept = comments.add(
            connection, job_id=job_id, thread=thread, user=user, text=text, now=datetime.now(UTC)
        )
    return CommentView.of(kept)


def _thread(database: Database, user: User, job_id: str, thread: Thread) -> list[CommentView]:
    with database.reading() as connection:
        found = comments.listed(connection, job_id=job_id, thread=thread, user=user)
    return [CommentView.of(each) for each in found]
