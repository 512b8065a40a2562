"""A profile's route: claim -> look at the key beside the delivery -> read the tables -> seal -> wait for a
step of the time ladder -> SEALED. Or FAILED, for a reason that says nothing of the data.

Whatever was read is in this process alone until it is sealed. A worker that dies on the way is noticed by the
sweep, which gives the profile to another: it begins anew, and nothing of the first try is left.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from domain.profile_request import DELIVERY, ProfileOnRecord, ProfileProblem, ProfileState, ends, next_end
from store import profiles, workers
from worker.failure import without_its_text
from worker.importing import held
from worker.profile.delivered import NoProfile, check_delivered, remove_keys_left_behind
from worker.profile.sealing import profile_delivery, sealed_for
from worker.sandbox.protocol import SandboxUnavailable
from worker.tries import Tries
from worker.zone import WorkerZone

log = logging.getLogger(__name__)
BEAT_S = 10.0
LOST_AFTER = timedelta(seconds=60)
_MARGIN_S = 5.0
_NAP_S = 0.2
TRIES = Tries(
    profiles,
    ProfileState.READING,
    ProfileProblem.LOST,
    send=lambda zone, profile_id: zone.messages.profile(profile_id),
)


@dataclass
class _Alive:
    """Whether the profile is still this worker's."""

    ended: threading.Event = field(default_factory=threading.Event)
    is_lost: bool = False


def profile(zone: WorkerZone, profile_id: str) -> None:
    """Make one profile, if it still waits and no other is made."""
    found = claim(zone, profile_id)
    if found is None:
        return
    try:
        with _alive(zone, found) as alive:
            sealed = _sealed(zone, found)
            if sealed is not None:
                _wait_for_a_step(zone, found, alive)
    except NoProfile as refused:
        TRIES.fail(zone, found, refused.problem)
    except SandboxUnavailable as missing:
        log.error("profile %s: %s", found.id, missing)
        TRIES.put_back(zone, found, ProfileProblem.NOT_ISOLATED)
    else:
        if sealed is None:
            TRIES.put_back(zone, found, ProfileProblem.NOT_DELIVERED)
            return
        with zone.database.transaction() as connection:
            profiles.finish(connection, found, sealed=sealed, now=zone.now())


def claim(zone: WorkerZone, profile_id: str) -> ProfileOnRecord | None:
    """WAITING -> READING, for one worker; one that drains leaves it to the sweep of another."""
    with zone.database.transaction() as connection:
        if workers.drain_asked(connection, zone.settings.name):
            return None
        now = zone.now()
        return profiles.claim(connection, profile_id, now=now, due_at=now + LOST_AFTER)


def mend_profiles(zone: WorkerZone) -> None:
    TRIES.mend(zone)


def forget_profiles(zone: WorkerZone) -> None:
    """For the sweep: sealed profiles that nobody came for, and keys whose delivery is gone."""
    with zone.database.transaction() as connection:
        profiles.forget(connection, now=zone.now())
    remove_keys_left_behind(zone.settings.deliveries_folder)


def _sealed(zone: WorkerZone, found: ProfileOnRecord) -> bytes | None:
    """None while an import holds the delivery: it will be gone."""
    if not re.fullmatch(DELIVERY, found.delivery):  # a row is not believed: a path leads elsewhere
        raise NoProfile(ProfileProblem.NOT_DELIVERED)
    folder: Path = zone.settings.deliveries_folder / found.delivery
    check_delivered(folder, found.request)
    last = ends(found.moved_at)[-1]
    left_s = (last - zone.now()).total_seconds() - _MARGIN_S
    with held(folder) as is_ours:
        if not is_ours:
            return None
        made = profile_delivery(folder, found, until=time.monotonic() + left_s)
    return sealed_for(made, found, signing=zone.keys.signing)


def _wait_for_a_step(zone: WorkerZone, found: ProfileOnRecord, alive: _Alive) -> None:
    """When it becomes visible says no more than which step it was. Nobody waits for what was taken away."""
    moment = next_end(found.moved_at, zone.now())
    while not alive.is_lost and (left_s := (moment - zone.now()).total_seconds()) > 0:
        time.sleep(min(left_s, _NAP_S))


@contextmanager
def _alive(zone: WorkerZone, found: ProfileOnRecord) -> Iterator[_Alive]:
    """Says at even times that the worker lives, whatever the tables are like."""
    alive = _Alive()
    beater = threading.Thread(target=_beat, args=(zone, found, alive), daemon=True)
    beater.start()
    try:
        yield alive
    finally:
        alive.ended.set()
        beater.join()


def _beat(zone: WorkerZone, found: ProfileOnRecord, alive: _Alive) -> None:
    while not alive.ended.wait(BEAT_S):
        try:
            with zone.database.transaction() as connection:
                alive.is_lost = not profiles.beat(connection, found, due_at=zone.now() + LOST_AFTER)
        except Exception as error:
            # the database is away: the next beat may find it
            log.error("profile %s: %s", found.id, without_its_text(error))
