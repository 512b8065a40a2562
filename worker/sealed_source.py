"""A sealed snapshot as people, tables and parts; which files of a person belong together at one place."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from domain.people_in_paths import label_of
from store.snapshots import Snapshot, StoredFile
from worker.view import Part


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

    def parts_of(self, person: str) -> tuple[Part, ...]:
        if person not in self._parts:
            self._parts[person] = _parts(person, self._snapshot.files_of(person))
        return self._parts[person]

    def shared(self) -> tuple[Part, ...]:
        return tuple(_file(path, stored) for path, stored in self._snapshot.shared.items())


def place_of(person: str, path: str) -> str:
    """The folder named like the person, wherever it is, or else the file itself."""
    steps = path.split("/")
    for folder in (person, f"sub-{label_of(person)}"):
        if folder in steps:
            return "/".join(steps[: steps.index(folder) + 1])
    return path


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


def _file(path: str, stored: StoredFile) -> Part:
    return _part(path, {"": stored})
