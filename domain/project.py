"""Projects and grants: who works together for what, and which data sets they were granted for how long.

A project alone gives access to nothing. A grant gives its members one data set, a share of its budget, and an
end. Both end by date too: what the clock says is always passed in.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    StringConstraints,
    WithJsonSchema,
    field_validator,
)

from domain.errors import InvalidRequest, NotAllowed
from domain.loss import Currency, canonical_amount, in_order, units
from domain.model import Model, Slug
from domain.permissions import User

MAX_MEMBERS = 200
MAX_LED = 50
"""Open projects that one person may lead."""
MAX_GRANTS = 100
"""Data sets that one project may ask for."""
MAX_YEARS = 10


def _readable(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise ValueError("must say something")
    if not all(letter.isprintable() or letter in "\n\t" for letter in text):
        raise ValueError("must hold ordinary characters only")
    return text


def _as_iso(value: Any) -> Any:
    # pydantic would take a number of seconds for a day
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    if not isinstance(value, str) or len(value) != 10:
        raise ValueError("must be a day such as 2027-01-31")
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError("must be a day such as 2027-01-31") from None


def _as_one_text(value: Any) -> Any:
    return "" if value is None else value


Title = Annotated[str, StringConstraints(max_length=200), AfterValidator(_readable)]
Purpose = Annotated[str, StringConstraints(max_length=4000), AfterValidator(_readable)]
Why = Annotated[str, StringConstraints(max_length=1000), AfterValidator(_readable)]
OptionalWhy = Annotated[
    str,
    BeforeValidator(_as_one_text),
    StringConstraints(max_length=1000),
    AfterValidator(lambda text: _readable(text) if text.strip() else ""),
]
Day = Annotated[date, BeforeValidator(_as_iso)]
Amount = Annotated[str, WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}]})]


class ProjectState(StrEnum):
    """OPEN and CLOSED are kept; ENDED is what an open project is after its last day."""

    OPEN = "OPEN"
    CLOSED = "CLOSED"
    ENDED = "ENDED"


class GrantState(StrEnum):
    ASKED = "ASKED"
    GRANTED = "GRANTED"
    REFUSED = "REFUSED"
    ENDED = "ENDED"


class NewProject(Model):
    """What a data user says of a project; they become its lead. `ends_on` is its last day, in UTC."""

    name: Slug
    title: Title
    purpose: Purpose
    ends_on: Day


class Ask(Model):
    """Why the project needs the data set, in a sentence for its rights holder."""

    why: Why


class Reason(Model):
    """Why a grant is refused or ended. The project's members read it."""

    reason: Why


class Terms(Model):
    """A grant's share of the budget by currency, its last day, and why.

    Granting needs an amount; `ends_on` is the project's where it is left out. A change leaves as it is what
    it does not name.
    """

    amounts: dict[Currency, Amount] = Field(default_factory=dict)
    ends_on: Day | None = None
    reason: OptionalWhy = ""

    @field_validator("amounts", mode="before")
    @classmethod
    def _of_their_currencies(cls, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise ValueError("must give an amount for each currency")
        known = {currency.value for currency in Currency}
        if unknown := next((name for name in value if name not in known), None):
            raise ValueError(f"{unknown!s:.40} is no currency; there are {', '.join(sorted(known))}")
        return in_order({name: canonical_amount(Currency(name), amount) for name, amount in value.items()})

    @property
    def caps(self) -> dict[Currency, int]:
        """In units of each currency."""
        return {currency: units(currency, amount) for currency, amount in self.amounts.items()}


class Project(Model):
    """`lead` is none where a rights holder made the project by allotting to it: they keep its members."""

    name: Slug
    title: str
    purpose: str
    lead: Slug | None
    made_by: Slug
    made_at: datetime
    members: tuple[Slug, ...]
    # members who lead it too, by an entitlement
    further_leads: tuple[Slug, ...] = ()
    # its last day, in UTC; none of those that a rights holder keeps
    ends_on: date | None
    is_closed: bool

    def state(self, now: datetime) -> ProjectState:
        if self.is_closed:
            return ProjectState.CLOSED
        return ProjectState.ENDED if is_past(self.ends_on, now) else ProjectState.OPEN

    def is_living(self, now: datetime) -> bool:
        return self.state(now) is ProjectState.OPEN


class Grant(Model):
    """What a project asked for or was granted. There is one for each project and name of a data set."""

    number: int
    project: Slug
    dataset: Slug
    state: GrantState
    why: str
    asked_by: Slug
    asked_at: datetime
    decided_by: Slug | None
    decided_at: datetime | None
    reason: str
    # its last day, in UTC; none where the project has none
    ends_on: date | None

    def state_at(self, now: datetime) -> GrantState:
        """With its last day over, a grant has ended."""
        past = self.state is GrantState.GRANTED and is_past(self.ends_on, now)
        return GrantState.ENDED if past else self.state


def subject_of_project(name: str) -> str:
    """What the audit trail calls a project: no name of a user, data set or cohort has a colon."""
    return f"project:{name}"


def subject_of_grant(number: int) -> str:
    """What the audit trail calls a grant."""
    return f"grant:{number}"


def today(now: datetime) -> date:
    """The day that it is in UTC: everybody's projects end at the same moment."""
    return now.astimezone(UTC).date()


def is_past(last_day: date | None, now: datetime) -> bool:
    return last_day is not None and last_day < today(now)


def check_end(ends_on: date, now: datetime, *, latest: date | None = None) -> None:
    """Raises InvalidRequest unless the last day is today or later, and none after `latest`."""
    if is_past(ends_on, now):
        raise InvalidRequest("ends_on", f"{ends_on} is over.", "Give a day that is still to come.")
    if latest is not None and ends_on > latest:
        raise InvalidRequest(
            "ends_on",
            f"{ends_on} is after the project's last day, {latest}.",
            f"Give {latest} or a day before.",
        )
    most = today(now) + timedelta(days=366 * MAX_YEARS)
    if ends_on > most:
        raise InvalidRequest("ends_on", f"{ends_on} is more than {MAX_YEARS} years away.", f"At most {most}.")


def check_leads(user: User, project: Project, *, by_name: bool = False) -> None:
    """Raises NotAllowed unless this user leads the project; `by_name`: and not by an entitlement alone, which
    somebody else can take away: that is no ground for closing a project or giving it to others."""
    if user.name != project.lead and (by_name or user.name not in project.further_leads):
        who = project.lead or project.made_by
        raise NotAllowed("user", f"only {who} may do this in the project {project.name}.", f"Ask {who}.")
