"""Small tables of all people, such as events, in an original and in its twin: columns, kinds, levels, bounds.

Row by row, over everybody. Findings hold names that are declared, and numbers of cells.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from domain.dataset.twin_content import ONSET, TwinTable
from formats.delimited import NotText, stream_rows
from twins.drawn.column_conformance import compare_column
from twins.drawn.recording_heads import Open
from twins.drawn.table_facts import ColumnFacts, TableFacts

Finding = tuple[str, str, bool]
"""Where in the file, the sentence, and whether it is on purpose."""

_MOST_UNPACKED = 256 * 2**20


@dataclass
class _Seen:
    """Of all people's tables: facts of the declared columns, and how many people's have something."""

    columns: Mapping[str, ColumnFacts]
    people: Counter[str] = field(default_factory=Counter)
    rows: list[int] = field(default_factory=list)
    line_ends: set[str] = field(default_factory=set)


def compare_tables(
    table: TwinTable, theirs: Sequence[str], ours: Sequence[str], original: Open, twin: Open
) -> Iterator[Finding]:
    """`theirs` and `ours` are the places of each person's file."""
    found, made = _read(table, theirs, original), _read(table, ours, twin)
    for sentence, times in found.people.items():
        yield "", f"{sentence} ({times} of {len(theirs)} people)", sentence in (_MORE, _FALLING)
    for sentence in made.people:
        yield "", f"in the twin {sentence}", False
    if len(found.line_ends) == 1 and found.line_ends != made.line_ends:
        yield "", f"lines of the original end with {min(found.line_ends)}, those of the twin do not.", True
    for name, facts in found.columns.items():
        if facts.cells and made.columns[name].cells:
            for sentence, on_purpose in compare_column(facts, made.columns[name]):
                yield name, sentence, on_purpose
    if more := sum(rows > max(made.rows, default=0) for rows in found.rows):
        yield "", f"{more} of {len(theirs)} people have more rows than anybody in the twin.", True


_MORE = "it has columns that are not declared: the twin lacks them."
_FALLING = "onsets do not rise, and those of the twin do."


def _read(table: TwinTable, places: Sequence[str], opened: Open) -> _Seen:
    seen = _Seen({column.name: ColumnFacts(column) for column in table.columns})
    for place in places:
        try:
            _add(table, place, opened, seen)
        except (ValueError, EOFError, OSError, zlib.error) as error:
            seen.people[_why(error, place)] += 1
    return seen


def _why(error: Exception, place: str) -> str:
    """The reader of tables names a line and numbers, and the file, which may be a person's name."""
    said = str(error).replace(place, "a table") if type(error) in (ValueError, NotText) else ""
    return f"{said or 'a table is damaged'}."


def _add(table: TwinTable, place: str, opened: Open, seen: _Seen) -> None:
    names = [column.name for column in table.columns]
    with opened(place) as file:
        rows: Iterable[Sequence[str]]
        if place.endswith(".gz"):
            header, rows, end = names, _unpacked(file.read()), "lf"
        else:
            stream = stream_rows(place, file)
            first = next(stream)
            header, end = list(first.cells), "crlf" if first.end == b"\r\n" else "lf"
            rows = (row.cells for row in stream)
        seen.line_ends.add(end)
        if lacking := [name for name in names if name not in header]:
            seen.people[f"{len(lacking)} declared columns are not there: {', '.join(lacking[:3])}."] += 1
        if set(header) - set(names):
            seen.people[_MORE] += 1
        facts = TableFacts(tuple(header), end, {name: seen.columns[name] for name in names if name in header})
        facts.add(_watched(rows, header, seen))
        seen.rows.append(facts.rows)


def _watched(rows: Iterable[Sequence[str]], header: Sequence[str], seen: _Seen) -> Iterator[Sequence[str]]:
    """The rows as they are; whether onsets rise is noticed."""
    at = header.index(ONSET) if ONSET in header and ONSET in seen.columns else None
    last, is_falling = float("-inf"), False
    for row in rows:
        if len(row) != len(header):
            raise ValueError(f"a line has {len(row)} cells and {len(header)} are declared")
        if at is not None and row[at] != seen.columns[ONSET].column.missing:
            try:
                onset = float(row[at])
            except ValueError:
                onset = last  # counted as strange with its column
            is_falling, last = is_falling or onset < last, onset
        yield row
    if is_falling:
        seen.people[_FALLING] += 1


def _unpacked(content: bytes) -> Iterator[Sequence[str]]:
    """Rows of a packed table, which has no line of names."""
    with gzip.open(io.BytesIO(content)) as file:
        text = file.read(_MOST_UNPACKED + 1)
    if len(text) > _MOST_UNPACKED:
        raise ValueError(f"a table unpacks to more than {_MOST_UNPACKED >> 20} MiB")
    for line in text.decode("utf-8", "replace").rstrip("\r\n").split("\n"):
        yield line.rstrip("\r").split("\t")
