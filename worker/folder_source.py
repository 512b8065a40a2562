"""A data set that lies plain in a folder of this machine: a twin, or a developer's own data."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from domain.dataset import Declaration
from domain.people_in_paths import label_of, owners, place_of
from formats.delimited import read_rows
from worker.view import Opener, Part


class FolderSource:
    """People, tables and parts of a folder, as its declaration says. Files of nobody that are not declared
    are in no input; links to files count as files."""

    def __init__(self, folder: Path, declaration: Declaration) -> None:
        self.root = folder.resolve()
        self._declaration = declaration

    @cached_property
    def people(self) -> list[str]:
        """Those of the privacy unit's table. Raises OSError and ValueError where that cannot be read."""
        unit = self._declaration.privacy_unit
        found = read_rows(unit.table, self.table(unit.table))
        position = found.header.cells.index(unit.column)
        return list(dict.fromkeys(row.cells[position].strip() for row in found.rows))

    def table(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def parts_of(self, person: str) -> tuple[Part, ...]:
        return self._parts.get(person, ())

    def shared(self) -> tuple[Part, ...]:
        """Public files that are meant as they lie here."""
        paths = [file.path for file in self._declaration.public_files if file.as_delivered]
        return tuple(self._part(path, {"": self.root / path}) for path in paths)

    @cached_property
    def _parts(self) -> Mapping[str, tuple[Part, ...]]:
        places: dict[str, dict[str, dict[str, Path]]] = {}
        for path, person in self._files_of_people():
            place = place_of(person, path)
            own = places.setdefault(person, {}).setdefault(place, {})
            own[path[len(place) + 1 :]] = self.root / path
        return {
            person: tuple(self._part(place, files) for place, files in sorted(own.items()))
            for person, own in places.items()
        }

    def _files_of_people(self) -> Iterator[tuple[str, str]]:
        """Path and person."""
        if self._declaration.layout != "bids":
            return
        named = {label_of(person): person for person in self.people}
        declared = {table.path for table in self._declaration.tables}
        declared |= {file.path for file in self._declaration.public_files}
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if not name.startswith(".")]  # no part of a BIDS data set
            for name in names:
                path = Path(folder, name).relative_to(self.root).as_posix()
                found = owners(path) & named.keys()
                if len(found) == 1 and path not in declared and not self._declaration.excludes(path):
                    yield path, named[next(iter(found))]

    def _part(self, place: str, files: Mapping[str, Path]) -> Part:
        digest, size = hashlib.sha256(), 0
        for name, path in sorted(files.items()):
            status = path.stat()
            size += status.st_size
            digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}\0".encode())
        openers = {name: _opener(path) for name, path in files.items()}
        return Part(place, digest.hexdigest(), size, openers, folder=self.root / place)


def _opener(path: Path) -> Opener:
    return lambda: path.open("rb")
