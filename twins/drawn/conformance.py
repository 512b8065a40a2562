"""Whether a twin has the shape of its original: names, types, forms of cells, files, grids of volumes.

A pipeline that runs on the one must run on the other. Bytes in, findings out; a finding names places and
numbers of cells, never a value. Findings about the original are for its rights holder.
"""

from __future__ import annotations

import io
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from domain.dataset import PERSON, Declaration, PersonFile, PublicFile, Table
from domain.twin.levels import README
from formats.delimited import stream_rows
from twins.drawn.agreement import disagreements
from twins.drawn.column_conformance import compare_column
from twins.drawn.event_conformance import compare_tables
from twins.drawn.file_conformance import compare_file
from twins.drawn.recording_heads import Open
from twins.drawn.table_facts import TableFacts

Files = Mapping[str, bytes]
_MOST_MADE = 50  # people of the twin whose small tables are read


class OpenFiles(Mapping[str, bytes]):
    """Files that are opened as they are needed, such as those of a folder: of most only a header is read."""

    @abstractmethod
    def open(self, path: str) -> BinaryIO:
        """Raises KeyError or OSError for what is not there."""


def _opener(files: Files) -> Open:
    return files.open if isinstance(files, OpenFiles) else lambda path: io.BytesIO(files[path])


@dataclass(frozen=True)
class Difference:
    """`place` is a file, or `file, column name`. On purpose: it protects people, and stays."""

    place: str
    sentence: str
    on_purpose: bool = False


def check_conformance(
    declaration: Declaration,
    original: Files,
    twin: Files,
    *,
    facts: Mapping[str, TableFacts] | None = None,
) -> list[Difference]:
    """What differs, the findings to mend first. An empty list of those means: same shape.

    `facts` may stand for tables of the original that are too large for memory, or are Parquet.
    """
    found: list[Difference] = []
    for table in declaration.tables:
        known = (facts or {}).get(table.path)
        found += _compare_table(table, original, twin, known)
    for public in declaration.public_files:
        found += _compare_public(public, original, twin)
    people = len({who for file in declaration.person_files for who in _by_person(file.path, original)})
    for file in declaration.person_files:
        found += _compare_person_file(file, original, twin, people)
    found += [Difference(path, sentence) for path, sentence in disagreements(declaration)]
    found += _left_out(declaration, original)
    found += _check_folders(declaration, twin)
    return sorted(found, key=lambda difference: difference.on_purpose)


def _compare_table(
    table: Table, original: Files, twin: Files, known: TableFacts | None
) -> Iterator[Difference]:
    if table.path not in twin:
        yield Difference(table.path, "the twin lacks this table.")
        return
    if table.path not in original and known is None:
        yield Difference(table.path, "the original lacks this table: the import will refuse it.")
        return
    if table.is_parquet and known is None:
        yield Difference(table.path, "Parquet is compared only where facts of it are given.", on_purpose=True)
        return
    try:
        theirs = known or _facts(table, original, is_delivered=True)
        ours = theirs if table.is_parquet else _facts(table, twin)
    except ValueError as error:
        yield Difference(table.path, f"{error}.")
        return
    yield from _compare_header(table, theirs, ours)
    for name, column_facts in theirs.columns.items():
        if name in ours.columns and not table.is_parquet:
            for sentence, on_purpose in compare_column(column_facts, ours.columns[name]):
                yield Difference(f"{table.path}, column {name}", sentence, on_purpose)


def _facts(table: Table, files: Files, *, is_delivered: bool = False) -> TableFacts:
    """Of a table as it was delivered, in its own dialect, or as twins have it."""
    with _opener(files)(table.path) as file:
        rows = table.delivered_rows(file) if is_delivered else stream_rows(table.path, file)
        return TableFacts.read(table, rows)


