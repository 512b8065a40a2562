"""The twin: the same files, columns and types as the data set, from the declaration and noisy counts alone.

By functions that have no way to the data. Without counts it costs no budget and shows nothing about people
beyond what the rights holder declared; with them it shows what the release of the counts showed, and any
number of twins from the same counts is free. The draws need no secrecy, so they come from a seeded generator
and the same declaration gives the same twin everywhere, whatever its policy is.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from domain.dataset import Column, Declaration
from domain.dataset.column import plain
from domain.model import digest
from domain.twin.counts import TableCounts
from domain.twin.lattice import Lattice
from domain.twin.levels import README, readme
from twins.drawn.files import person_files
from twins.drawn.tables import blank_rows, counted_rows, written
from twins.pii import masks

# making a twin takes about twenty times its size in memory, and one core for a minute at most
MAX_BYTES = 48 * 1024 * 1024
_FILE_BYTES = 200
_NO_COUNTS: Mapping[str, TableCounts] = {}


def make_twin(
    declaration: Declaration,
    *,
    counts: Mapping[str, TableCounts] = _NO_COUNTS,
    seed: int = 0,
    people: int | None = None,
) -> dict[str, bytes]:
    """The files of the twin by path, of `people` people, or as many as are declared.

    `counts` are by the paths of tables; tables without are blank forms. Declarations that are equal but for
    their policies and profiles, equal counts, seeds and people give equal bytes. Raises ValueError for counts
    that are not of this declaration.
    """
    # the policy changes while a version stays: pipelines that were tried before must find the same twin after
    # what a profile flagged was found in cells: no draw may follow from it; the platform does not keep it
    described = digest(declaration.model_dump(mode="json", exclude={"policy", "profile"}))
    draw = random.Random(f"{seed}:{described}")  # noqa: S311 - not a secret
    _check_tables(declaration, counts)
    names = _people(declaration, people)
    files = {file.path: file.content for file in declaration.public_files}
    for table in declaration.tables:
        if table.path in counts:
            # of its own, so that other tables do not depend on how many draws this one takes
            own = random.Random(f"{seed}:{described}:{table.path}")  # noqa: S311 - not a secret
            rows = counted_rows(
                table,
                names,
                counts[table.path],
                nominal_size=declaration.nominal_size,
                seed=own.getrandbits(32),
                draw=own,
            )
        else:
            rows = blank_rows(table, names, draw)
        files[table.path] = written(table, rows)
    files |= dict(person_files(declaration, names, draw, seed=f"{seed}:{described}"))
    # last, so that no declared file hides what this is
    files[README] = readme(declaration, counts)
    return files


def size_of_twin(declaration: Declaration, people: int | None = None) -> int:
    """About how many bytes the twin has at most, before it is made."""
    cells = sum(sum(map(longest_cell, table.columns)) * table.twin_rows for table in declaration.tables)
    files = sum(_FILE_BYTES + file.twin_bytes for file in declaration.person_files)
    return (people or declaration.nominal_size) * (cells + files)


def _check_tables(declaration: Declaration, counts: Mapping[str, TableCounts]) -> None:
    if unknown := set(counts) - {table.path for table in declaration.tables}:
        raise ValueError(f"the counts are of {min(unknown)}, which the data set does not declare")


def _people(declaration: Declaration, people: int | None) -> list[str]:
    if people is not None and people < 1:
        raise ValueError("a twin has 1 person or more")
    prefix = "sub-twin" if declaration.layout == "bids" else "twin-"
    wanted = declaration.nominal_size if people is None else people
    width = len(str(wanted))
    return [f"{prefix}{number:0{width}d}" for number in range(1, wanted + 1)]


# How long the texts of a column may be in a twin, told from its declaration: before any of them is made.

CELL_BYTES = 10
"""Of a cell that is no text, at least: with what stands between two of them."""
_TEXT_BYTES = {"code": 10, "line": 45, "paragraph": 320}
_PSEUDONYM_BYTES = 21
_FLOAT_BYTES = 24
_FEW_POINTS = 20


def longest_cell(column: Column) -> int:
    """About how many bytes its longest cell takes in the file."""
    least = _TEXT_BYTES[column.text_length] if column.kind == "text" else CELL_BYTES
    return max(least, *(1 + length for length in _lengths(column)))


def _lengths(column: Column) -> Iterator[int]:
    yield _written(column.missing)
    decision = column.pii.decision if column.pii else "keep"
    if decision == "pseudonymise":
        yield _PSEUDONYM_BYTES
    if column.pii and decision == "mask":
        yield from (_written(masks(column.pii.kind, number)) for number in (255, 999_999))
    if column.kind == "categorical":
        yield from map(_written, (*column.categories, *column.coarsen.values()))
    if column.kind in ("integer", "number"):
        yield from _of_numbers(column)


def _of_numbers(column: Column) -> Iterator[int]:
    lattice = Lattice.of(column)
    yield from (len(lattice.text(point)) for point in (lattice.first, lattice.last))
    yield from (len(plain(value)) for value in column.special_values)
    # rounded to so few points, many numbers would leave the bounds: those stand there in full
    if column.kind == "number" and (lattice.decimals > column.decimals or lattice.points < _FEW_POINTS):
        yield _FLOAT_BYTES


def _written(text: str) -> int:
    """With the quotation marks that a file with commas needs."""
    quotes = text.count('"')
    return len(text.encode()) + quotes + (2 if quotes or "," in text else 0)
