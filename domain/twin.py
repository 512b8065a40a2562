"""The schema-only twin: the same files, columns and types as the data set, filled with random draws.

Made from the declaration alone, by a function that has no way to the data: it costs no budget and shows
nothing about people beyond what the rights holder declared. The draws need no secrecy, so they come from a
seeded generator and the same declaration gives the same twin everywhere.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

from domain.dataset import PERSON, Column, Declaration, Table
from domain.model import digest

LABEL = (
    "BLANK FORM: made without opening the data. Every value was drawn at random inside the declared bounds "
    "and categories; columns do not belong together. Privacy budget spent: 0."
)
README = "TWIN-README.md"


def make_twin(declaration: Declaration, *, seed: int = 0) -> dict[str, bytes]:
    """The files of the twin by path. Equal declarations and seeds give equal bytes."""
    draw = random.Random(f"{seed}:{digest(declaration.model_dump(mode='json'))}")  # noqa: S311 - not a secret
    people = _people(declaration)
    files = {file.path: file.text.encode() for file in declaration.public_files}
    files |= {table.path: _table(table, people, draw) for table in declaration.tables}
    files |= dict(_person_files(declaration, people))
    files[README] = _readme(declaration)  # last, so that no declared file hides what this is
    return files


def _people(declaration: Declaration) -> list[str]:
    prefix = "sub-twin" if declaration.layout == "bids" else "twin-"
    width = len(str(declaration.nominal_size))
    return [f"{prefix}{number:0{width}d}" for number in range(1, declaration.nominal_size + 1)]


def _readme(declaration: Declaration) -> bytes:
    return f"# Twin of {declaration.title}\n\n{LABEL}\n".encode()


def _table(table: Table, people: list[str], draw: random.Random) -> bytes:
    rows = [[column.name for column in table.columns]]
    for person in people:
        for _ in range(1 if table.rows_per_person == "one" else draw.randint(1, 3)):
            rows.append([_cell(column, person, draw) for column in table.columns])
    return table.join(rows).encode()


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


def _person_files(declaration: Declaration, people: list[str]) -> Iterator[tuple[str, bytes]]:
    for person in people:
        for file in declaration.person_files:
            yield file.path.replace(PERSON, person), file.twin_text.replace(PERSON, person).encode()
