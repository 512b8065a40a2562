"""A twin that is nowhere on disk: made from the declaration or released counts, as people and files."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from functools import cached_property

from domain.dataset import Declaration
from domain.people_in_paths import label_of, owners, place_of
from domain.twin import TableCounts
from domain.twin.basis import BLANK, TwinBasis
from formats.delimited import read_rows
from twins.drawn.draw import draw_twin
from worker.view import Opener, Part


class TwinSource:
    """People, tables and parts of the twin of a declaration, in memory; drawn from counts where there are."""

    def __init__(
        self,
        declaration: Declaration,
        basis: TwinBasis = BLANK,
        counts: Mapping[str, TableCounts] | None = None,
    ) -> None:
        self._declaration = declaration
        self._files = draw_twin(declaration, basis, counts)

    @cached_property
    def people(self) -> list[str]:
        unit = self._declaration.privacy_unit
        found = read_rows(unit.table, self.table(unit.table))
        position = found.header.cells.index(unit.column)
        return list(dict.fromkeys(row.cells[position].strip() for row in found.rows))

    def table(self, path: str) -> bytes:
        return self._files[path]

    def parts_of(self, person: str) -> Sequence[Part]:
        return self._parts.get(person, ())

    def shared(self) -> Sequence[Part]:
        """Public files that are meant as they were delivered: on the twin, their small stand-ins."""
        paths = [file.path for file in self._declaration.public_files if file.as_delivered]
        return tuple(_part(path, {"": self._files[path]}) for path in paths)

    @cached_property
    def _parts(self) -> Mapping[str, tuple[Part, ...]]:
        if self._declaration.layout != "bids":
            return {}
        places: dict[str, dict[str, dict[str, bytes]]] = {}
        named = {label_of(person): person for person in self.people}
        declared = {table.path for table in self._declaration.tables}
        declared |= {file.path for file in self._declaration.public_files}
        for path, content in self._files.items():
            found = owners(path) & named.keys()
            if len(found) != 1 or path in declared:
                continue
            person = named[next(iter(found))]
            place = place_of(person, path)
            places.setdefault(person, {}).setdefault(place, {})[path[len(place) + 1 :]] = content
        return {
            person: tuple(_part(place, files) for place, files in sorted(own.items()))
            for person, own in places.items()
        }


def _part(place: str, files: Mapping[str, bytes]) -> Part:
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    openers = {name: _opener(content) for name, content in files.items()}
    return Part(place, digest.hexdigest(), sum(map(len, files.values())), openers)


def _opener(content: bytes) -> Opener:
    return lambda: io.BytesIO(content)
