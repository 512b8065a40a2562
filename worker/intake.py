"""What a rights holder delivered, checked before it becomes a snapshot.

Runs twice: on the rights holder's machine (`dpgate dataset check`), where every detail may be shown, and in
the worker zone, from where only a problem of the fixed list goes out.
"""

from __future__ import annotations

import io
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from domain.dataset import Declaration, ImportProblem, Table

MOST_PARTS = 32
LONGEST_PATH = 1000

Open = Callable[[], BinaryIO]


def _opener(path: Path) -> Open:
    return lambda: path.open("rb")


# what a folder, a path in a sandbox and a BIDS label can all carry
PERSON_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+-]{0,127}")


class ImportRefused(Exception):
    """The delivery cannot be taken. `detail` may name rows and people: it stays in the data's own zone."""

    def __init__(self, problem: ImportProblem, *, place: str, detail: str = "") -> None:
        self.problem = problem
        self.place = place
        self.detail = detail
        super().__init__(f"{place}: {problem}" + (f" ({detail})" if detail else ""))


@dataclass(frozen=True)
class Delivery:
    """A checked delivery: which bytes are which table, and which file is whose."""

    tables: Mapping[str, Open]
    people: Mapping[str, Mapping[str, Open]]


@dataclass(frozen=True)
class _Rows:
    """One table as delivered, with all its columns."""

    table: Table
    header: list[str]
    cells: list[list[str]]

    def people(self) -> Iterator[tuple[int, str]]:
        """Line number and person of each row."""
        position = self.header.index(self.table.person_column.name)
        return ((number, row[position].strip()) for number, row in enumerate(self.cells, start=2))

    def open_declared(self) -> BinaryIO:
        """The declared columns alone: what nobody declared does not enter the snapshot."""
        kept = [self.header.index(column.name) for column in self.table.columns]
        rows = ([row[index] for index in kept] for row in (self.header, *self.cells))
        return io.BytesIO(self.table.join(rows).encode())


def check_delivery(folder: Path, declaration: Declaration, *, max_file_bytes: int) -> Delivery:
    """Raises ImportRefused with the first problem found."""
    if not folder.is_dir():
        raise ImportRefused(ImportProblem.NOT_DELIVERED, place=folder.name)
    files = dict(_plain_files(folder, max_file_bytes=max_file_bytes))
    tables = {table.path: _read(files, table) for table in declaration.tables}
    people = _people(tables[declaration.privacy_unit.table])
    for rows in tables.values():
        _check_people(rows, set(people))
    return Delivery(
        tables={path: rows.open_declared for path, rows in tables.items()},
        people=_person_files(files, declaration, people),
    )


def _plain_files(folder: Path, *, max_file_bytes: int) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        place = path.relative_to(folder).as_posix()
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode):
            continue
        if not _can_be_staged(place):
            raise ImportRefused(ImportProblem.FILE_NAME, place=ascii(place))
        if not stat.S_ISREG(status.st_mode):
            raise ImportRefused(ImportProblem.NOT_A_FILE, place=place)
        if status.st_size > max_file_bytes:
            raise ImportRefused(ImportProblem.TOO_LARGE, place=place, detail=f"limit {max_file_bytes} bytes")
        yield place, path


def _can_be_staged(place: str) -> bool:
    """Found out now: in a run it would look like a failure of the platform."""
    try:
        length = len(place.encode())
    except UnicodeEncodeError:
        return False
    has_control = any(ord(character) < 32 or ord(character) == 127 for character in place)
    return not has_control and length <= LONGEST_PATH and place.count("/") < MOST_PARTS


def _people(rows: _Rows) -> list[str]:
    names = dict.fromkeys(person for _, person in rows.people())
    for name in names:
        if not PERSON_NAME.fullmatch(name):
            raise ImportRefused(ImportProblem.PERSON_NAME, place=rows.table.path, detail=repr(name))
    return list(names)


def _read(files: Mapping[str, Path], table: Table) -> _Rows:
    if table.path not in files:
        raise ImportRefused(ImportProblem.FILE_MISSING, place=table.path)
    header, *cells = _split(table, files[table.path].read_bytes())
    _check_header(table, header)
    for number, row in enumerate(cells, start=2):
        if len(row) != len(header):
            detail = f"line {number} has {len(row)} cells, the header {len(header)}"
            raise ImportRefused(ImportProblem.NOT_A_TABLE, place=table.path, detail=detail)
    rows = _Rows(table, header, cells)
    for number, person in rows.people():
        if not person:
            raise ImportRefused(ImportProblem.PERSON_EMPTY, place=table.path, detail=f"line {number}")
    return rows


def _split(table: Table, content: bytes) -> list[list[str]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        detail = f"byte {error.start}"
        raise ImportRefused(ImportProblem.NOT_UTF8, place=table.path, detail=detail) from None
    try:
        rows = list(table.split(text))
    except ValueError as error:
        raise ImportRefused(ImportProblem.NOT_A_TABLE, place=table.path, detail=str(error)) from None
    if not text.strip():
        raise ImportRefused(ImportProblem.NOT_A_TABLE, place=table.path, detail="it is empty")
    return rows


def _check_header(table: Table, header: list[str]) -> None:
    if len(set(header)) != len(header):
        repeated = next(name for name in header if header.count(name) > 1)
        raise ImportRefused(ImportProblem.COLUMN_REPEATED, place=table.path, detail=repr(repeated))
    if table.person_column.name not in header:
        detail = repr(table.person_column.name)
        raise ImportRefused(ImportProblem.UNIT_COLUMN_MISSING, place=table.path, detail=detail)
    for column in table.columns:
        if column.name not in header:
            raise ImportRefused(ImportProblem.COLUMN_MISSING, place=table.path, detail=repr(column.name))


def _check_people(rows: _Rows, known: set[str]) -> None:
    place, seen = rows.table.path, set()
    for number, person in rows.people():
        detail = f"line {number}: {person}"
        if person not in known:
            raise ImportRefused(ImportProblem.PEOPLE_MISSING, place=place, detail=detail)
        if person in seen and rows.table.rows_per_person == "one":
            raise ImportRefused(ImportProblem.PERSON_REPEATED, place=place, detail=detail)
        seen.add(person)


def _person_files(
    files: Mapping[str, Path], declaration: Declaration, people: list[str]
) -> dict[str, dict[str, Open]]:
    found: dict[str, dict[str, Open]] = {person: {} for person in people}
    declared = {table.path for table in declaration.tables} | {file.path for file in declaration.public_files}
    for place, path in files.items():
        owner = place.split("/")[0]
        if place in declared:
            continue
        if declaration.layout == "bids" and owner in found:
            found[owner][place] = _opener(path)
        elif declaration.layout == "bids" and owner.startswith("sub-"):
            raise ImportRefused(ImportProblem.PEOPLE_MISSING, place=place, detail=owner)
        else:
            # a file that nobody declared may name people: it is not guessed to be public
            raise ImportRefused(ImportProblem.FILE_UNDECLARED, place=place)
    if declaration.layout == "bids" and declaration.person_files:
        for person, own in found.items():
            if not own:
                raise ImportRefused(
                    ImportProblem.FOLDER_MISSING, place=declaration.privacy_unit.table, detail=person
                )
    return found
