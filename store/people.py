"""Who is in which cohort, as sealed sets of keyed fingerprints. Worker zone only.

Registering the same people again under another name would reset their budget; this is how it is noticed,
among the cohorts of one rights holder. Between rights holders it is for an auditor in the worker zone to look
at: what an import does and says never depends on somebody else's people.
A fingerprint is HMAC-SHA256 of the person's id, so the set tells nothing without the key.
"""

from __future__ import annotations

import fcntl
import hmac
import os
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from store.keys import Keys
from store.sealing import open_sealed, seal

# numpy leaves zeros at the end of such a value out where it is read as Python's bytes, and nowhere else
_FINGERPRINT = np.dtype("S32")
Fingerprints = NDArray[np.bytes_]


class CohortPeople:
    """One sealed file of fingerprints per cohort."""

    def __init__(self, root: Path, keys: Keys) -> None:
        self._root = root
        self._key = keys.people

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else compares or adds meanwhile: two imports at once must not both find nobody."""
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._root / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def overlapping(self, people: Iterable[str], *, cohorts: Iterable[str]) -> str | None:
        """The first of these cohorts that knows one of these people, or None."""
        wanted = self._fingerprints(people)
        for cohort in cohorts:
            if len(np.intersect1d(wanted, self._read(cohort), assume_unique=True)):
                return cohort
        return None

    def shared(self, cohorts: Sequence[str]) -> dict[tuple[str, ...], int]:
        """How many people are in exactly these of the cohorts, for each two and more that share somebody. For
        an auditor: an exact count of original data. Call it `locked`."""
        sets = [self._read(cohort) for cohort in cohorts]
        everybody = np.concatenate([np.zeros(0, _FINGERPRINT), *sets])
        member_of = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
        order = np.argsort(everybody, kind="stable")
        member_of = member_of[order]
        starts = np.flatnonzero(_is_first(everybody[order]))
        ends = np.append(starts, len(everybody))[1:]
        is_shared = ends - starts > 1
        found = (member_of[start:end] for start, end in zip(starts[is_shared], ends[is_shared], strict=True))
        return dict(Counter(tuple(cohorts[number] for number in numbers) for numbers in found))

    def add(self, people: Iterable[str], *, cohort: str) -> None:
        """Remember people as members of a cohort; nobody is ever forgotten. Call it `locked`."""
        known = _distinct(np.concatenate([self._read(cohort), self._fingerprints(people)]))
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = self._root / f".{cohort}.{secrets.token_hex(6)}"
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(seal(known.tobytes(), key=self._key, context=f"cohort {cohort}"))
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(self._root / cohort)

    def _fingerprints(self, people: Iterable[str]) -> Fingerprints:
        found = bytearray()
        for person in people:
            found += hmac.digest(self._key, person.encode(), "sha256")
        return _distinct(np.frombuffer(found, _FINGERPRINT))

    def _read(self, cohort: str) -> Fingerprints:
        path = self._root / cohort
        if not path.is_file():
            return np.zeros(0, _FINGERPRINT)
        content = open_sealed(path.read_bytes(), key=self._key, context=f"cohort {cohort}")
        return np.frombuffer(content, _FINGERPRINT)


def _distinct(found: Fingerprints) -> Fingerprints:
    """Sorted in place, each once."""
    found.sort()
    distinct: Fingerprints = found[_is_first(found)]
    return distinct


def _is_first(found: Fingerprints) -> NDArray[np.bool_]:
    """Of equal ones that follow each other, the first."""
    is_first = np.ones(len(found), bool)
    is_first[1:] = found[1:] != found[:-1]
    return is_first
