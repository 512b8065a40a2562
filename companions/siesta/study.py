"""A BIDS data set as it lies in a folder, opened for runs: inputs with some of its people, and no copies."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from companions.siesta.people import Choice, everybody
from companions.siesta.places import (
    check_cells,
    check_name,
    check_public,
    is_inherited,
    is_table,
    keep,
    owners_of,
    read_rows,
)
from companions.siesta.tables import Table
from companions.siesta.tree import HISTORY, Tree, find_below, read_tree
from dpgate.errors import DpgateError
from worker.sealed_source import place_of
from worker.stage import People, by_size
from worker.view import Part

SEVERAL = "belongs to several people, so it can be in nobody's input; --exclude the file"


def open_study(folder: Path, *, public: Sequence[str] = (), exclude: Sequence[str] = ()) -> People:
    """The data set with everybody in it: names are `sub-XX`, in the order of participants.tsv, and rows keep
    the order of their table.

    Every file is somebody's, or a table with ids, or for all, by the rules of `leaveoneout`; so whoever is
    left out of an input is in no path, row or text of it. Raises DpgateError where that cannot be known.
    """
    source = StudySource(read_tree(folder, exclude=exclude, passed_over=HISTORY), tuple(public))
    _ = source.sorted  # every refusal before the first run
    small, large = by_size(source.shared())
    return People(source, True, tuple(source.people), source.sorted.tables, small, large)


def digest_of_data(people: People) -> str:
    """Of everything that runs can see, by names, sizes and times of change: large files are not read."""
    digest = hashlib.sha256()
    for name in people.names:
        digest.update(people.digest_of(name))
    return digest.hexdigest()


@dataclass(frozen=True)
class OwnedTable:
    """A table, and whose each row is."""

    path: str
    table: Table
    owners: tuple[str, ...]

    def only(self, people: Iterable[str]) -> bytes:
        """The header and the rows of these people, byte for byte and in the table's own order."""
        kept = set(people)
        rows = zip(self.table.rows, self.owners, strict=True)
        return self.table.write([row for row, owner in rows if owner in kept])

    def digest_of(self, person: str) -> str:
        return hashlib.sha256(self.only([person])).hexdigest()


@dataclass
class Sorted:
    """Every file of a data set where it belongs; `of_person` by `sub-XX`."""

    tables: tuple[OwnedTable, ...] = ()
    of_person: dict[str, list[str]] = field(default_factory=dict)
    shared: list[str] = field(default_factory=list)


class StudySource:
    """Where the inputs of a study come from."""

    def __init__(self, tree: Tree, public: tuple[str, ...]) -> None:
        check_public(tree, public)
        self._tree, self._public = tree, public
        self._labels = everybody(tree)

    @cached_property
    def people(self) -> list[str]:
        return [f"sub-{label}" for label in self._labels]

    def table(self, path: str) -> bytes:
        return self._tree.read(path)

    def parts_of(self, person: str) -> Sequence[Part]:
        return self._parts.get(person, ())

    def shared(self) -> Sequence[Part]:
        return [_part(self._tree, path, {"": self._tree.files[path]}) for path in self.sorted.shared]

    @cached_property
    def sorted(self) -> Sorted:
        found = Sorted()
        for path in self._tree.files:
            self._sort(path, found)
        return found

    @cached_property
    def _parts(self) -> Mapping[str, tuple[Part, ...]]:
        return {person: tuple(self._own(person, paths)) for person, paths in self.sorted.of_person.items()}

    def _own(self, person: str, paths: Iterable[str]) -> Iterable[Part]:
        places: dict[str, dict[str, Path]] = {}
        for path in paths:
            place = place_of(person, path)
            places.setdefault(place, {})[path[len(place) + 1 :]] = self._tree.files[path]
        return [_part(self._tree, place, files) for place, files in sorted(places.items())]

    def _sort(self, path: str, found: Sorted) -> None:
        of = owners_of(self._tree, path)
        is_public = find_below(path, self._public) is not None
        if not of and not is_public and is_table(path) and not is_inherited(self._tree, path):
            found.tables += (self._owned(path),)
            return
        keep(self._tree, path, self._alone(of), public=self._public)
        if len(of) > 1:
            raise DpgateError(f"{path} {SEVERAL}")
        if of:
            found.of_person.setdefault(f"sub-{next(iter(of))}", []).append(path)
        else:
            found.shared.append(path)

    def _owned(self, path: str) -> OwnedTable:
        check_name(path, self._alone(frozenset()))
        table, columns = read_rows(self._tree, path)
        check_cells(table, table.header, self._alone(frozenset()))
        owners = []
        for row in table.rows:
            of, place = table.people(row, columns), f"{path}, line {row.number},"
            alone = self._alone(of)
            alone.keeps(of, place)  # refuses strangers
            check_cells(table, row, alone)
            if len(of) > 1:
                raise DpgateError(f"{place} {SEVERAL}")
            owners.append(f"sub-{next(iter(of))}")
        return OwnedTable(path, table, tuple(owners))

    def _alone(self, of: frozenset[str]) -> Choice:
        """As if all others were gone: what passes then passes whoever is left out."""
        return self._choices.setdefault(of, Choice(self._labels, of & frozenset(self._labels)))

    @cached_property
    def _choices(self) -> dict[frozenset[str], Choice]:
        return {}


def _part(tree: Tree, place: str, files: Mapping[str, Path]) -> Part:
    digest, size = hashlib.sha256(), 0
    for name, path in sorted(files.items()):
        status = path.stat()
        size += status.st_size
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\0{status.st_ino}\0".encode())
    openers = {name: (lambda path=path: path.open("rb")) for name, path in files.items()}
    return Part(place, digest.hexdigest(), size, openers, folder=tree.root.resolve() / place)
