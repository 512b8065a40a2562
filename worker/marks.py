"""What is kept elsewhere of the audit trail and the zone's ledger: that an event was there, not what it was.

An event's own hash must not leave: who knows the one before it can try what the event may have been. Nor must
its number in a certificate, which counts what others did, nor the same code twice, which says that nothing
happened in between. So a mark is a code under a key of the zone, over what carries it, number and hash.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from domain.model import Model, canonical
from store.audit import GENESIS
from store.zone_ledger import Entry, Head, Kind


class Mark(Model):
    """Of one moment. It is kept where neither the database's nor the zone's administrator can change it."""

    at: str
    events: int
    event: str
    entries: int
    entry: str


def code(key: bytes, carrier: str, head: Head) -> str:
    """That this event was the newest, for this carrier."""
    return hmac.new(key, canonical([carrier, *head]), hashlib.sha256).hexdigest()


def code_of_release(key: bytes, job_id: str, head: Head) -> str:
    return code(key, f"release {job_id}", head)


def mark(key: bytes, *, at: str, head: Head, newest: Entry | None) -> Mark:
    number, entry = (0, "") if newest is None else (newest.number, newest.code)
    event = code(key, f"mark {at}", head)
    return Mark(at=at, events=head[0], event=event, entries=number, entry=entry)


def first_missing(
    key: bytes, marks: Iterable[Mark], hashes: Mapping[int, str], entries: Sequence[Entry]
) -> str | None:
    """Of what the marks say was there: the first event, else entry, that is not."""
    known = sorted(marks, key=lambda each: (each.events, each.entries))
    for each in known:
        head = (each.events, {0: GENESIS, **hashes}.get(each.events, ""))
        if not hmac.compare_digest(code(key, f"mark {each.at}", head), each.event):
            return f"event {each.events} is not the one of {each.at}"
    for each in known:
        is_there = each.entries <= len(entries)
        if each.entries and not (is_there and entries[each.entries - 1].code == each.entry):
            return f"entry {each.entries} of the zone's ledger is not the one of {each.at}"
    return None


def first_changed_release(
    entries: Sequence[Entry], digests: Mapping[str, str], *, under_way: Collection[str], has_own_key: bool
) -> str | None:
    """Of the releases that the zone has drawn, the first that is not on record as it was; the key that the
    platform hands out for them before all. `under_way`: jobs whose release the zone still keeps for the
    platform. What a restore has forgotten before the latest catch-up is not missed."""
    if not has_own_key:
        return "the key of certificates is not this zone's, so that they would fit whoever has put it there"
    caught_up = max((entry.number for entry in entries if entry.kind is Kind.CAUGHT_UP), default=0)
    for entry in entries:
        if entry.kind is not Kind.DRAW:
            continue
        found = digests.get(entry.subject)
        if found is None and (entry.number < caught_up or entry.subject in under_way):
            continue
        if found != entry.body["release"]:
            said = "is not there" if found is None else "is not as the zone has drawn it"
            return f"the release of job {entry.subject} {said}"
    return None


def event_of_release(key: bytes, statement: Mapping[str, Any], hashes: Mapping[int, str]) -> int | None:
    """The newest event when a release was drawn, by its certificate; None where the trail has none such."""
    predicate = statement["predicate"]
    job_id, carried = str(predicate["job"]), str(predicate["trail"])
    found = (head[0] for head in hashes.items() if code_of_release(key, job_id, head) == carried)
    return next(found, None)
