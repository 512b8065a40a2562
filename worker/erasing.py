"""The end of a data set's key. For the sweep: the zone's ledger has it first, then the key goes, then the
platform says so, then the files go; one that dies on the way is gone on with. Where a rights holder's key
guards the data, a row that asks is not enough: that key has to have signed it.

What others see does not depend on how much there is: each key is as long, and files go some at each round,
which nobody is told of.
"""

from __future__ import annotations

import logging
import re
from typing import Any

from domain.erasure import PREDICATE_TYPE, Held, deletion
from domain.model import SLUG
from domain.profile_request import DELIVERY
from domain.release import opened
from store import erasures
from store.envelopes import is_signed, raw, sign
from store.erasures import Erasure
from store.zone_entries import Entry, Kind
from worker import mandates
from worker.certificate import public_key_pem
from worker.zone import WorkerZone

log = logging.getLogger(__name__)
MOST_FILES = 1000
"""Of one data set, at each round."""
_ID = r"[0-9a-f-]{36}"


def erase(zone: WorkerZone) -> None:
    """All that was asked for, and all that was ever erased: a backup may have brought it back."""
    with zone.database.reading() as connection:
        asked = erasures.waiting(connection)
        records = erasures.records(connection, zone.sealed.keys.names())
    for record in records:
        _destroy_copy(zone, record)
    with zone.ledger.reading() as page:
        entered = page.having(Kind.ERASED)
    known = {entry.subject for entry in entered}
    fresh = [each for each in asked if each.id not in known and _enter(zone, each)]
    if fresh:
        with zone.ledger.reading() as page:
            entered = page.having(Kind.ERASED)
    for entry in entered:
        if (key := entry.body["key"]) is not None:
            zone.sealed.keys.destroy(entry.body["dataset"], key)
    _say(zone, entered)
    for entry in entered:
        if (key := entry.body["key"]) is not None:
            zone.sealed.remove_some(key, most=MOST_FILES)


def _destroy_copy(zone: WorkerZone, record: Any) -> None:
    """In a folder that was copied before the erasure, whose ledger knows nothing of it: the zone has signed
    that this key is gone."""
    # a row is not believed: its record may have any form
    if not is_signed(record, by=raw(public_key_pem(zone.keys.signing))):
        return
    said = opened(record)
    # records of before do not name the key
    if said["predicateType"] == PREDICATE_TYPE and (key := said["predicate"].get("key")) is not None:
        zone.sealed.keys.destroy(said["predicate"]["dataset"], key)


def _enter(zone: WorkerZone, asked: Erasure) -> bool:
    """On record in the zone, from when on it cannot be undone; False while something is in the way."""
    # a row is not believed: a name is part of a path
    if not re.fullmatch(SLUG, asked.name) or not re.fullmatch(_ID, asked.id):
        log.error("an erasure has a name or id that none has")
        return False
    with zone.database.reading() as connection:
        reason = erasures.in_the_way(connection, asked.name)
        names = erasures.snapshots(connection, asked.name)
        deliveries = erasures.deliveries(connection, asked.name)
        keys = erasures.keys(connection, asked.name)
        key = zone.sealed.keys.id_of(asked.name)
        numbers = [] if key is None else erasures.numbers(connection, asked.name, key)
    folders = [zone.settings.deliveries_folder / each for each in deliveries if re.fullmatch(DELIVERY, each)]
    if reason is None and any(folder.exists() for folder in folders):
        # it is removed once no import reads it: what that one seals, under a new key even, is there by then
        reason = "a delivery of it is still here"
    if reason is None and keys - {key}:
        reason = "its key is not in this zone folder: it may be in another worker's"
    if reason is None and any(map(zone.sealed.shared.snapshots.has, names)):
        reason = "data of it are sealed under the zone's key"
    if reason is None and key is None and zone.sealed.shared.snapshots.names():
        reason = "it has no key, and which data under the zone's key are its own, rows alone say"
    if reason is not None:
        log.warning("data set %s cannot be erased yet: %s", asked.name, reason)
        return False
    mandates.take_in(zone, asked.name)
    body = {
        "dataset": asked.name,
        "key": key,
        "versions": numbers,
        "by": asked.asked_by,
        "at": asked.asked_at.isoformat(),
    }
    with zone.ledger.writing() as page:
        if mandates.is_erasure_signed(zone, page, asked.name, key):
            return page.add(Kind.ERASED, asked.id, body)
        page.add(Kind.REFUSED, f"{asked.id} {Held.UNSIGNED.name}", {"what": "an erasure"})
    log.error("data set %s is not erased: the key that guards it has not signed that", asked.name)
    with zone.database.transaction() as connection:
        erasures.hold(connection, asked.id, Held.UNSIGNED)
    return False


def _say(zone: WorkerZone, entered: list[Entry]) -> None:
    """On the platform, signed; also on one that was restored from an earlier day."""
    keys = [entry.body["key"] for entry in entered if entry.body["key"] is not None]
    with zone.database.reading() as connection:
        if not erasures.unfinished(connection, ids=[entry.subject for entry in entered], keys=keys):
            return
    for entry in entered:
        body, now = entry.body, zone.now()
        said = deletion(
            dataset=body["dataset"],
            versions=body["versions"],
            key=body["key"],
            erasure_id=entry.subject,
            asked_by=body["by"],
            asked_at=body["at"],
            now=now,
        )
        with zone.database.transaction() as connection:
            erasures.finish(
                connection,
                erasure_id=entry.subject,
                name=body["dataset"],
                data_key=body["key"],
                record=sign(said, key=zone.keys.signing),
                now=now,
            )
