"""Notices: what people are told of, through which channel, and how often that is tried.

A notice says that something happened and where to look. Its facts are public: ids, names and states. Nothing
that has seen data, no reason and no number of a release can be in one: `check_facts` knows every fact's name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator

from domain.permissions import Role
from domain.states import JobState


class NoticeKind(StrEnum):
    """What happened. The last two are about a channel itself and cannot be switched off."""

    JOB_WAITS = "job_waits"
    JOB_DECIDED = "job_decided"
    JOB_FAILED = "job_failed"
    RELEASE_WAITS = "release_waits"
    RELEASE_READY = "release_ready"
    TWIN_WAITS = "twin_waits"
    TWIN_DECIDED = "twin_decided"
    DATASET_WITHDRAWN = "dataset_withdrawn"
    DATASET_ERASED = "dataset_erased"
    GRANT_ASKED = "grant_asked"
    GRANT_DECIDED = "grant_decided"
    BUDGET_LOW = "budget_low"
    COMMENT = "comment"
    TEST = "test"
    CONFIRMATION = "confirmation"


class Channel(StrEnum):
    EMAIL = "email"
    WEBHOOK = "webhook"


class NoticeState(StrEnum):
    WAITING = "WAITING"
    SENT = "SENT"
    DEAD = "DEAD"  # tried for the last time; somebody has to look


class SendProblem(StrEnum):
    """Why a notice was not delivered: one of these words, never a text of the other side."""

    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    UNKNOWN_HOST = "unknown_host"
    FORBIDDEN_ADDRESS = "forbidden_address"
    INSECURE = "insecure"
    REFUSED = "refused"
    REDIRECT = "redirect"
    SWITCHED_OFF = "switched_off"
    NO_CHANNEL = "no_channel"
    INTERRUPTED = "interrupted"
    FAULT = "fault"

    @property
    def sentence(self) -> str:
        return _PROBLEMS[self]


_PROBLEMS = {
    SendProblem.UNREACHABLE: "The other side could not be reached.",
    SendProblem.TIMEOUT: "The other side did not answer in time.",
    SendProblem.UNKNOWN_HOST: "No such host was found.",
    SendProblem.FORBIDDEN_ADDRESS: "The host is at an address of a private network, where nothing is sent.",
    SendProblem.INSECURE: "No protected connection: the certificate is not valid for this host.",
    SendProblem.REFUSED: "The other side answered, but did not take it.",
    SendProblem.REDIRECT: "The other side named another address; redirects are not followed.",
    SendProblem.SWITCHED_OFF: "The operator has switched this channel off, or does not allow this host.",
    SendProblem.NO_CHANNEL: "The address was removed before this was sent.",
    SendProblem.INTERRUPTED: "The platform was interrupted while it sent this.",
    SendProblem.FAULT: "The platform failed while it sent this.",
}

# who is ever told what
_AUDIENCE = {
    Role.DATA_USER: (
        NoticeKind.JOB_DECIDED,
        NoticeKind.JOB_FAILED,
        NoticeKind.RELEASE_READY,
        NoticeKind.DATASET_WITHDRAWN,
        NoticeKind.DATASET_ERASED,
        NoticeKind.GRANT_DECIDED,
        NoticeKind.BUDGET_LOW,
        NoticeKind.COMMENT,
    ),
    Role.RIGHTS_HOLDER: (
        NoticeKind.JOB_WAITS,
        NoticeKind.RELEASE_WAITS,
        NoticeKind.TWIN_WAITS,
        NoticeKind.TWIN_DECIDED,
        NoticeKind.DATASET_ERASED,
        NoticeKind.GRANT_ASKED,
        NoticeKind.BUDGET_LOW,
        NoticeKind.COMMENT,
    ),
}


def kinds_for(role: Role) -> tuple[NoticeKind, ...]:
    """What somebody with this role may be told; nothing of it is for operators."""
    return _AUDIENCE.get(role, ())


ABOUT_CHANNELS = frozenset({NoticeKind.TEST, NoticeKind.CONFIRMATION})
CHOOSABLE = tuple(kind for kind in NoticeKind if kind not in ABOUT_CHANNELS)

WAITS = (
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=12),
)
"""Between attempts, without chance: people can say when the next one comes."""
MOST_ATTEMPTS = len(WAITS) + 1


def next_attempt(attempts: int, now: datetime) -> datetime | None:
    """When to try again after so many failed attempts; None after the last."""
    return now + WAITS[attempts - 1] if attempts < MOST_ATTEMPTS else None


FACTS = frozenset(
    {
        "author",
        "canceller",
        "currency",
        "dataset",
        "decision",
        "member",
        "percent",
        "project",
        "state",
        "through",
        "until",
        "version",
    }
)
Facts = Mapping[str, str | int]
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .:+_-]{0,79}")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9:_-]{0,79}")


def check_subject(subject: str) -> str:
    """An id or a name: it becomes part of an address as it is. Raises ValueError for any other text."""
    if not _ID.fullmatch(subject):
        raise ValueError("the subject of a notice must be an id or a name")
    return subject


def check_facts(facts: Facts) -> dict[str, str | int]:
    """The same facts, in order. Raises ValueError for one that no notice may carry."""
    for name, value in facts.items():
        if name not in FACTS:
            raise ValueError(f"{name} is no fact of a notice; there are {', '.join(sorted(FACTS))}")
        if isinstance(value, bool | float) or not _PLAIN.fullmatch(str(value)):
            raise ValueError(f"the fact {name} must be a whole number or a plain word")
    return {name: value if isinstance(value, int) else str(value) for name, value in sorted(facts.items())}


_UNNAMED = "a service"


def service_named(service: str) -> str:
    """The name of a service that acted for somebody, as a fact of a notice."""
    return service if _PLAIN.fullmatch(service) else _UNNAMED  # an identity provider chose it: any text


@dataclass(frozen=True)
class Notice:
    """What somebody is told. `subject` is the id or name of what it is about."""

    id: str
    kind: NoticeKind
    subject: str
    at: datetime
    facts: Facts

    @property
    def sentence(self) -> str:
        """What happened, for people. A fact that is not there leaves a plain word in its place."""
        said = {"dataset": "a data set", "project": "a project", "decision": "decided"}
        told = {name: str(value) for name, value in self.facts.items()}
        told["state"] = _DECIDED.get(told.get("state", ""), "was decided on")
        if "canceller" in told:
            told["state"] = f"was cancelled through {told['canceller']}"
        sentence = _SENTENCES[self.kind].format_map({**said, "percent": "80", "currency": "budget", **told})
        if "through" not in told:
            return sentence
        service = "A service" if told["through"] == _UNNAMED else told["through"]
        return f"{sentence} {service} submitted it in your name."

    @property
    def path(self) -> str:
        """Where on the console to look."""
        return _PLACES[self.kind].format(subject=self.subject)


_DECIDED = {
    str(JobState.QUEUED): "was approved and may run",
    str(JobState.REJECTED): "was rejected",
    str(JobState.CANCELLED): "was cancelled by an operator",
    str(JobState.WITHHELD): "has ended; its release is withheld",
}
_SENTENCES = {
    NoticeKind.JOB_WAITS: "A job on {dataset} waits for your decision.",
    NoticeKind.JOB_DECIDED: "Your job on {dataset} {state}.",
    NoticeKind.JOB_FAILED: "The platform could not run your job on {dataset}.",
    NoticeKind.RELEASE_WAITS: "A release from {dataset} waits for your review.",
    NoticeKind.RELEASE_READY: "The release of your job on {dataset} can be read.",
    NoticeKind.TWIN_WAITS: "The twin of {dataset} waits for your review.",
    NoticeKind.TWIN_DECIDED: "The review of the twin of {dataset} has ended: {decision}.",
    NoticeKind.DATASET_WITHDRAWN: "The data set {dataset} was withdrawn: it takes no new jobs.",
    NoticeKind.DATASET_ERASED: "The data set {dataset} was erased: nothing opens its data any more.",
    NoticeKind.GRANT_ASKED: "The project {project} asks to use {dataset}.",
    NoticeKind.GRANT_DECIDED: "What the project {project} asked for {dataset} was decided: {decision}.",
    NoticeKind.BUDGET_LOW: "{percent} percent of a budget of {dataset} ({currency}) is spent or set aside.",
    NoticeKind.COMMENT: "Somebody wrote a comment about a job on {dataset}.",
    NoticeKind.TEST: "This is a test: notices of the platform arrive here.",
    NoticeKind.CONFIRMATION: "Somebody, we hope you, asked for notices of the platform at this address.",
}
_PLACES = {
    NoticeKind.JOB_WAITS: "/reviews/{subject}",
    NoticeKind.JOB_DECIDED: "/jobs/{subject}",
    NoticeKind.JOB_FAILED: "/jobs/{subject}",
    NoticeKind.RELEASE_WAITS: "/reviews/{subject}",
    NoticeKind.RELEASE_READY: "/jobs/{subject}",
    NoticeKind.TWIN_WAITS: "/reviews/twins/{subject}",
    NoticeKind.TWIN_DECIDED: "/reviews/twins/{subject}",
    NoticeKind.DATASET_WITHDRAWN: "/datasets/{subject}",
    NoticeKind.DATASET_ERASED: "/datasets/{subject}",
    NoticeKind.GRANT_ASKED: "/projects/{subject}",
    NoticeKind.GRANT_DECIDED: "/projects/{subject}",
    NoticeKind.BUDGET_LOW: "/budget/{subject}",
    NoticeKind.COMMENT: "/jobs/{subject}",
    NoticeKind.TEST: "/account/notices",
    NoticeKind.CONFIRMATION: "/account/notices",
}


_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"
_MAIL_ADDRESS = re.compile(rf"[A-Za-z0-9_+=-]+(\.[A-Za-z0-9_+=-]+)*@{_LABEL}(\.{_LABEL})*")


def check_mail_address(address: str) -> str:
    """One plain ASCII address. What could end a header line, or begin a second address, is none."""
    if len(address) > 254 or not _MAIL_ADDRESS.fullmatch(address):
        raise ValueError("must be an e-mail address such as ada@example.org")
    return address


MailAddress = Annotated[str, AfterValidator(check_mail_address)]
