"""From a data set to the input of each block: whole people, nothing else.

Works on anything that has people, tables and files: a sealed snapshot in the worker zone, or a twin's folder
on a researcher's machine, so that both see the same kind of input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.dataset import Declaration, Table
from privacy.partition import assign_blocks

Block = Mapping[str, bytes]


class Source(Protocol):
    """Where people, tables and files come from."""

    @property
    def people(self) -> list[str]: ...
    def table(self, path: str) -> bytes: ...
    def files_of(self, person: str) -> Mapping[str, bytes]: ...


@dataclass(frozen=True)
class _Rows:
    """One table in memory: its declared columns only, rows by person in the table's own order."""

    table: Table
    header: list[str]
    of_person: Mapping[str, list[list[str]]]

    def only(self, people: Iterable[str]) -> bytes:
        rows = [row for person in people for row in self.of_person.get(person, ())]
        return self.table.join([self.header, *rows]).encode()


@dataclass(frozen=True)
class People:
    """A data set, opened: people by name, so that where others stand in a table changes nothing."""

    declaration: Declaration
    source: Source
    names: tuple[str, ...]
    tables: tuple[_Rows, ...]


def open_people(declaration: Declaration, source: Source) -> People:
    """Read the tables once; blocks are cut from memory."""
    tables = tuple(_read(table, source.table(table.path)) for table in declaration.tables)
    return People(declaration, source, tuple(sorted(source.people)), tables)


def whole(people: People) -> Block:
    """Everybody in one input. For twins only: no run ever sees all of an original data set."""
    return _block(people, people.names)


class Blocks(Mapping[int, Block]):
    """The inputs of some blocks, each made when it is asked for: only one need be in memory."""

    def __init__(self, people: People, members: Mapping[int, Sequence[str]]) -> None:
        self._people, self._members = people, members

    def __getitem__(self, block: int) -> Block:
        return _block(self._people, self._members[block])

    def __iter__(self) -> Iterator[int]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


def cut(people: People, *, key: bytes, blocks: int, wanted: Iterable[int]) -> Blocks:
    """The inputs of the wanted blocks of a keyed partition into `blocks` blocks."""
    members: dict[int, list[str]] = {block: [] for block in wanted}
    for name, block in zip(people.names, assign_blocks(people.names, key=key, blocks=blocks), strict=True):
        if block in members:
            members[block].append(name)
    return Blocks(people, members)


def _block(people: People, names: Sequence[str]) -> Block:
    files = {file.path: file.text.encode() for file in people.declaration.public_files}
    files |= {rows.table.path: rows.only(names) for rows in people.tables}
    for name in names:
        files |= people.source.files_of(name)
    return files


def _read(table: Table, content: bytes) -> _Rows:
    rows = table.split(content.decode("utf-8-sig"))
    header = next(rows)
    kept = [header.index(column.name) for column in table.columns]
    person = header.index(table.person_column.name)
    of_person: dict[str, list[list[str]]] = {}
    for row in rows:
        of_person.setdefault(row[person].strip(), []).append([row[index] for index in kept])
    return _Rows(table, [column.name for column in table.columns], of_person)
