"""Deliveries to be profiled, whose keys are known, and the way of their profiles in a worker zone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from uuid import uuid4

from zones import Bench

from domain.model import parse
from domain.profile_request import DeliveredKey, ProfileOnRecord, ProfileRequest, context_of
from store import profiles
from store.profile_box import new_key, open_profile
from twins.profile.document import DeliveredProfile
from worker.profile.delivered import write_key


def delivered(bench: Bench, files: Mapping[str, str], *, name: str = "clinic") -> tuple[ProfileRequest, str]:
    """A delivery with its key; the request for its profile, and the private key."""
    private, public = new_key()
    number = str(uuid4())
    folder = bench.zone.settings.deliveries_folder / number
    folder.mkdir(mode=0o700)
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    write_key(folder, DeliveredKey(name=name, key=public))
    return parse(ProfileRequest, {"name": name, "delivery": number, "key": public}), private


def ask(bench: Bench, request: ProfileRequest) -> str:
    profile_id = f"profile-{uuid4()}"
    with bench.database.transaction() as connection:
        profiles.request(
            connection, profile_id=profile_id, owner="holder", request=request, now=bench.clock()
        )
    return profile_id


def read(bench: Bench, profile_id: str) -> ProfileOnRecord:
    with bench.database.reading() as connection:
        return profiles.get(connection, profile_id)


def sealed(bench: Bench, profile_id: str) -> bytes:
    with bench.database.transaction() as connection:
        return profiles.sealed_of(connection, profile_id, owner="holder", now=bench.clock())


def opened(bench: Bench, found: ProfileOnRecord, private: str) -> DeliveredProfile:
    context = context_of(found.id, found.name, found.delivery)
    content = open_profile(sealed(bench, found.id), private=private, context=context)
    return parse(DeliveredProfile, json.loads(content))
