"""One table of the original, by column, with other names for its people; and its way back to bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from companions.scramble.identifiers import Identifier, Identifiers, find_identifiers, real_values
from companions.scramble.methods import Columned, Columns, Wishes, scrambled
from companions.scramble.pseudonyms import Pseudonyms
from companions.scramble.strays import check_words, find_strays, numbers_in, words_of_names
from domain.header_line import check_marks
from domain.identifier_kind import Kind
from domain.people_in_paths import MISSING, id_columns
from dpgate.errors import DpgateError
from formats.delimited import Delimited, read_rows
from formats.delimited_text import table_text

SUFFIXES = (".tsv", ".csv")
MOST_BYTES = 512 * 1024 * 1024
TRIES = 20


@dataclass(frozen=True)
class Scrambled:
    """The original with other names, and what became of it: both hold real values."""

    original: Columned
    columns: Columns
    content: bytes
    identifiers: tuple[Identifier, ...]


@dataclass(frozen=True)
class Named:
    """What is said of columns by name: that they name people, are left out, or stay though they identify."""

    ids: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()


@dataclass(frozen=True)
class Looked:
    """What was found in a table before any was scrambled: columns that identify people, the numbers of people
    and records that are renamed in it, and the words of people's names that stood in it."""

    identifiers: Identifiers
    numbers: frozenset[str]
    names: frozenset[str]


def look_at(path: str, file: Path, named: Named) -> Looked:
    """Raises DpgateError for a file that is no table, a column of one name twice, and a column that names
    people and is to be kept."""
    real, _ = _read(path, file, named)
    ids = {real.names[place] for place in real.ids}
    if wrong := sorted(ids & set(named.keep)):
        raise DpgateError(f"--keep {wrong[0]}: it says whose a row of {real.path} is, and is always renamed")
    found = find_identifiers(real.names, real.columns, but=ids | set(named.drop), keep=named.keep)
    renamed = ids | found.names("renamed")
    people = {each.name for each in found.found if each.kind == Kind.PERSON}
    columns = dict(zip(real.names, real.columns, strict=True))
    return Looked(
        found,
        numbers_in([columns[name] for name in sorted(renamed)]),
        words_of_names([columns[name] for name in sorted(people)]),
    )


def scramble_table(
    path: str,
    file: Path,
    wishes: Wishes,
    names: Pseudonyms,
    named: Named,
    *,
    looked: Looked,
    known: Set[str] = frozenset(),
) -> Scrambled:
    """`known` are the numbers of all tables. Raises DpgateError for a mere copy, a header that names
    somebody, and a row that is somebody's with what identifies them."""
    real, end = _read(path, file, named)
    identifiers = _with_strays(real, named, looked.identifiers, known)
    try:
        original = _renamed(real, named.drop, identifiers, names)
        columns = _mixed(original, wishes)
        content = table_text(path, original.names, zip(*columns, strict=True), end=end).encode()
    except ValueError as error:
        raise DpgateError(str(error)) from None
    for name in original.names:
        check_words(name, known, what=f"a column of {path}", advice="--drop or rename it")
    if is_copy(original, columns):
        raise DpgateError(
            f"{path} would come out as a copy of its rows with other names, which is never handed out; take "
            "another method, or --exclude the file"
        )
    check_rows(path, original, columns, identifiers.names("kept"))
    return Scrambled(original, columns, content, counted(identifiers, real, columns))


def _with_strays(real: Columned, named: Named, found: Identifiers, known: Set[str]) -> Identifiers:
    but = {each.name for each in found.found} | {real.names[place] for place in real.ids} | set(named.drop)
    strays = find_strays(real.names, real.columns, known, but=but, keep=named.keep)
    return Identifiers((*found.found, *strays))


def _read(path: str, file: Path, named: Named) -> tuple[Columned, Literal["\n", "\r\n"]]:
    """The table by column, and how its lines end."""
    if file.stat().st_size > MOST_BYTES:
        raise DpgateError(f"{path} has more than {MOST_BYTES // 2**20} MB; divide it, or --exclude it")
    content = file.read_bytes()
    try:
        check_marks(path, content)
        read = read_rows(path, content)
    except ValueError as error:
        raise DpgateError(str(error)) from None
    found = set(id_columns(read.header, read.rows))
    own = found | {place for place, name in enumerate(read.header.cells) if name in named.ids}
    return read_columns(path, read, own), "\r\n" if read.header.end == b"\r\n" else "\n"


