"""What a role has to show anew before it does what cannot be taken back: how it logged in, and how lately."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from domain.model import Model, Whole
from domain.permissions import Permission


class Action(StrEnum):
    """Decisions on jobs, releases and twins; changes of a policy and of who reviews under it; registrations;
    what opens data to people or ends it; who is a user, in which role; images, workers and maintenance."""

    DECIDE = "decide"
    POLICY = "policy"
    REGISTER = "register"
    GRANT = "grant"
    PEOPLE = "people"
    PLATFORM = "platform"
    END = "end"


P = Permission
PERMISSIONS: dict[Action, frozenset[Permission]] = {
    Action.DECIDE: frozenset({P.JOB_DECIDE, P.RELEASE_DECIDE, P.TWIN_DECIDE}),
    # a registration that brings another policy is asked for it as well
    Action.POLICY: frozenset({P.POLICY_CHANGE}),
    Action.REGISTER: frozenset({P.DATASET_REGISTER}),
    Action.GRANT: frozenset({P.GRANT_DECIDE, P.BUDGET_ALLOT}),
    # not to disable somebody: that has to go quickly
    Action.PEOPLE: frozenset({P.USER_ADD}),
    Action.PLATFORM: frozenset({P.IMAGE_APPROVE, P.OPERATION_CHANGE}),
    Action.END: frozenset({P.DATASET_END}),
}
# how far the clock of a provider may be ahead
AHEAD = timedelta(seconds=30)
# what only looks needs nothing
LOOKS = frozenset({"GET", "HEAD"})


class StepUp(Model):
    """Of one role. `acr` are words of the provider for how somebody showed who they are, of which one will
    do; `within_minutes` is how long ago that may be."""

    actions: Annotated[tuple[Action, ...], Field(min_length=1)]
    acr: tuple[str, ...] = ()
    within_minutes: Annotated[Whole, Field(ge=1, le=720)] = 15

    def concerns(self, permission: Permission, method: str) -> bool:
        return method not in LOOKS and any(permission in PERMISSIONS[action] for action in self.actions)

    def lacks(self, *, acr: str | None, shown_at: datetime | None, now: datetime) -> str:
        """What is missing of a login, as the end of a sentence; empty where nothing is."""
        if self.acr and acr not in self.acr:
            return f"this needs a login by {' or '.join(self.acr)}."
        if shown_at is None:
            return "the identity provider does not say when you logged in."
        if shown_at - now > AHEAD:
            return "the identity provider says that you log in later: its clock is ahead."
        if now - shown_at > timedelta(minutes=self.within_minutes):
            return f"this needs a login of the last {self.within_minutes} minutes."
        return ""