def _compare_header(table: Table, theirs: TableFacts, ours: TableFacts) -> Iterator[Difference]:
    declared = [column.name for column in table.columns]
    if lacking := [name for name in declared if name not in theirs.header]:
        yield Difference(table.path, f"the original lacks {len(lacking)} declared columns: {_some(lacking)}.")
    if list(ours.header) != declared:
        yield Difference(table.path, "the twin's columns are not the declared ones in their order.")
    if len(set(theirs.header)) < len(theirs.header):
        yield Difference(table.path, "the original has two columns of one name: rename one.")
    if more := len(set(theirs.header) - set(declared)):
        yield Difference(
            table.path,
            f"{more} columns of the original are not declared: neither runs nor the twin have them.",
            on_purpose=True,
        )
    if theirs.line_end != ours.line_end:
        yield Difference(
            table.path,
            f"lines of the original end with {theirs.line_end}: declare line_end: {theirs.line_end}.",
        )
    person = table.person_column.name
    names = theirs.columns.get(person)
    if names and table.rows_per_person == "one" and theirs.rows > names.people:
        yield Difference(
            table.path, "people have several rows in the original: declare rows_per_person: many."
        )


def _compare_public(public: PublicFile, original: Files, twin: Files) -> Iterator[Difference]:
    path = public.path
    if path not in twin:
        yield Difference(path, "the twin lacks this file.")
    elif path not in original and public.as_delivered:
        yield Difference(path, "the original lacks this file: the import will refuse it.")
    elif path not in original:
        yield Difference(path, "the original lacks this file: runs get the declared one, as the twin.", True)
    elif original[path] != twin[path]:
        yield Difference(path, "the twin has the declared content, the original another.", on_purpose=True)


def _by_person(declared: str, files: Files) -> dict[str, str]:
    """The path of this file for each person who has it."""
    first, *rest = (re.escape(part) for part in declared.split(PERSON))
    pattern = re.compile(first + r"(?P<who>[^/]+)" + "".join(f"(?P=who){part}" if n else part
                                                              for n, part in enumerate(rest)))  # fmt: skip
    return {match["who"]: path for path in files if (match := pattern.fullmatch(path))}


def _compare_person_file(file: PersonFile, original: Files, twin: Files, people: int) -> Iterator[Difference]:
    theirs, ours = _by_person(file.path, original), _by_person(file.path, twin)
    if not ours:
        yield Difference(file.path, "the twin has this file for nobody.")
    if not theirs:
        yield Difference(file.path, "the original has this file for nobody.")
    elif len(theirs) < people:
        sentence = (
            f"{people - len(theirs)} of {people} people of the original lack it, and nobody in the twin."
        )
        yield Difference(file.path, sentence, on_purpose=True)
    if not ours or not theirs:
        return
    both = _opener(original), _opener(twin)
    if file.twin_table is not None:
        for where, sentence, on_purpose in compare_tables(
            file.twin_table, list(theirs.values()), list(ours.values())[:_MOST_MADE], *both
        ):
            yield Difference(f"{file.path}, column {where}" if where else file.path, sentence, on_purpose)
        return
    made = min(ours.values())  # everybody's is made alike
    found = Counter(
        finding for path in theirs.values() for finding in compare_file(file.path, path, made, *both)
    )
    for (sentence, when), times in found.items():
        is_purpose = when == "purpose" or (when == "most" and 2 * times <= len(theirs))
        yield Difference(file.path, f"{sentence} ({times} of {len(theirs)} people)", is_purpose)


def _left_out(declaration: Declaration, original: Files) -> Iterator[Difference]:
    declared = {table.path for table in declaration.tables} | {file.path for file in declaration.public_files}
    for file in declaration.person_files:
        for path in file.paths:
            declared |= set(_by_person(path, original).values())
    declared.add(README)  # where the original is a twin itself
    if others := sum(path not in declared for path in original):
        yield Difference(
            "the original", f"{others} of its files are not declared: the twin lacks them.", True
        )


def _check_folders(declaration: Declaration, twin: Files) -> Iterator[Difference]:
    """Of a BIDS twin: everybody of its table of people has each of the declared files."""
    path = declaration.privacy_unit.table
    table = next(table for table in declaration.tables if table.path == path)
    if declaration.layout != "bids" or path not in twin:
        return
    facts = _facts(table, twin)
    people = facts.columns[table.person_column.name].people
    for file in declaration.person_files:
        held = len(_by_person(file.path, twin))
        if held != people and not file.missing_rate:
            yield Difference(
                file.path, f"{held} people of the twin have this file, and its table has {people}."
            )


def _some(names: list[str]) -> str:
    shown = sorted(names)[:3]
    return ", ".join(shown) + (", ..." if len(names) > len(shown) else "")
