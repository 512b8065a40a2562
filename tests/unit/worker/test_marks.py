"""Marks of the trail: each change of what was there shows, and none says what it was."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from store.audit import GENESIS
from store.zone_ledger import Entry, Kind
from worker.marks import Mark, code, code_of_release, event_of_release, first_missing, mark

KEY, OTHER = bytes(32), bytes(31) + b"1"
HASHES = {number: hashlib.sha256(bytes([number])).hexdigest() for number in range(1, 9)}
ENTRIES = [
    Entry(number, Kind.TOUCHED, f"job-{number}", None, {}, None, f"code-{number}") for number in (1, 2, 3)
]


def made(event: int, entry: int, at: str = "2026-03-02T08:00:00+00:00") -> Mark:
    newest = ENTRIES[entry - 1] if entry else None
    return mark(KEY, at=at, head=(event, HASHES[event]), newest=newest)


def test_what_is_there_is_found() -> None:
    assert first_missing(KEY, [made(8, 3), made(2, 0), made(5, 1)], HASHES, ENTRIES) is None


def test_a_mark_of_a_trail_without_events_holds() -> None:
    first = mark(KEY, at="2026-03-02T08:00:00+00:00", head=(0, GENESIS), newest=None)
    assert first_missing(KEY, [first, made(8, 3)], HASHES, ENTRIES) is None


@pytest.mark.parametrize(
    ("hashes", "entries", "missing"),
    [
        ({n: h for n, h in HASHES.items() if n < 5}, ENTRIES, "event 5"),
        ({**HASHES, 5: "0" * 64}, ENTRIES, "event 5"),
        ({n: HASHES[n] for n in HASHES if n not in (5, 8)}, ENTRIES, "event 5"),
        (HASHES, ENTRIES[:1], "entry 2"),
        (HASHES, [ENTRIES[0], ENTRIES[2], ENTRIES[1]], "entry 2"),
    ],
    ids=["cut off", "rewritten", "removed", "a ledger put back", "another entry"],
)
def test_the_first_that_is_not_there_is_named(hashes: Any, entries: Any, missing: str) -> None:
    found = first_missing(KEY, [made(8, 3), made(5, 2), made(2, 1)], hashes, entries)
    assert found is not None
    assert found.startswith(missing + " ")


def test_a_mark_holds_under_its_own_key_and_day_alone() -> None:
    assert first_missing(OTHER, [made(5, 1)], HASHES, ENTRIES) is not None
    moved = made(5, 1).model_copy(update={"at": "2026-03-03T08:00:00+00:00"})
    assert first_missing(KEY, [moved], HASHES, ENTRIES) is not None


def test_one_event_has_another_code_in_each_certificate() -> None:
    """Equal ones would say that nobody did anything between two releases; a plain hash confirms a guess."""
    head = (5, HASHES[5])
    codes = {code_of_release(KEY, job, head) for job in ("job-1", "job-2")} | {code(KEY, "mark x", head)}
    assert len(codes) == 3
    assert not codes & set(HASHES.values())


def test_the_event_of_a_release_is_found_again() -> None:
    said = {"predicate": {"job": "job-1", "trail": code_of_release(KEY, "job-1", (5, HASHES[5]))}}
    assert event_of_release(KEY, said, HASHES) == 5
    assert event_of_release(KEY, said, {n: h for n, h in HASHES.items() if n != 5}) is None
    assert event_of_release(KEY, said | {"predicate": said["predicate"] | {"job": "job-2"}}, HASHES) is None
