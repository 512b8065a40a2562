"""The shape of a delimited text file: cells that read as numbers are numeric, all others are labels."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, StringConstraints, model_validator

from domain.errors import PipelineError
from domain.formats import FORMATS
from domain.model import InsidePath
from domain.pipeline import OutputFile
from domain.shape.constants import HasConstants

MAX_FILE_BYTES = FORMATS["text"].most_bytes
MAX_CELLS = 4096
MAX_LABEL = 1000
NUMBER = re.compile(r"[+-]?(\d{1,20}(\.\d{0,40})?|\.\d{1,40})([eE][+-]?\d{1,3})?", re.ASCII)
_DELIMITERS = {"tsv": "\t", "csv": ",", "txt": " "}

Label = Annotated[str, StringConstraints(max_length=MAX_LABEL)]
Cell = Label | None  # None: a number goes here
Key = tuple[str | float, ...]


class Keys(NamedTuple):
    """Where the rows below the headings begin, which columns tell them apart, and the line of each row."""

    first: int
    columns: tuple[int, ...]
    lines: Mapping[Key, int]


class TextShape(HasConstants):
    """One output file as lines of cells; a cell is the twin's own text, or None where a number belongs.

    Where labels and constants tell the rows apart, a run may write the rows in another order, leave some out
    and add others; the numbers of a row that it left out are missing. Otherwise it writes as many rows.
    """

    # left out when written: shapes were locked, and questions answered, before there were other formats
    format: Annotated[Literal["text"], Field(exclude=True)] = "text"
    file: Annotated[InsidePath, StringConstraints(pattern=r"\.(tsv|csv|txt)$")]
    rows: Annotated[tuple[tuple[Cell, ...], ...], Field(min_length=1, max_length=MAX_CELLS)]

    @model_validator(mode="after")
    def _is_as_locked(self) -> TextShape:
        # a label with a delimiter in it, or one that reads as a number, would stand for another file
        try:
            rows = _cells(self.file, self.write(self.filled))
        except PipelineError as error:
            raise ValueError(str(error)) from None
        if rows != self.rows:
            raise ValueError("the rows are not as a run on the twin locks them; type `dpgate run FOLDER`")
        return self

    @property
    def numbers(self) -> int:
        return sum(cell is None for row in self.rows for cell in row)

    @property
    def _places(self) -> tuple[tuple[int, int], ...]:
        """Row and column of each number, from 0."""
        return tuple(
            (line, position)
            for line, row in enumerate(self.rows)
            for position, cell in enumerate(row)
            if cell is None
        )

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(f"r{line + 1}c{position + 1}" for line, position in self._places)

    @property
    def columns(self) -> tuple[str | None, ...]:
        """For each number, the heading of its column; None where the first row is not all labels, or has the
        heading twice."""
        headings = self.rows[0] if None not in self.rows[0] else ()
        named = [heading if headings.count(heading) == 1 else None for heading in headings]
        return tuple(
            named[position] if line and position < len(named) else None for line, position in self._places
        )

    def read(self, content: bytes) -> list[float | None]:
        """The numbers of a file that has this shape; None for a numeric cell that holds none (`n/a`, `nan`).

        Raises PipelineError for any other file.
        """
        rows = self._in_order(split_cells(self.file, content))
        return [
            None if row is None else find_number(row[position])
            for row, position in ((rows[line], position) for line, position in self._places)
        ]

    def texts(self, content: bytes) -> list[str]:
        """The numbers as they are written in the twin's own file."""
        rows = split_cells(self.file, content)
        return [rows[line][position] for line, position in self._places]

    def write(self, numbers: Sequence[str]) -> bytes:
        """The twin's file with these numbers in place of its own."""
        if len(numbers) != self.numbers:
            raise ValueError(f"{self.file} holds {self.numbers} numbers, got {len(numbers)}")
        left = iter(numbers)
        delimiter = delimiter_of(self.file)
        lines = [delimiter.join(next(left) if cell is None else cell for cell in row) for row in self.rows]
        return ("\n".join(lines) + "\n").encode()

    def _in_order(self, rows: Sequence[Sequence[str]]) -> Sequence[Sequence[str] | None]:
        """The rows of a run in the twin's order, None for one that is not there."""
        keys = self._keys
        if keys.columns and all(len(row) == len(self.rows[0]) for row in rows):
            found: dict[Key, Sequence[str]] = {}
            for row in rows[keys.first :]:
                key = _key([row[column] for column in keys.columns])
                if key in keys.lines and key in found:
                    raise PipelineError("the file has a row of the twin's run twice")
                found[key] = row
            if found.keys() & keys.lines.keys():
                return [*rows[: keys.first], *(found.get(key) for key in keys.lines)]
        if [len(row) for row in rows] != [len(row) for row in self.rows]:
            raise PipelineError("the file has other rows or columns than the twin's run")
        return rows

    @cached_property
    def _keys(self) -> Keys:
        """The first columns of labels and constants that tell the rows apart, and all of constants alone."""
        first = 1 if len(self.rows) > 1 and None not in self.rows[0] else 0
        body = self._known()[first:]
        nothing = Keys(first, (), {})
        if len(body) < 2 or len({len(row) for row in self.rows}) > 1:
            return nothing
        columns: list[int] = []
        for column in range(len(body[0])):
            if any(row[column] is None for row in body):
                continue
            is_constant = all(self.rows[line][column] is None for line in range(first, len(self.rows)))
            if is_constant or len({_key_of(row, columns) for row in body}) < len(body):
                columns.append(column)
        lines = {_key_of(row, columns): line for line, row in enumerate(body, start=first)}
        return Keys(first, tuple(columns), lines) if len(lines) == len(body) else nothing

    def _known(self) -> list[list[str | None]]:
        """The labels and constants of each row, None where a result belongs."""
        rows: list[list[str | None]] = [list(row) for row in self.rows]
        for (line, column), constant in zip(self._places, self.constants, strict=False):
            rows[line][column] = constant
        return rows


