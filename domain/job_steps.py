"""Where a job is on its way, in words: public facts only, the same whatever its runs do.

Pages and notebooks say the same. Nothing here needs more than the standard library: the SDK loads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from domain.states import JobState, is_terminal

S = JobState
Stage = Literal["done", "now", "ended", "ahead"]


@dataclass(frozen=True)
class Step:
    """One station of the bar."""

    name: str
    stage: Stage


@dataclass(frozen=True)
class StateWords:
    """A state as pages name it; `tone` and `sign` only repeat what the words say."""

    name: str
    tone: str
    sign: str
    sentence: str


WORDS: dict[JobState, StateWords] = {
    S.SUBMITTED: StateWords(
        "waits for approval",
        "warn",
        "clock",
        "Its reviewers decide whether it may run.",
    ),
    S.QUEUED: StateWords("queued", "accent", "clock", "It may run and waits for a free worker."),
    S.PREPARING: StateWords(
        "preparing", "accent", "clock", "A worker checks image, code and snapshot. No data were touched yet."
    ),
    S.RUNNING: StateWords(
        "running",
        "accent",
        "clock",
        "It runs on the original data. What its runs do is not shown.",
    ),
    S.AGGREGATING: StateWords(
        "running", "accent", "clock", "The noise is being drawn, once. What its runs did is not shown."
    ),
    S.IN_REVIEW: StateWords(
        "in review", "warn", "clock", "The release exists; its reviewers decide whether it is read."
    ),
    S.RELEASED: StateWords("released", "good", "check", "The release can be read."),
    S.WITHHELD: StateWords(
        "withheld",
        "bad",
        "cross",
        "Its reviewers decided that nobody reads the release.",
    ),
    S.REJECTED: StateWords(
        "rejected",
        "bad",
        "cross",
        "Its reviewers refused it before any data were touched.",
    ),
    S.CANCELLED: StateWords("cancelled", "plain", "cross", "It was withdrawn."),
    S.ERRORED: StateWords("could not run", "bad", "warning", "The platform could not run it."),
}
# what went before, for states that end a job early; with and without a charge
_BEFORE_CHARGE, _AFTER_CHARGE = 2, 4
_WAY = ("Submitted", "Queued", "Preparing", "Running", "Review", "Released")
_REACHED = {
    S.SUBMITTED: 0,
    S.QUEUED: 1,
    S.PREPARING: 2,
    S.RUNNING: 3,
    S.AGGREGATING: 3,
    S.IN_REVIEW: 4,
    S.RELEASED: 5,
}
_ENDED_AFTER = {S.REJECTED: 1, S.WITHHELD: 5}


def steps(state: JobState, *, is_answered: bool, is_charged: bool, is_reviewed: bool) -> list[Step]:
    """The stations of a job in this state.

    `is_answered`: by an earlier release; `is_charged`: its runs saw data; `is_reviewed`: its policy has
    releases looked at.
    """
    if is_answered:
        return [Step("Submitted", "done"), Step("Answered by an earlier release", "done")]
    if state in _REACHED:
        found = [Step(name, _stage(at, state)) for at, name in enumerate(_WAY)]
    else:
        passed = _ENDED_AFTER.get(state, _AFTER_CHARGE if is_charged else _BEFORE_CHARGE)
        ending = WORDS[state].name
        found = [Step(name, "done") for name in _WAY[:passed]]
        found.append(Step(ending[:1].upper() + ending[1:], "ended"))
    # a policy may have changed since: a job that is or was in review shows it
    seen = is_reviewed or state in (S.IN_REVIEW, S.WITHHELD)
    return [step for step in found if seen or step.name != "Review"]


def charge_sentence(state: JobState, *, is_answered: bool, is_charged: bool) -> str:
    """What a job in this state means for the budget."""
    if is_answered:
        return "The identical question was answered before: the same release, at no cost."
    if is_charged:
        return "Its cost was charged just before the first run saw data, and the charge stands."
    if is_terminal(state):
        return "What was set aside for it came back to the budget: no data were touched."
    return "Its cost is set aside, and is charged just before the first run sees data."


def _stage(at: int, state: JobState) -> Stage:
    reached = _REACHED[state]
    if at < reached or state is S.RELEASED:
        return "done"
    return "now" if at == reached else "ahead"
