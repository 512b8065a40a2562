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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from domain.model import canonical
from domain.profile_request import (
    DELIVERY,
    ProfileOnRecord,
    ProfileProblem,
    ProfileState,
    context_of,
    ends,
    next_end,
)
from store import profiles, workers
from store.profile_box import TooLong, seal_profile
from twins.profile import NoTable
from twins.profile.document import WARNING, DeliveredProfile, DictionaryColumn, ProfileDocument, ProfiledTable
from twins.profile.unit import find_unit
from worker.failure import without_its_text
from worker.importing import held
from worker.profile.delivered import NoProfile, check_delivered, remove_keys_left_behind
from worker.profile.places import Found, Source, find_tables, read_dictionary
from worker.profile.tables import left_out, profile_source
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


# All tables of a delivery as one document, sealed for the rights holder within a time and a length.
# Whatever depends on the data is inside: also that a table could not be read, took too long or is too
# large.

NO_TIME = "there was no time left for it; profile it by itself, or where it lies: dpgate twin profile DATA"
TOO_LONG = "its profile is too long to be sealed here; profile it where it lies: dpgate twin profile DATA"
_SHORTEST_S = 1.0


def profile_delivery(folder: Path, profile: ProfileOnRecord, *, until: float) -> DeliveredProfile:
    """`until` on the monotonic clock; tables that are not read by then are left out, and say so.

    Raises SandboxUnavailable where nothing can be confined.
    """
    try:
        found = find_tables(folder)
    except NoTable as nothing:
        # the folder's name is the delivery's number: no secret, and nothing that helps
        found = Found(folder, False, (), (str(nothing).replace(str(folder), "the delivery"),))
    tables = [_one(source, profile.people, until) for source in found.sources]
    unknown = sorted(set(profile.people) - {source.name for source in found.sources})
    wanted = {name: column for name, column in profile.people.items() if name not in unknown}
    unit = find_unit({table.name: table.found for table in tables if table.found is not None}, wanted)
    document = ProfileDocument(
        warning=WARNING,
        layout="bids" if found.is_bids else "tables",
        unit=unit.table,
        sandboxed=True,
        tables=tuple(table.model_copy(update={"person": unit.people.get(table.name)}) for table in tables),
        notes=(*found.notes, *(f"There is no table {name}." for name in unknown)),
    )
    return DeliveredProfile(
        name=profile.name,
        document=document,
        dictionaries={source.name: _dictionary(source) for source in found.sources},
    )


def sealed_for(found: DeliveredProfile, profile: ProfileOnRecord, *, signing: Ed25519PrivateKey) -> bytes:
    """Sealed to the key that was asked for. The largest tables give way until the rest fits."""
    context = context_of(profile.id, profile.name, profile.delivery)
    while True:
        content = canonical(found.model_dump(mode="json"))
        try:
            return seal_profile(content, key=profile.key, context=context, signing=signing)
        except TooLong:
            found = _without_the_largest(found)


def _one(source: Source, people: Mapping[str, str], until: float) -> ProfiledTable:
    left_s = until - time.monotonic()
    if left_s < _SHORTEST_S:
        return left_out(source, NO_TIME)
    try:
        return profile_source(source, person=people.get(source.name), wall_s=left_s)
    except SandboxUnavailable:
        raise
    except Exception as error:
        # that a table breaks its reader is a fact about the data: it must not become a visible failure
        return left_out(source, f"the worker could not read it ({type(error).__name__})")


def _dictionary(source: Source) -> dict[str, DictionaryColumn]:
    return {name: DictionaryColumn.of(entry) for name, entry in read_dictionary(source).items()}


def _without_the_largest(found: DeliveredProfile) -> DeliveredProfile:
    """With the sentence why in place of the longest of its tables, and without that table's dictionary."""
    sizes = {table.name: len(canonical(table.model_dump(mode="json"))) for table in found.document.tables}
    largest = max(sizes, key=lambda name: sizes[name])
    tables = tuple(
        table.model_copy(update={"found": None, "refused": TOO_LONG}) if table.name == largest else table
        for table in found.document.tables
    )
    return found.model_copy(
        update={
            "document": found.document.model_copy(update={"tables": tables}),
            "dictionaries": {name: one for name, one in found.dictionaries.items() if name != largest},
        }
    )
