"""Who sees what when every run but the first leaves one person out: the cut behind stability_calibrated.

A person is an identifier in its canonical spelling, never a row. Errors never repeat an identifier.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Sequence

from privacy.partition import MIN_KEY_BYTES, canonical

_PURPOSE = b"dpgate leave one out v1"


def leave_one_out(
    names: Sequence[str], *, key: bytes, people: int, wanted: Iterable[int]
) -> dict[int, list[str]]:
    """The names that each wanted run sees: run 0 everybody, run i (1..people) everybody but person i.

    Person i is the i-th in the order of HMAC-SHA256(key, canonical(name)): neither the order of the file nor
    the identifiers decide who is left out when there are more than `people`, the PUBLIC nominal size. With
    fewer, the last runs see everybody, so that the number of runs says nothing about the data.

    All spellings of a name leave together. Leaving out one row of a person who has two would show how much
    half a person weighs; for a median or a yes-or-no output that is nothing at all, and the noise would be
    matched to nothing.

    Raises ValueError for an empty or non-text name, a key below 32 bytes or a run number out of range.
    """
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"the key must have at least {MIN_KEY_BYTES} bytes; use derive_key.")
    person_of = {name: canonical(name) for name in names}
    order = sorted(set(person_of.values()), key=lambda person: (_rank(person, key=key), person))
    return {
        run: [name for name in names if person_of[name] != _left_out(run, order)]
        for run in _checked(wanted, people=people)
    }


def _rank(person: bytes, *, key: bytes) -> bytes:
    return hmac.digest(key, _PURPOSE + person, "sha256")


def _left_out(run: int, order: Sequence[bytes]) -> bytes | None:
    return order[run - 1] if 0 < run <= len(order) else None


def _checked(wanted: Iterable[int], *, people: int) -> list[int]:
    runs = list(wanted)
    if not all(0 <= run <= people for run in runs):
        raise ValueError("a wanted run must be from 0 to the nominal number of people.")
    return runs