def lock(output: OutputFile, content: bytes, _sources: Mapping[str, bytes]) -> TextShape:
    """The shape of a text file that the pipeline wrote on the twin. Raises PipelineError when it has none."""
    rows = _cells(output.file, content)
    try:
        return TextShape(file=output.file, rows=rows)
    except ValueError:
        raise PipelineError(
            f"{output.file} has a label of more than {MAX_LABEL} characters or a stray carriage return"
        ) from None


def _key_of(row: Sequence[str | None], columns: Sequence[int]) -> Key:
    return _key([row[column] or "" for column in columns])


def _key(cells: Sequence[str]) -> Key:
    """A row's key, in which 2020 and 2020.0 are the same."""
    pairs = ((cell, find_number(cell)) for cell in cells)
    return tuple(cell if number is None else float(f"{number:.9g}") for cell, number in pairs)


def delimiter_of(file: str) -> str:
    """What stands between the cells of a file of this name."""
    return _DELIMITERS[file.rsplit(".", 1)[-1]]


def split_cells(
    file: str, content: bytes, *, most_bytes: int = MAX_FILE_BYTES, most_cells: int = MAX_CELLS
) -> list[list[str]]:
    """The cells of each line, at least one. Raises PipelineError for what is too much, or not UTF-8."""
    if len(content) > most_bytes:
        raise PipelineError(f"{file} is larger than {most_bytes} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise PipelineError(f"{file} is not UTF-8") from None
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    rows = [line.split(delimiter_of(file)) for line in lines]
    if sum(map(len, rows)) > most_cells:
        raise PipelineError(f"{file} has more than {most_cells} cells")
    return rows


def _cells(file: str, content: bytes) -> tuple[tuple[str | None, ...], ...]:
    rows = split_cells(file, content)
    return tuple(tuple(None if find_number(text) is not None else text for text in row) for row in rows)


def find_number(text: str) -> float | None:
    """The finite number that a cell holds, if it holds nothing else."""
    # a narrow grammar: float() would also take "nan", "1_0", other scripts' digits and megabytes of text
    if len(text) > 80 or not NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None
