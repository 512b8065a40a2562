"""One table of the original, by column, with other names for its people; and its way back to bytes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

from domain.delimited import Delimited, read_rows
from domain.delimited_text import table_text
from domain.people_in_paths import MISSING, id_columns
from dpgate.errors import DpgateError
from dpgate.scramble.methods import Columned, Columns, Wishes, scrambled
from dpgate.scramble.pseudonyms import Pseudonyms

SUFFIXES = (".tsv", ".csv")
MOST_BYTES = 512 * 1024 * 1024
TRIES = 20


@dataclass(frozen=True)
class Scrambled:
    """The original with other names, and what became of it: both hold real values."""

    original: Columned
    columns: Columns
    content: bytes


def scramble_table(
    path: str, file: Path, wishes: Wishes, names: Pseudonyms, *, ids: Sequence[str], drop: Sequence[str]
) -> Scrambled:
    """Raises DpgateError for a file that is no table, a column of one name twice, and a mere copy."""
    if file.stat().st_size > MOST_BYTES:
        raise DpgateError(f"{path} has more than {MOST_BYTES // 2**20} MB; divide it, or --exclude it")
    try:
        read = read_rows(path, file.read_bytes())
        found = set(id_columns(read.header, read.rows))
        own = found | {place for place, name in enumerate(read.header.cells) if name in ids}
        original = _renamed(read_columns(path, read, own), drop, names)
        columns = _mixed(original, wishes)
        end = "\r\n" if read.header.end == b"\r\n" else "\n"
        content = table_text(path, original.names, zip(*columns, strict=True), end=end).encode()
    except ValueError as error:
        raise DpgateError(str(error)) from None
    if is_copy(original, columns):
        raise DpgateError(
            f"{path} would come out as a copy of its rows with other names, which is never handed out; take "
            "another method, or --exclude the file"
        )
    return Scrambled(original, columns, content)


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


def _renamed(table: Columned, drop: Sequence[str], names: Pseudonyms) -> Columned:
    """Without the columns to leave out, and with other names for people wherever they are named."""
    kept = [place for place, name in enumerate(table.names) if name not in drop]
    if not kept:
        raise DpgateError(f"{table.path} has no column left; --exclude the file")
    columns = [
        [(names.of_id if place in table.ids else names.in_text)(cell) for cell in table.columns[place]]
        for place in kept
    ]
    return replace(
        table,
        names=tuple(names.in_text(table.names[place]) for place in kept),
        columns=columns,
        ids=frozenset(new for new, place in enumerate(kept) if place in table.ids),
    )
