"""Profiles that the worker zone makes of deliveries, sealed to the key of the rights holder who asked.

What is handed out here can be opened by nobody but them: not by this gateway, and not by who runs it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response
from pydantic import AfterValidator, BaseModel, Field

from domain.permissions import Permission, User
from domain.profile_request import (
    ProfileOnRecord,
    ProfileRequest,
    ProfileState,
    check_profile_id,
    fingerprint,
    next_end,
)
from gateway.access import TheDatabase, TheQueue, requires
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from store import profiles

router = APIRouter(prefix=f"{PREFIX}/profiles", tags=["profiles"], responses=RESPONSES)
AnId = Annotated[str, AfterValidator(check_profile_id), Path(description="8 to 64 letters, digits, - or _")]
Holder = Annotated[User, Depends(requires(Permission.DATASET_REGISTER))]


class ProfileView(BaseModel):
    """How far a profile is. What it says is sealed, and its times and length are steps of public ladders."""

    id: str
    name: str = Field(description="Under which the data are to be registered")
    delivery: str
    state: ProfileState
    problem: str | None = Field(description="Why it failed; it says nothing of the data")
    fingerprint: str = Field(description="Of the key that it is sealed to: compare it with your own")
    created_at: datetime
    began_at: datetime | None = Field(description="When a worker took it up")
    next_end_at: datetime | None = Field(description="The next moment at which it can be ready")

    @classmethod
    def of(cls, found: ProfileOnRecord, now: datetime) -> ProfileView:
        is_read = found.state is ProfileState.READING
        return cls(
            id=found.id,
            name=found.name,
            delivery=found.delivery,
            state=found.state,
            problem=found.sentence,
            fingerprint=fingerprint(found.key),
            created_at=found.created_at,
            began_at=found.moved_at if is_read else None,
            next_end_at=next_end(found.moved_at, now) if is_read else None,
        )


@router.put(
    "/{profile_id}",
    summary="Have a delivery profiled for your key, under an id of your choice",
    responses={
        200: {"description": "This very request is on record"},
        201: {"model": ProfileView, "description": "New"},
    },
)
def request_profile(
    profile_id: AnId,
    request: ProfileRequest,
    user: Holder,
    database: TheDatabase,
    queue: TheQueue,
    response: Response,
) -> ProfileView:
    """The worker seals to no other key than the one that came with the delivery (`dpgate twin deliver`)."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        found, is_new = profiles.request(
            connection, profile_id=profile_id, owner=user.name, request=request, now=now
        )
    if is_new:
        queue.profile(profile_id)
    response.status_code = 201 if is_new else 200
    return ProfileView.of(found, now)


@router.get("", summary="Your profiles, newest first")
def list_profiles(user: Holder, database: TheDatabase) -> list[ProfileView]:
    now = datetime.now(UTC)
    with database.reading() as connection:
        return [ProfileView.of(found, now) for found in profiles.of_owner(connection, user.name)]


@router.get("/{profile_id}", summary="How far one of your profiles is")
def get_profile(profile_id: AnId, user: Holder, database: TheDatabase) -> ProfileView:
    with database.reading() as connection:
        found = profiles.get_own(connection, profile_id, owner=user.name)
    return ProfileView.of(found, datetime.now(UTC))


@router.get(
    "/{profile_id}/sealed",
    summary="The profile as the worker sealed it",
    response_class=Response,
    responses={
        200: {"content": {"application/octet-stream": {}}, "description": "Only your key opens it"},
    },
)
def fetch_profile(profile_id: AnId, user: Holder, database: TheDatabase) -> Response:
    """409 until it is SEALED. `dpgate twin profile` opens it on your own machine."""
    with database.transaction() as connection:
        sealed = profiles.sealed_of(connection, profile_id, owner=user.name, now=datetime.now(UTC))
    return Response(sealed, media_type="application/octet-stream")


@router.delete("/{profile_id}", summary="Take a profile away, whatever its state")
def remove_profile(profile_id: AnId, user: Holder, database: TheDatabase) -> list[ProfileView]:
    """What was delivered stays where it is. The answer is what is left."""
    with database.transaction() as connection:
        profiles.remove(connection, profile_id, owner=user.name, now=datetime.now(UTC))
    return list_profiles(user, database)
