"""Routes of profiles."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response

from desk import profiles
from domain.permissions import User
from gateway.access import TheDatabase
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, ProfileId
from gateway.serving import allowed, put_once, served

router = APIRouter(prefix=f"{PREFIX}/profiles", tags=["profiles"], responses=RESPONSES)

put_once(
    router,
    "/{profile_id}",
    profiles.request_profile,
    summary="Have a delivery profiled for your key, under an id of your choice",
    profile_id=ProfileId,
)
router.get("", summary="Your profiles, newest first")(served(profiles.list_profiles))
router.get("/{profile_id}", summary="How far one of your profiles is")(
    served(profiles.get_profile, profile_id=ProfileId)
)


@router.get(
    "/{profile_id}/sealed",
    summary="The profile as the worker sealed it",
    response_class=Response,
    responses={
        200: {"content": {"application/octet-stream": {}}, "description": "Only your key opens it"},
    },
)
def fetch_profile(
    profile_id: ProfileId, user: Annotated[User, allowed(profiles.fetch_profile)], database: TheDatabase
) -> Response:
    """409 until it is SEALED. `dpgate twin profile` opens it on your own machine."""
    return Response(profiles.fetch_profile(database, user, profile_id), media_type="application/octet-stream")


router.delete("/{profile_id}", summary="Take a profile away, whatever its state")(
    served(profiles.remove_profile, profile_id=ProfileId)
)