def counted(identifiers: Identifiers, real: Columned, columns: Columns) -> tuple[Identifier, ...]:
    """With how many real values of each stand anywhere in the scrambled table."""
    shown = {cell for column in columns for cell in column}
    values = {name: real_values(column) for name, column in zip(real.names, real.columns, strict=True)}
    return tuple(replace(each, reappear=len(values[each.name] & shown)) for each in identifiers.found)


def check_rows(path: str, original: Columned, columns: Columns, kept: Set[str]) -> None:
    """Raises DpgateError where a row came out as it was, with what identifies the person in it."""
    if not (identifying := [place for place, name in enumerate(original.names) if name in kept]):
        return
    rest = [place for place in range(len(columns)) if place not in original.ids]
    before = set(zip(*(original.columns[place] for place in rest), strict=True))
    after = zip(*(columns[place] for place in rest), strict=True)
    named = zip(*(columns[place] for place in identifying), strict=True)
    same = sum(
        row in before and any(cell not in MISSING for cell in cells)
        for row, cells in zip(after, named, strict=True)
    )
    if same:
        raise DpgateError(
            f"{same} rows of {path} would come out as they are, with {', '.join(sorted(kept))}, which "
            "identifies people, or may: take --keep away, or another method"
        )


def read_columns(path: str, read: Delimited, ids: Set[int]) -> Columned:
    """By column, as it stands. Raises DpgateError for two columns of one name."""
    header = read.header.cells
    if len(set(header)) < len(header):
        raise DpgateError(f"{path} has two columns of one name; rename one of them")
    columns = [[row.cells[place] for row in read.rows] for place in range(len(header))]
    return Columned(path, header, columns, len(read.rows), frozenset(ids))


def is_copy(original: Columned, columns: Columns) -> bool:
    """Whether the same rows stand there again: with their ids, or, of two columns that vary, without them.

    Of columns that do not vary nothing can be mixed; a table without any that varies tells nobody apart.
    """
    rest = [place for place in range(len(columns)) if place not in original.ids]
    if original.rows == 1:
        return any(original.columns[place][0] not in MISSING for place in rest) and _same(
            original, columns, rest
        )
    varied = [place for place in rest if len(set(original.columns[place])) > 1]
    if not varied or (len(varied) < 2 and not original.ids):
        return False
    return _same(original, columns, rest if len(varied) > 1 else range(len(columns)))


def _mixed(original: Columned, wishes: Wishes) -> Columns:
    """Drawn again where a small table came out as it was, by chance."""
    for _ in range(TRIES):
        columns = scrambled(original, wishes)
        if not is_copy(original, columns):
            break
    return columns


def _same(original: Columned, columns: Columns, places: Sequence[int]) -> bool:
    return _rows(original.columns, places) == _rows(columns, places)


def _rows(columns: Columns, places: Sequence[int]) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(columns[place] for place in places), strict=True))


def _renamed(table: Columned, drop: Sequence[str], identifiers: Identifiers, names: Pseudonyms) -> Columned:
    """Without the columns to leave out, and with other names for people and records wherever they stand."""
    gone, records = {*drop, *identifiers.names("left out")}, identifiers.names("renamed")
    kept = [place for place, name in enumerate(table.names) if name not in gone]
    if not kept:
        raise DpgateError(f"{table.path} has no column left; --exclude the file, or --keep a column")
    numbered = frozenset(place for place in kept if table.names[place] in records)
    # without a column that says whose a row is, the record's number is all that tells people apart
    other = names.of_record if table.ids else names.of_id
    rename = {**dict.fromkeys(table.ids, names.of_id), **dict.fromkeys(numbered, other)}
    columns = [[rename.get(place, names.in_text)(cell) for cell in table.columns[place]] for place in kept]
    return replace(
        table,
        names=tuple(names.in_text(table.names[place]) for place in kept),
        columns=columns,
        ids=frozenset(new for new, place in enumerate(kept) if place in table.ids | numbered),
        who=frozenset(new for new, place in enumerate(kept) if place in table.ids),
    )
