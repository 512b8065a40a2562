"""The schema-only twin: the same files, columns and types as the data set, filled with random draws.

Made from the declaration alone, by a function that has no way to the data: it costs no budget and shows
nothing about people beyond what the rights holder declared. The draws need no secrecy, so they come from a
seeded generator and the same declaration gives the same twin everywhere, whatever its policy is.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from domain.dataset import PERSON, Column, Declaration, PersonFile, Table
from domain.model import digest
from domain.parquet_file import Kind, ParquetColumn, write_parquet
from domain.twin_volume import make_volume

LABEL = (
    "BLANK FORM: made without opening the data. Every value was drawn at random inside the declared bounds "
    "and categories; columns do not belong together. Privacy budget spent: 0."
)
README = "TWIN-README.md"
# making a twin takes about twenty times its size in memory, and one core for a minute at most
MAX_BYTES = 48 * 1024 * 1024
_CELL_BYTES, _FILE_BYTES = 10, 200


def make_twin(declaration: Declaration, *, seed: int = 0) -> dict[str, bytes]:
    """The files of the twin by path. Declarations that are equal but for their policies, and equal seeds,
    give equal bytes."""
    # the policy changes while a version stays: pipelines that were tried before must find the same twin after
    described = digest(declaration.model_dump(mode="json", exclude={"policy"}))
    draw = random.Random(f"{seed}:{described}")  # noqa: S311 - not a secret
    people = _people(declaration)
    files = {file.path: file.content for file in declaration.public_files}
    files |= {table.path: _table(table, people, draw) for table in declaration.tables}
    files |= dict(_person_files(declaration, people, draw))
    files[README] = _readme(declaration)  # last, so that no declared file hides what this is
    return files


def size_of_twin(declaration: Declaration) -> int:
    """About how many bytes the twin has, before it is made."""
    cells = sum(len(table.columns) * table.twin_rows for table in declaration.tables)
    files = sum(_FILE_BYTES + file.twin_bytes for file in declaration.person_files)
    return declaration.nominal_size * (_CELL_BYTES * cells + files)


def _people(declaration: Declaration) -> list[str]:
    prefix = "sub-twin" if declaration.layout == "bids" else "twin-"
    width = len(str(declaration.nominal_size))
    return [f"{prefix}{number:0{width}d}" for number in range(1, declaration.nominal_size + 1)]


def _readme(declaration: Declaration) -> bytes:
    return f"# Twin of {declaration.title}\n\n{LABEL}\n".encode()


def _table(table: Table, people: list[str], draw: random.Random) -> bytes:
    rows = []
    for person in people:
        for _ in range(1 if table.rows_per_person == "one" else draw.randint(1, 2 * table.twin_rows - 1)):
            rows.append([_cell(column, person, draw) for column in table.columns])
    if table.is_parquet:
        return write_parquet(
            [
                _typed(column, cells)
                for column, cells in zip(table.columns, zip(*rows, strict=True), strict=True)
            ]
        )
    return table.join([[column.name for column in table.columns], *rows]).encode()


def _typed(column: Column, cells: tuple[str, ...]) -> ParquetColumn:
    if column.kind in ("person", "categorical"):
        known = column.categories if column.kind == "categorical" else cells
        return ParquetColumn(column.name, "text", [cell if cell in known else None for cell in cells])
    widest = max(abs(column.lower or 0), abs(column.upper or 0))
    kind: Kind = "integer" if column.kind == "integer" and widest < 2**63 else "number"
    read = int if kind == "integer" else float
    return ParquetColumn(
        column.name, kind, [None if cell == column.missing else read(cell) for cell in cells]
    )


def _cell(column: Column, person: str, draw: random.Random) -> str:
    if column.kind == "person":
        return person
    if draw.random() < column.missing_rate:
        return column.missing
    if column.kind == "categorical":
        return draw.choice(column.categories)
    assert column.lower is not None
    assert column.upper is not None
    value = _number(column, draw, lower=column.lower, upper=column.upper)
    if column.kind == "integer":
        return str(min(max(round(value), math.ceil(column.lower)), math.floor(column.upper)))
    text = f"{value:.{column.decimals}f}"
    # bounds may be finer than the decimals; the twin keeps to the bounds
    return text if column.lower <= float(text) <= column.upper else repr(value)


def _number(column: Column, draw: random.Random, *, lower: float, upper: float) -> float:
    if column.typical is None:
        share = draw.random()
        value = lower * (1 - share) + upper * share  # their difference may be beyond the largest float
    else:
        value = draw.gauss(column.typical.mean, column.typical.sd)
    return min(max(value, lower), upper)


def _person_files(
    declaration: Declaration, people: list[str], draw: random.Random
) -> Iterator[tuple[str, bytes]]:
    for person in people:
        for file in declaration.person_files:
            yield file.path.replace(PERSON, person), _content(file, person, draw)


def _content(file: PersonFile, person: str, draw: random.Random) -> bytes:
    volume = file.twin_volume
    if volume is None:
        return file.twin_text.replace(PERSON, person).encode()
    return make_volume(
        volume.shape,
        kind=volume.kind,
        lower=volume.lower,
        upper=volume.upper,
        zooms=volume.zooms,
        draw=draw,
        compressed=file.path.endswith(".gz"),
    )
