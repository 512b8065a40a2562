"""Projects and grants in plain words: states, ends, and what happened to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from desk.grants import GrantView
from desk.projects import ProjectEvent, ProjectView
from domain.loss import Currency
from domain.project import GrantState, ProjectState
from gateway.pages.budget_bar import Bar

# words, tone and sign of each state
PROJECT_STATES = {
    ProjectState.OPEN: ("open", "good", "check"),
    ProjectState.CLOSED: ("closed", "plain", "cross"),
    ProjectState.ENDED: ("over", "plain", "clock"),
}
GRANT_STATES = {
    GrantState.ASKED: ("asked for", "warn", "clock"),
    GrantState.GRANTED: ("granted", "good", "check"),
    GrantState.REFUSED: ("refused", "bad", "cross"),
    GrantState.ENDED: ("ended", "plain", "cross"),
}
# what an amount of each currency is a measure of
PROMISES = {
    Currency.EPSILON: "differential privacy",
    Currency.DELTA: "differential privacy",
    Currency.RHO: "differential privacy",
    Currency.NATS: "PAC privacy",
    Currency.RELEASES: "no formal guarantee",
}
_DORMANT = ("ended with the project", "plain", "clock")


@dataclass(frozen=True)
class Granted:
    """One grant as a part of a page."""

    view: GrantView
    words: tuple[str, str, str]
    bars: list[Bar]


@dataclass(frozen=True)
class Step:
    """One event of the history, as a sentence without its actor."""

    at: datetime
    actor: str
    sentence: str
    reason: str


def granted(view: GrantView) -> Granted:
    is_dormant = view.state is GrantState.GRANTED and not view.is_living
    words = _DORMANT if is_dormant else GRANT_STATES[view.state]
    return Granted(view, words, [Bar.of(account) for account in view.accounts])


def until(ends_on: date | None) -> str:
    """until 31 January 2027"""
    return f"until {_day(ends_on)}" if ends_on else "with no last day"


def keeper(project: ProjectView) -> str:
    """Who decides about members."""
    return f"led by {project.lead}" if project.lead else f"kept by {project.made_by}"


def steps(events: list[ProjectEvent]) -> list[Step]:
    """The history, newest first, as people tell it."""
    return [Step(event.at, event.actor, _sentence(event), event.reason) for event in events]


def _sentence(event: ProjectEvent) -> str:
    terms = _terms(event)
    match event.action:
        case "project.make":
            return f"made the project{_with(event.added)}"
        case "project.members":
            added = f"added {', '.join(event.added)}" if event.added else ""
            left = event.removed == [event.actor]
            removed = f"removed {', '.join(event.removed)}" if event.removed else ""
            return "left" if left else " and ".join(filter(None, (added, removed)))
        case "project.lead":
            return f"let {event.lead} lead"
        case "project.close":
            return "closed the project"
        case "grant.ask":
            return f"asked for {event.dataset}"
        case "grant.give":
            return f"granted {event.dataset}{terms}"
        case "grant.change":
            return f"changed the grant of {event.dataset}{terms}"
        case "grant.refuse":
            return f"refused {event.dataset}"
        case "grant.end":
            return f"ended the grant of {event.dataset}"
        case "grant.withdraw":
            return f"gave {event.dataset} back"
    return _BY_GROUP.get(event.action, event.action)


_BY_GROUP = {
    "entitlement.gain": "heard that a group of an organisation makes somebody a member",
    "entitlement.lose": "heard that nobody vouches for a member any more",
    "entitlement.map": "let a group of an organisation be members",
    "entitlement.unmap": "let a group of an organisation be members no more",
}


def _terms(event: ProjectEvent) -> str:
    amounts = [f"{currency} {amount}" for currency, amount in event.amounts.items()]
    last_day = [f"until {_day(date.fromisoformat(event.ends_on))}"] if event.ends_on else []
    return f": {', '.join([*amounts, *last_day])}" if amounts or last_day else ""


def _with(members: list[str]) -> str:
    return f" with {', '.join(members)}" if members else ""


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"
