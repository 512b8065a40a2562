"""Before a registration: how the tables are profiled, by the rights holder or in the worker zone, and how far
that is. A profile itself is on no page: no browser gets one, sealed or plain."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response

from desk.profiles import list_profiles, remove_profile
from domain.permissions import Permission, User
from domain.profile_request import FIRST_STEP_S, KEPT_FOR, ProfileState
from gateway.access import TheDatabase
from gateway.pages.layout import page
from gateway.pages.register_draft import PLACE
from gateway.pages.session import CheckedForm, page_requires
from gateway.routes import ProfileId

router = APIRouter(include_in_schema=False)
Holder = Annotated[User, Depends(page_requires(Permission.DATASET_REGISTER))]
# name, tone and sign of a badge, and a sentence
STATES: dict[ProfileState, tuple[str, str, str, str]] = {
    ProfileState.WAITING: ("waits", "plain", "clock", "No worker has taken it up yet. Jobs come first."),
    ProfileState.READING: ("is being made", "accent", "clock", "A worker reads the tables in its sandbox."),
    ProfileState.SEALED: ("ready, sealed", "good", "seal", "Your command fetches and opens it."),
    ProfileState.FAILED: ("failed", "bad", "cross", ""),
}


@router.get(f"{PLACE}/profile")
def show_profiles(request: Request, user: Holder, database: TheDatabase) -> Response:
    found = list_profiles(database, user)
    return page(
        request,
        "register_profile.html",
        user=user,
        profiles=found,
        states=STATES,
        moving=any(one.state.is_open for one in found),
        first_s=int(FIRST_STEP_S),
        kept_days=KEPT_FOR.days,
    )


@router.post(f"{PLACE}/profile/{{profile_id}}/removal")
def take_away(profile_id: ProfileId, _form: CheckedForm, user: Holder, database: TheDatabase) -> Response:
    remove_profile(database, user, profile_id)
    return RedirectResponse(f"{PLACE}/profile#yours", status_code=303)
