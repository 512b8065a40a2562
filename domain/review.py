"""Reviews: what reviewers decide about a job, its release and a twin, and what they may write about them.

A review ends when as many votes are in as the policy asks for; a single refusal refuses. Until then nobody
learns a direction: reviewers see how many votes are in, others nothing at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from domain.errors import Conflict, InvalidRequest
from domain.states import JobState

MAX_REASON = 1000
MAX_COMMENT = 4000
MAX_COMMENTS = 200
"""Of one thread of one job."""
MAX_WAITING = 200
"""Jobs that a list of what waits shows: those that have waited longest."""


class Stage(StrEnum):
    """What is decided."""

    APPROVAL = "APPROVAL"  # may the job run?
    RELEASE = "RELEASE"  # may its release be read?
    TWIN = "TWIN"  # may the twin of a version be downloaded?


class Thread(StrEnum):
    """Who talks to whom about a job."""

    # its author and the reviewers, while there is no release
    JOB = "job"
    # reviewers alone, from the moment the release exists: what they write may say what it says
    RELEASE = "release"


class TwinState(StrEnum):
    FREE = "free"  # the policy asks for no review of it
    WAITING = "waiting"
    APPROVED = "approved"
    REFUSED = "refused"

    @property
    def may_leave(self) -> bool:
        return self in (TwinState.FREE, TwinState.APPROVED)


# the two words of each stage: the one that lets it go on, the one that does not
WORDS: dict[Stage, tuple[str, str]] = {
    Stage.APPROVAL: ("approve", "reject"),
    Stage.RELEASE: ("release", "withhold"),
    Stage.TWIN: ("approve", "refuse"),
}
STAGES = {JobState.SUBMITTED: Stage.APPROVAL, JobState.IN_REVIEW: Stage.RELEASE}
_BECOMES = {
    (Stage.APPROVAL, True): JobState.QUEUED,
    (Stage.APPROVAL, False): JobState.REJECTED,
    (Stage.RELEASE, True): JobState.RELEASED,
    (Stage.RELEASE, False): JobState.WITHHELD,
}
_RELEASE_EXISTS = {JobState.IN_REVIEW, JobState.RELEASED, JobState.WITHHELD}


@dataclass(frozen=True)
class Vote:
    """One reviewer's word about one stage. It cannot be changed."""

    stage: Stage
    reviewer: str
    approves: bool
    reason: str
    at: datetime

    @property
    def word(self) -> str:
        return WORDS[self.stage][not self.approves]

    @property
    def asks_for(self) -> str:
        """What would become of the job by this vote alone; of a twin, the word."""
        return _BECOMES.get((self.stage, self.approves), self.word)


@dataclass(frozen=True)
class Tally:
    """How far a review is. `votes` stays empty until as many are in as are needed."""

    needed: int
    given: int
    votes: tuple[Vote, ...] = ()

    @property
    def is_complete(self) -> bool:
        return self.given >= self.needed

    @property
    def approved(self) -> bool:
        return self.is_complete and all(vote.approves for vote in self.votes)

    @property
    def refusals(self) -> tuple[Vote, ...]:
        return tuple(vote for vote in self.votes if not vote.approves)


@dataclass(frozen=True)
class Comment:
    """Something that somebody wrote about a job. It cannot be changed."""

    number: int
    author: str
    text: str
    at: datetime


def stage_of(state: JobState) -> Stage | None:
    """What reviewers decide about a job in this state, if anything."""
    return STAGES.get(state)


def outcome(stage: Stage, *, approved: bool) -> JobState:
    """What a job becomes when its review ends."""
    return _BECOMES[stage, approved]


def approves(stage: Stage, word: str) -> bool:
    """Whether this word of the stage lets it go on. Raises InvalidRequest for a word of no meaning here."""
    yes, no = WORDS[stage]
    if word not in (yes, no):
        raise InvalidRequest("decision", f"must be {yes} or {no}.", "Choose one of the two.")
    return word == yes


def check_reason(reason: str, *, needed: bool) -> str:
    """The reason without blanks around it. Raises InvalidRequest; a refusal needs one."""
    plain = reason.strip()
    if needed and not plain:
        raise InvalidRequest("reason", "is missing.", "Say why, so that people can act on it.")
    if len(plain) > MAX_REASON or not _is_plain(plain):
        raise InvalidRequest("reason", "cannot be kept.", f"Use at most {MAX_REASON} ordinary characters.")
    return plain


def check_comment(text: str) -> str:
    """The comment without blanks around it. Raises InvalidRequest."""
    plain = text.strip()
    if not plain:
        raise InvalidRequest("text", "is missing.", "Write something.")
    if len(plain) > MAX_COMMENT or not _is_plain(plain):
        raise InvalidRequest("text", "cannot be kept.", f"Use at most {MAX_COMMENT} ordinary characters.")
    return plain


def check_thread_open(thread: Thread, state: JobState) -> None:
    """Raises Conflict unless something may be written there now.

    Reviewers who have seen a release tell its author nothing any more: their words could say what it says.
    """
    if is_open(thread, state):
        return
    if thread is Thread.JOB:
        raise Conflict(
            "job",
            "its release exists, so the talk with its author has ended.",
            "Reviewers have a thread of their own.",
        )
    raise Conflict("job", f"the job is {state}; it has no release to write about.", "Write to its author.")


def is_open(thread: Thread, state: JobState) -> bool:
    return (state in _RELEASE_EXISTS) == (thread is Thread.RELEASE)


def _is_plain(text: str) -> bool:
    return all(letter.isprintable() or letter in "\t\r\n" for letter in text)
