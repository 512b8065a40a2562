"""Profiles that the worker zone makes of deliveries, sealed to the key of the rights holder who asked.

What is handed out here can be opened by nobody but them: not by this gateway, and not by who runs it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import BaseModel, Field

from desk.messages import Messages
from desk.rights import needs
from domain.permissions import Permission, User
from domain.profile_request import (
    ProfileOnRecord,
    ProfileRequest,
    ProfileState,
    fingerprint,
    next_end,
)
from store import profiles
from store.database import Database


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


@needs(Permission.DATASET_REGISTER)
def request_profile(
    database: Database, user: User, profile_id: str, request: ProfileRequest, queue: Messages
) -> tuple[ProfileView, bool]:
    """The worker seals to no other key than the one that came with the delivery (`dpgate twin deliver`)."""
    now = datetime.now(UTC)
    with database.transaction() as connection:
        found, is_new = profiles.request(
            connection, profile_id=profile_id, owner=user.name, request=request, now=now
        )
    if is_new:
        queue.profile(profile_id)
    return ProfileView.of(found, now), is_new


@needs(Permission.DATASET_REGISTER)
def list_profiles(database: Database, user: User) -> list[ProfileView]:
    now = datetime.now(UTC)
    with database.reading() as connection:
        return [ProfileView.of(found, now) for found in profiles.of_owner(connection, user.name)]


@needs(Permission.DATASET_REGISTER)
def get_profile(database: Database, user: User, profile_id: str) -> ProfileView:
    with database.reading() as connection:
        found = profiles.get_own(connection, profile_id, owner=user.name)
    return ProfileView.of(found, datetime.now(UTC))


@needs(Permission.DATASET_REGISTER)
def fetch_profile(database: Database, user: User, profile_id: str) -> bytes:
    """409 until it is SEALED. `dpgate twin profile` opens it on your own machine."""
    with database.transaction() as connection:
        return profiles.sealed_of(connection, profile_id, owner=user.name, now=datetime.now(UTC))


@needs(Permission.DATASET_REGISTER)
def remove_profile(database: Database, user: User, profile_id: str) -> list[ProfileView]:
    """What was delivered stays where it is. The answer is what is left."""
    with database.transaction() as connection:
        profiles.remove(connection, profile_id, owner=user.name, now=datetime.now(UTC))
    return list_profiles(database, user)
