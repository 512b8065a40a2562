"""From a data set to the input of each run: whole people, nothing else.

Works on anything that has people, tables and files: a sealed snapshot in the worker zone, or a folder on
somebody's machine, so that both see the same kind of input. From a snapshot, an input costs as much as the
rows of its own people, however many others have, and however large their files are.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from domain.dataset import Declaration, Table
from domain.people_in_paths import label_of
from formats.delimited import Delimited, Row, cells_of, delimiter_of, joined, read_rows
from privacy.plan import RunPlan, members
from worker.view import Part, View

SMALL_FILE = 256 * 1024
_PLAIN_NAME = re.compile(r"[A-Za-z0-9+_-][A-Za-z0-9+_.-]{0,99}")
_GIVEN_NAME = re.compile(r"person-[0-9a-f]{16}")
_NOBODYS = {"derivatives", "dataset_description.json"}
SMALL_FILES = 16 * 1024 * 1024


class Source(Protocol):
    """Where people, tables and files come from."""

    @property
    def people(self) -> list[str]: ...
    def table(self, path: str) -> bytes: ...
    def parts_of(self, person: str) -> Sequence[Part]:
        """What belongs to the person alone."""
        ...

    def shared(self) -> Sequence[Part]:
        """What is the same for everybody and came with the data."""
        ...


class TableRows(Protocol):
    """One table, of which a run gets the header and the rows of its people."""

    @property
    def path(self) -> str: ...
    def only(self, people: Iterable[str]) -> bytes: ...
    def digest_of(self, person: str) -> str:
        """SHA-256, in hex, of what `only` gives for one person."""
        ...


@dataclass(frozen=True)
class _Rows:
    """One table in memory: its declared columns only, rows by person in the table's own order."""

    path: str
    header: Row
    of_person: Mapping[str, tuple[Row, ...]]

    def only(self, people: Iterable[str]) -> bytes:
        rows = [row for person in people for row in self.of_person.get(person, ())]
        return joined([self.header, *rows], end=self.header.end)

    def digest_of(self, person: str) -> str:
        return hashlib.sha256(self.only([person])).hexdigest()


@dataclass(frozen=True)
class People:
    """A data set, opened: people by name, so that where others stand in a table changes nothing."""

    source: Source
    is_bids: bool
    names: tuple[str, ...]
    tables: tuple[TableRows, ...]
    public: Mapping[str, bytes]  # the same for everybody, small enough to be in memory
    shared: tuple[Part, ...]  # the same for everybody, large

    def view(self, names: Sequence[str]) -> View:
        """The input with these people in it."""
        files = {**self.public, **{rows.path: rows.only(names) for rows in self.tables}}
        own = [part for name in names for part in self.source.parts_of(name)]
        return View(files, [*self.shared, *own])

    def only(self, names: Iterable[str]) -> People:
        """The same data set as if nobody else were in it."""
        kept = set(names)
        return replace(self, names=tuple(name for name in self.names if name in kept))

    def folder_of(self, name: str) -> str:
        """What the person's own folder is called. In BIDS that is `sub-01`, also where tables say `01`; else
        the name, unless that could stand for anything but one person's folder."""
        if self.is_bids:
            return f"sub-{label_of(name)}"
        # a name of the form that others are given could be somebody else's
        is_plain = _PLAIN_NAME.fullmatch(name) and name not in _NOBODYS and not _GIVEN_NAME.fullmatch(name)
        return name if is_plain else f"person-{hashlib.sha256(name.encode()).hexdigest()[:16]}"

    def digest_of(self, name: str) -> bytes:
        """Of everything that an input with this one person holds, and of the name: 32 bytes."""
        own = [(table.path, table.digest_of(name)) for table in self.tables]
        own += [(part.place, part.key) for part in self.source.parts_of(name)]
        return _digest([("", name), ("", self._shared_digest), *sorted(own)])

    @cached_property
    def _shared_digest(self) -> str:
        return _digest(_contents(self.public, self.shared)).hex()


def _nowhere(_: str) -> None:
    return None


