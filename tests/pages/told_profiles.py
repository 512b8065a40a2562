"""Profiles of the story's rights holder: one in each state."""

from __future__ import annotations

from datetime import datetime, timedelta

import sqlalchemy as sa

from domain.permissions import Role, User
from domain.profile_request import ProfileProblem, ProfileRequest
from store import datasets, profiles, twin_reports

PROFILE, SEALED, FAILED = "profile-waits", "profile-sealed", "profile-failed"
# an X25519 key whose private half nobody has
KEY = "3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08="


REPORT = (
    '<!DOCTYPE html>\n<html lang="en"><head><title>Twin of heights</title><style>body { color: #263238; }'
    '</style></head><body><p class="banner open">For researchers.</p><h1>Twin of heights</h1></body></html>'
)


def give_profiles(connection: sa.Connection, now: datetime) -> None:
    holder = User(name="holder", role=Role.RIGHTS_HOLDER)
    heights = datasets.newest(connection, "heights", holder)
    twin_reports.put(connection, heights, REPORT, by="holder", now=now)
    for number, (profile_id, name) in enumerate(
        ((FAILED, "walkers"), (SEALED, "sleepers"), (PROFILE, "commuters-2026"))
    ):
        delivery = f"9b1f6c2a-0000-4000-8000-00000000000{number}"
        request = ProfileRequest(name=name, delivery=delivery, key=KEY)
        profiles.request(connection, profile_id=profile_id, owner="holder", request=request, now=now)
        if profile_id == PROFILE:
            continue
        found = profiles.claim(connection, profile_id, now=now, due_at=now + timedelta(minutes=1))
        assert found is not None
        if profile_id == SEALED:
            profiles.finish(connection, found, sealed=bytes(65_536), now=now)
        else:
            profiles.fail(connection, found, problem=ProfileProblem.OTHER_KEY, now=now)
