"""Whether a twin has the shape of its original: names, types, forms of cells, files, grids of volumes.

A pipeline that runs on the one must run on the other. Bytes in, findings out; a finding names places and
numbers of cells, never a value. Findings about the original are for its rights holder.
"""

from __future__ import annotations

import io
import json
import re
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from domain import nifti
from domain.dataset import PERSON, Declaration, PersonFile, Table
from domain.dataset.files import VOLUMES
from domain.errors import PipelineError
from domain.twin.column_conformance import compare_column
from domain.twin.levels import README
from domain.twin.table_facts import TableFacts

Files = Mapping[str, bytes]


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
        found += _compare_table(table, original.get(table.path), twin.get(table.path), known)
    for public in declaration.public_files:
        found += _compare_public(public.path, original, twin)
    people = len({who for file in declaration.person_files for who in _by_person(file, original)})
    for file in declaration.person_files:
        found += _compare_person_file(file, original, twin, people)
    found += _left_out(declaration, original)
    found += _check_folders(declaration, twin)
    return sorted(found, key=lambda difference: difference.on_purpose)


def _compare_table(
    table: Table, original: bytes | None, twin: bytes | None, known: TableFacts | None
) -> Iterator[Difference]:
    if twin is None:
        yield Difference(table.path, "the twin lacks this table.")
        return
    if original is None and known is None:
        yield Difference(table.path, "the original lacks this table: the import will refuse it.")
        return
    if table.is_parquet and known is None:
        yield Difference(table.path, "Parquet is compared only where facts of it are given.", on_purpose=True)
        return
    try:
        theirs = known or TableFacts.read(table, io.BytesIO(original or b""))
        ours = theirs if table.is_parquet else TableFacts.read(table, io.BytesIO(twin))
    except ValueError as error:
        yield Difference(table.path, f"{error}.")
        return
    yield from _compare_header(table, theirs, ours)
    for name, column_facts in theirs.columns.items():
        if name in ours.columns and not table.is_parquet:
            for sentence, on_purpose in compare_column(column_facts, ours.columns[name]):
                yield Difference(f"{table.path}, column {name}", sentence, on_purpose)


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


def _compare_public(path: str, original: Files, twin: Files) -> Iterator[Difference]:
    if path not in twin:
        yield Difference(path, "the twin lacks this file.")
    elif path not in original:
        yield Difference(path, "the original lacks this file: the import will refuse it.")
    elif original[path] != twin[path]:
        yield Difference(path, "the twin has the declared content, the original another.", on_purpose=True)


def _by_person(file: PersonFile, files: Files) -> dict[str, str]:
    """The path of this file for each person who has it."""
    first, *rest = (re.escape(part) for part in file.path.split(PERSON))
    pattern = re.compile(first + r"(?P<who>[^/]+)" + "".join(f"(?P=who){part}" if n else part
                                                              for n, part in enumerate(rest)))  # fmt: skip
    return {match["who"]: path for path in files if (match := pattern.fullmatch(path))}


def _compare_person_file(file: PersonFile, original: Files, twin: Files, people: int) -> Iterator[Difference]:
    theirs, ours = _by_person(file, original), _by_person(file, twin)
    if not ours:
        yield Difference(file.path, "the twin has this file for nobody.")
    if not theirs:
        yield Difference(file.path, "the original has this file for nobody.")
    elif len(theirs) < people:
        sentence = (
            f"{people - len(theirs)} of {people} people of the original lack it, and nobody in the twin."
        )
        yield Difference(file.path, sentence, on_purpose=True)
    if not ours:
        return
    made = twin[min(ours.values())]  # everybody's is made alike
    found = Counter(
        sentence
        for path in theirs.values()
        for sentence in _compare_contents(file.path, original[path], made)
    )
    for sentence, times in found.items():
        yield Difference(file.path, f"{sentence} ({times} of {len(theirs)} people)")


def _left_out(declaration: Declaration, original: Files) -> Iterator[Difference]:
    declared = {table.path for table in declaration.tables} | {file.path for file in declaration.public_files}
    for file in declaration.person_files:
        declared |= set(_by_person(file, original).values())
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
    facts = TableFacts.read(table, io.BytesIO(twin[path]))
    people = facts.columns[table.person_column.name].people
    for file in declaration.person_files:
        held = len(_by_person(file, twin))
        if held != people and not file.missing_rate:
            yield Difference(
                file.path, f"{held} people of the twin have this file, and its table has {people}."
            )


def _compare_contents(path: str, original: bytes, twin: bytes) -> Iterator[str]:
    """Of two files of one declared person file: the grid and type of a volume, the names of a JSON object."""
    try:
        if path.endswith(VOLUMES):
            theirs, ours = _grid(path, original), _grid(path, twin)
            for what, one, other in zip(("shape", "dtype", "zooms"), theirs, ours, strict=True):
                if one != other:
                    yield f"{what} is {one} in the original and {other} in the twin."
        elif path.endswith(".json"):
            names, made = _names(original), _names(twin)
            if lacking := names - made:
                yield f"the twin lacks {len(lacking)} names of the object."
            if more := made - names:
                yield f"the twin has {len(more)} names that the original lacks: {_some(more)}."
    except (PipelineError, ValueError) as error:
        yield f"it cannot be compared: {error}."


def _grid(path: str, content: bytes) -> tuple[tuple[int, ...], str, tuple[float, ...]]:
    header, _ = nifti.read(path, content)
    start, form = header.layout.pixdim
    zooms = struct.unpack_from(header.order + form, header.raw, start)[1:4]
    return header.dims, header.kind, tuple(round(float(zoom), 3) for zoom in zooms)


def _names(content: bytes) -> set[str]:
    try:
        found = json.loads(content)
    except ValueError:  # its message would quote the text
        raise ValueError("it is no JSON") from None
    return set(found) if isinstance(found, dict) else set()


def _some(names: list[str] | set[str]) -> str:
    shown = sorted(names)[:3]
    return ", ".join(shown) + (", ..." if len(names) > len(shown) else "")
