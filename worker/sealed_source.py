"""A sealed snapshot as people, tables and parts; which files of a person belong together at one place."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import groupby

from domain.people_in_paths import place_of
from formats.delimited import stream_rows
from store.snapshots import RowsPlace, Snapshot, StoredFile
from worker.view import Part


class SealedRows:
    """One table of a snapshot, of which nothing but the wanted pieces is opened."""

    def __init__(self, path: str, places: Mapping[str, RowsPlace], piece: Callable[[int], bytes]) -> None:
        self.path = path
        self._places, self._piece = places, piece
        self._header = next(stream_rows(path, io.BytesIO(piece(0)))).raw

    def only(self, people: Iterable[str]) -> bytes:
        """The header, and the rows of these people, in the order of the people."""
        wanted = {person: self._places[person] for person in people if person in self._places}
        found: dict[str, bytes] = {}
        together = sorted(wanted, key=lambda person: wanted[person].piece)
        for number, own in groupby(together, key=lambda person: wanted[person].piece):
            piece = self._piece(number)
            found |= {person: _cut(piece, wanted[person]) for person in own}
        return b"".join([self._header, *(found[person] for person in wanted)])

    def digest_of(self, person: str) -> str:
        """Of what `only` gives for this one person, from the index."""
        place = self._places.get(person)
        return hashlib.sha256(self._header).hexdigest() if place is None else place.digest


def _cut(piece: bytes, place: RowsPlace) -> bytes:
    return piece[place.start : place.start + place.size]


class SealedSource:
    """A sealed snapshot as a source of inputs: nothing is opened before a sandbox asks for it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._parts: dict[str, tuple[Part, ...]] = {}

    @property
    def people(self) -> list[str]:
        return self._snapshot.people

    def table(self, path: str) -> bytes:
        return self._snapshot.table(path)

    def placed(self, path: str) -> SealedRows | None:
        """The table by its index, of which a run costs its own people's rows; None where there is none."""
        places = self._snapshot.rows_of(path)
        return None if places is None else SealedRows(path, places, partial(self._snapshot.piece, path))

    def parts_of(self, person: str) -> tuple[Part, ...]:
        if person not in self._parts:
            self._parts[person] = _parts(person, self._snapshot.files_of(person))
        return self._parts[person]

    def shared(self) -> tuple[Part, ...]:
        return tuple(_part(path, {"": stored}) for path, stored in self._snapshot.shared.items())


def _parts(person: str, files: Mapping[str, StoredFile]) -> tuple[Part, ...]:
    places: dict[str, dict[str, StoredFile]] = {}
    for path, stored in files.items():
        place = place_of(person, path)
        places.setdefault(place, {})[path[len(place) + 1 :]] = stored
    return tuple(_part(place, own) for place, own in sorted(places.items()))


def _part(place: str, files: Mapping[str, StoredFile]) -> Part:
    digest = hashlib.sha256()
    for path, stored in sorted(files.items()):
        digest.update(f"{path}\0{stored.name}\0".encode())
    return Part(
        place=place,
        key=digest.hexdigest(),
        size=sum(stored.size for stored in files.values()),
        files={path: stored.open for path, stored in files.items()},
    )
