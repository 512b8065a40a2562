"""What the interface answers about reviews."""

from __future__ import annotations

from datetime import datetime

from pydantic import BaseModel, Field

from domain.dataset import Dataset
from domain.permissions import Role, User
from domain.review import Comment, Stage, Tally, TwinState, Vote
from store.twin_reviews import TwinReview
from store.waiting import Decided, Waiting


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