def open_people(
    declaration: Declaration, source: Source, *, placed: Callable[[str], TableRows | None] = _nowhere
) -> People:
    """Tables that `placed` knows by an index of their people are read as runs need them; others once, and
    inputs are cut from memory. Raises ValueError for what is no table."""
    names = tuple(sorted(source.people))
    written = _as_written(names, declaration)
    tables = tuple(
        placed(table.path) or _read(table, source.table(table.path), written) for table in declaration.tables
    )
    small, large = by_size(source.shared())
    lie_there = {part.place for part in large}
    given = {file.path: file.content for file in declaration.public_files if file.path not in lie_there}
    return People(source, declaration.layout == "bids", names, tables, given | small, large)


def single(people: People, name: str) -> View:
    """One person and nobody else: the input of a participant level."""
    return people.view([name])


class Inputs(Mapping[int, View]):
    """The inputs of some runs, each made when it is asked for: only one need be in memory."""

    def __init__(self, people: People, members: Mapping[int, Sequence[str]]) -> None:
        self._people, self.members = people, members

    def only(self, names: Iterable[str]) -> Inputs:
        """The same runs without anybody else in them."""
        kept = frozenset(names)
        members = {run: [one for one in found if one in kept] for run, found in self.members.items()}
        return Inputs(self._people, members)

    def __getitem__(self, run: int) -> View:
        return self._people.view(self.members[run])

    def __iter__(self) -> Iterator[int]:
        return iter(self.members)

    def __len__(self) -> int:
        return len(self.members)


def cut(people: People, plan: RunPlan, *, key: bytes, wanted: Iterable[int]) -> Inputs:
    """The inputs of the wanted runs of a plan; who is in which the plan decides."""
    return Inputs(people, members(plan, people.names, key=key, wanted=wanted))


def _as_written(names: Iterable[str], declaration: Declaration) -> Mapping[str, str]:
    """Who is meant, by what a table may call them: in BIDS `sub-01` and `01` are one person."""
    names = tuple(names)
    if declaration.layout != "bids":
        return {name: name for name in names}
    labels = {label_of(name): name for name in names}
    return {**labels, **{f"sub-{label}": name for label, name in labels.items()}}


def _read(table: Table, content: bytes, written: Mapping[str, str]) -> _Rows:
    found = _declared_columns(table, read_rows(table.path, content))
    person = found.header.cells.index(table.person_column.name)
    of_person: dict[str, list[Row]] = {}
    for row in found.rows:
        called = row.cells[person].strip()
        of_person.setdefault(written.get(called, called), []).append(row)
    return _Rows(table.path, found.header, {name: tuple(rows) for name, rows in of_person.items()})


def _declared_columns(table: Table, found: Delimited) -> Delimited:
    """As it was delivered, where the declared columns are all there is, in order; else cell by cell."""
    names = tuple(column.name for column in table.columns)
    if found.header.cells == names:
        return found
    kept = [found.header.cells.index(name) for name in names]
    header, *rows = (_with_columns(table, row, kept) for row in (found.header, *found.rows))
    return Delimited(header, tuple(rows))


def _with_columns(table: Table, row: Row, kept: Sequence[int]) -> Row:
    record = row.raw.decode().rstrip("\r\n")
    written, _ = cells_of(record, is_csv=table.path.endswith(".csv"))
    line = delimiter_of(table.path).join(written[index] for index in kept)
    return Row(row.number, line.encode() + row.end, tuple(row.cells[index] for index in kept))


def by_size(shared: Iterable[Part]) -> tuple[dict[str, bytes], tuple[Part, ...]]:
    """Small files as bytes, for each part costs a sandbox a mount; together no more than a sandbox copies."""
    small: dict[str, bytes] = {}
    large, left = [], SMALL_FILES
    for part in shared:
        if part.size > min(SMALL_FILE, left):
            large.append(part)
            continue
        left -= part.size
        for path, opener in part.paths():
            with opener() as file:
                small[path] = file.read()
    return small, tuple(large)


def _contents(files: Mapping[str, bytes], parts: Iterable[Part]) -> list[tuple[str, str]]:
    """Each place, and a digest of what lies there."""
    read = [(path, hashlib.sha256(content).hexdigest()) for path, content in files.items()]
    return sorted([*read, *((part.place, part.key) for part in parts)])


def _digest(entries: Iterable[tuple[str, str]]) -> bytes:
    """NUL is in no path, no key and no name of a person."""
    digest = hashlib.sha256()
    for place, content in entries:
        digest.update(f"{place}\0{content}\0".encode())
    return digest.digest()
