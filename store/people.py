"""Who is in which cohort, as sealed sets of keyed fingerprints. Worker zone only.

Registering the same people again under another name would reset their budget; this is how it is noticed.
A fingerprint is HMAC-SHA256 of the person's id, so the set tells nothing without the key.
"""

from __future__ import annotations

import fcntl
import hmac
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from store.keys import Keys
from store.sealing import open_sealed, seal

_SIZE = 32


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
            if wanted & self._read(cohort):
                return cohort
        return None

    def add(self, people: Iterable[str], *, cohort: str) -> None:
        """Remember people as members of a cohort; nobody is ever forgotten. Call it `locked`."""
        known = self._read(cohort) | self._fingerprints(people)
        self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
        unfinished = self._root / f".{cohort}.{secrets.token_hex(6)}"
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(seal(b"".join(sorted(known)), key=self._key, context=f"cohort {cohort}"))
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(self._root / cohort)

    def _fingerprints(self, people: Iterable[str]) -> set[bytes]:
        return {hmac.digest(self._key, person.encode(), "sha256") for person in people}

    def _read(self, cohort: str) -> set[bytes]:
        path = self._root / cohort
        if not path.is_file():
            return set()
        content = open_sealed(path.read_bytes(), key=self._key, context=f"cohort {cohort}")
        return {content[start : start + _SIZE] for start in range(0, len(content), _SIZE)}
